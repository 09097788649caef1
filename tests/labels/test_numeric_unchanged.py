"""Labels changed nothing for numeric scales: keys, prompts, records, tables and parsed answers are what they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.labels.numeric_snapshot import SNAPSHOT, snapshot


def test_what_numeric_scales_gave_before_labels_they_give_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    before = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    now = snapshot(tmp_path / "made")
    assert now["asked"] == before["asked"]
    for command, printed in before["printed"].items():
        assert _without_answer(now["printed"][command]) == _rows_alone(command, printed), command


def _without_answer(printed: str) -> str:
    """Without the sentence that JSON holds since the snapshot was made."""
    return "".join(line for line in printed.splitlines(keepends=True) if not line.startswith('  "answer": '))


def _rows_alone(command: str, printed: str) -> str:
    """CSV without signature and counts, which stood after the rows when the snapshot was made."""
    lines = printed.splitlines(keepends=True)
    return "".join(line for line in lines if not (command.endswith("--format csv") and line.startswith("# ")))
