"""Verdicts in the styles of many judges are read; answers without one prefer no story."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.answers.parsing.verdict import parse_verdict
from judge.base.records import Response, Verdict

HERE = Path(__file__).parent
STYLES: list[dict[str, Any]] = yaml.safe_load((HERE / "judged_styles.yaml").read_text(encoding="utf-8"))
NO_VERDICT: list[dict[str, Any]] = yaml.safe_load((HERE / "no_verdict.yaml").read_text(encoding="utf-8"))
LOST = {
    # A pronoun, an ellipsis or the order of the question would have to be worked out.
    "Between the two, I prefer the former.",
    "Not only is Story A better paced, it is simply the better story.",
    "A? No, B.",
    "I have no hesitation in choosing Story B.",
    "Story B is well written, but it is Story A that I prefer.",
    "This leads me to prefer Story A.",
    "The winner, in my opinion, is Story B.",
    "I rate both the same.",
    "The evidence points to Story A being better, so: A",
    # Praise of a part to one reader and of the whole to another.
    "Of the two, Story A is the more engaging.",
    "Story A outperforms Story B in terms of coherence and engagement.",
    "The first story is better written.",
    "Story A does a better job overall.",
    "Story A is the one that works better overall.",
    "More compelling story: Story A",
    "From a reader's perspective, I would choose Story B overall.",
    "Winner: None (tie)",
    # JSON that is broken is not mended, and another's decision is not the judge's.
    '{"winner": "A", "explanation": "Story A has a more complete',
    "{'verdict': 'A'}",
    "Judge's decision: B",
}
"""Verdicts that a person reads and the parser does not."""


def read(ending: dict[str, Any]) -> Verdict:
    response = Response(ending["text"], ending.get("finish_reason", "stop"))
    return parse_verdict(response, ending.get("labels", ["A", "B", "C"]))


def test_there_are_endings_of_both_kinds() -> None:
    assert len(STYLES) >= 620
    assert len(NO_VERDICT) >= 640
    assert {ending["text"] for ending in STYLES} >= LOST


@pytest.mark.parametrize("ending", STYLES, ids=lambda ending: repr(ending["text"][-40:]))
def test_a_verdict_is_read_as_a_person_reads_it(ending: dict[str, Any]) -> None:
    found = read(ending)
    lost = ending["wants"] == "none" or ending["text"] in LOST
    assert found.preference == (None if lost else ending["wants"])
    assert ("cut" in found.flags) == (found.status == "ok" and "finish_reason" in ending)


@pytest.mark.parametrize("ending", NO_VERDICT, ids=lambda ending: repr(ending["text"][-40:]))
def test_an_answer_without_a_verdict_prefers_no_story(ending: dict[str, Any]) -> None:
    assert read(ending).preference is None
