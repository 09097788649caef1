"""Tables on the screen: by default the answer in 40 lines of 100 columns, with --full everything."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from judge.base.printing import output
from judge.base.printing.shortened import LINES, NOTES, WIDTH
from judge.base.printing.tables import Table
from judge.cli.commands import COMMANDS
from tests.cli.two_judges import CONTROL, RUN, SCRIPTED
from tests.golden_tables.calls import inside, judge

PRINTED = [
    f"status {RUN}",
    f"parse {RUN}",
    f"ratings {RUN}",
    f"ratings {RUN} --preferences",
    f"coverage {RUN}",
    f"consistency {RUN}",
    f"consistency {RUN} --layout repeats --resamples 20",
    f"consistency {RUN} --layout components",
    f"consistency {RUN} --layout d-study",
    f"correlate {RUN} --resamples 20",
    f"correlate {RUN} --layout grid --resamples 20",
    f"correlate {RUN} --layout margins --resamples 20",
    f"correlate {RUN} --layout accuracy --resamples 20",
    f"correlate {RUN} --layout separation --labels 'Engagement > 3' --resamples 20",
    f"correlate {RUN} --layout drift",
    f"correlate {RUN} --layout sliding-sets --resamples 20",
    f"correlate {RUN} --layout aspects --resamples 20",
    f"replace {RUN} --resamples 20",
    f"diagnose {RUN}",
    f"diagnose {RUN} --layout criteria --resamples 20",
    f"diagnose {RUN} --layout distributions",
    f"diagnose {RUN} --layout stories",
    f"compare {RUN} --resamples 20 --set permutations=20",
    f"compare {RUN} --by judge --resamples 20 --set permutations=20",
    f"jury {RUN} --resamples 20",
    f"jury {RUN} --layout calibration",
    f"systems {RUN} --resamples 20",
    f"systems {RUN} --set rank=true --resamples 20",
    f"systems {RUN} --set differences=true --resamples 20",
    f"systems {RUN} --layout separation",
    f"rank {RUN} --set bootstraps=0",
    f"compare {SCRIPTED} {CONTROL} --layout successor",
    f"plan {RUN}",
    f"explain {RUN} --layout clusters --map pca --quiet --set permutations=19 --set refits=19 --resamples 19",
    f"explain {RUN} --map pca --quiet",
    f"audit report {RUN}",
]
"""Commands that print tables of a run, and have --full."""

UNCUT = [
    f"summary {RUN} --resamples 20",
    f"certify {RUN} --judge scripted/answers.jsonl --eval-prompt ep2 --floor tau=0.3 --resamples 20",
]
"""Commands that print one page of text, or one table of conditions."""

OTHERS = {
    "demo": "a run of its own: its tables are those of systems and correlate",
    "check": "a verdict on a table of ratings",
    "try": "a judge's answer about a story",
    "init": "writes a file",
    "doctor": "what is installed",
    "data": "datasets",
    "people": "designs and reports of a study, whose own first screen they are",
    "prompts": "Eval-Prompts and criteria",
    "run": "progress, and the summary",
    "improve": "asks a judge; its screen has a test in tests/improve",
    "train": "a model of one's own",
    "measures": "a dataset's measures",
    "stress": "a run on perturbed stories, printed by the same function as correlate",
    "contamination": "scores of a model, printed by the same function as correlate",
    "report": "a page",
    "view": "pages",
    "reproduce": "a study's published tables",
    "export": "files",
    "import": "files",
}
"""Commands that print no table of a run, or none that these stories have, and why."""


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    """What the commands of a test print, as tables."""
    found: list[Table] = []
    plain = output.emit

    def emit(printed: Sequence[Table], *words: Any, **more: Any) -> None:
        found.extend(printed)
        plain(printed, *words, **more)

    monkeypatch.setattr(output, "emit", emit)
    return found


def _lines(line: str, folder: Path, *words: str) -> list[str]:
    with inside(folder, None):
        code, out, err = judge([*shlex.split(line), *words])
    assert code in (0, 4), err  # 4: a condition of a certificate does not hold
    return out.splitlines()


def test_every_command_is_looked_at() -> None:
    named = {line.split()[0] for line in (*PRINTED, *UNCUT)}

    assert named | set(OTHERS) == set(COMMANDS)
    assert not named & set(OTHERS)


@pytest.mark.parametrize("line", [*PRINTED, *UNCUT])
def test_a_command_prints_one_screen_and_with_full_every_row(
    line: str, two_judges_run: Path, tables: list[Table]
) -> None:
    short = _lines(line, two_judges_run)
    assert 0 < len(short) <= LINES, "\n".join(short)
    assert max(map(len, short)) <= WIDTH, "\n".join(short)
    assert sum(line.startswith("· ") for line in short) <= NOTES
    if line in UNCUT:
        return
    tables.clear()
    full = _lines(line, two_judges_run, "--full")
    if not line.startswith(("status", "ratings", "parse")):  # these have another form
        at = 0
        for table in tables:
            at = full.index(table.title, at)
            assert len(_body(full[at + 1 :], table)) >= len(table.rows), table.title
        assert tables
    if len(full) > len(short):
        assert any("Left out: " in line for line in short)
        assert short[-1].endswith("--full shows everything.")


def _body(lines: list[str], table: Table) -> list[str]:
    """The lines of a table's rows: from the rule below the titles to the signature, the notes or the next table."""
    start = next(i for i, line in enumerate(lines) if line.startswith("─"))
    rows: list[str] = []
    for line in lines[start + 1 :]:
        if not line or line.startswith("· ") or (table.signature and line == table.signature):
            break
        rows.append(line)
    return rows
