"""Kept judgments of answers about several criteria: read once, parsed only where the journal grew, equal to parsing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge.answers.parsing import stored_answers
from judge.asking.execution.session import sit
from judge.ratings.ratings_table import judgments, read
from tests.joint.conftest import CRITERIA, sitting

ANSWERS = 12 * 7


def asked(stories: Path, repeats: int) -> Path:
    changes = {"judge": "surface", "base_url": [], "generation": {}, "eval_prompts": ["ep1", "joint1"]}
    done = sitting(None, stories, repeats=repeats, **changes)
    assert sit(done).missing == 0
    return done.result.path


@pytest.fixture
def joint_readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were read for several criteria."""
    texts: list[str] = []
    real = stored_answers.joint_judgments

    def counted(parser: Any, response: Any, criteria: Any, **more: Any) -> Any:
        texts.append(response.text)
        return real(parser, response, criteria, **more)

    monkeypatch.setattr(stored_answers, "joint_judgments", counted)
    return texts


def frame(folder: Path, *, keep: bool = True) -> pd.DataFrame:
    return read([folder], keep=keep).frame.astype(str)


def test_an_answer_is_read_once_and_only_where_the_journal_grew(stories: Path, joint_readings: list[str]) -> None:
    folder = asked(stories, 15)
    first = frame(folder)
    assert len(joint_readings) == 12 * 15
    assert len(first[first["source"] == "judge"]) == 12 * 2 * len(CRITERIA) * 15
    joint_readings.clear()
    assert frame(folder).equals(first)
    assert joint_readings == []
    asked(stories, 17)
    joint_readings.clear()
    grown = frame(folder)
    assert len(joint_readings) == 12 * 2
    assert grown.equals(frame(folder, keep=False))


def test_processes_that_help_keep_the_same(stories: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = asked(stories, 15)
    plain = frame(folder, keep=False)
    monkeypatch.setattr(judgments, "LONG", 100)
    assert frame(folder).equals(plain)
    assert frame(folder).equals(plain)


def test_a_kept_block_of_another_length_is_not_believed(stories: Path) -> None:
    folder = asked(stories, 15)
    plain = frame(folder)
    (kept,) = (folder / "derived").glob("parsed-*.sqlite")
    data = kept.read_bytes()
    kept.write_bytes(data[: len(data) // 2])
    assert frame(folder).equals(plain)
