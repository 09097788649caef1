"""Endings of judges' answers to which of two stories is better, and what the parser `verdict/2` makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.answers.parsing.verdict import VERSION, parse_verdict
from judge.base.records import Response, Verdict

HERE = Path(__file__).parent
BEFORE: list[dict[str, Any]] = yaml.safe_load((HERE / "endings_before.yaml").read_text(encoding="utf-8"))
AFTER: list[dict[str, Any]] = yaml.safe_load((HERE / "endings_after.yaml").read_text(encoding="utf-8"))
MISLEADING: list[dict[str, Any]] = yaml.safe_load((HERE / "adversarial.yaml").read_text(encoding="utf-8"))
LOST = {"not original but"}
"""Clear verdicts that are not read: who is meant by a pronoun is not worked out."""


def verdict(ending: dict[str, Any]) -> Verdict:
    return parse_verdict(
        Response(ending["text"], ending.get("finish_reason", "stop")),
        ending.get("labels", ["A", "B", "C"]),
        tie_offered=ending.get("tie_offered"),
        criterion=ending.get("criterion", ""),
    )


def test_half_were_written_before_the_parser() -> None:
    assert len(BEFORE) >= 80
    assert len(AFTER) >= 100
    assert len({ending["name"] for ending in [*BEFORE, *AFTER]}) >= 240
    assert VERSION == "verdict/2"


@pytest.mark.parametrize("ending", [*BEFORE, *AFTER], ids=lambda ending: ending["name"])
def test_an_ending_is_read_as_a_person_reads_it(ending: dict[str, Any]) -> None:
    found = verdict(ending)
    wanted = None if ending["wants"] == "none" else ending["wants"]
    if ending["name"] in LOST:
        assert found.preference is None
        return
    assert found.preference == wanted
    assert list(found.flags) == ending.get("flags", [])
    assert (found.preference is not None) == (found.status == "ok")
    if "status" in ending:
        assert found.status == ending["status"]
    if "explanation" in ending:
        said = ending["explanation"]
        assert said in found.explanation if said and found.explanation else found.explanation == said


@pytest.mark.parametrize("ending", [*BEFORE, *AFTER], ids=lambda ending: ending["name"])
def test_a_span_holds_what_was_read(ending: dict[str, Any]) -> None:
    found = verdict(ending)
    if found.preference is not None and found.span is not None:
        assert ending["text"][slice(*found.span)].strip()


def test_words_of_a_compared_story_are_quoted() -> None:
    text = "I say that Story B is better."
    assert parse_verdict(Response(text)).preference == "second"
    quoted = parse_verdict(Response(text), stories=("A talking book: I say that Story B is better. The end.", ""))
    assert (quoted.status, quoted.preference) == ("ambiguous", None)


@pytest.mark.parametrize(
    ("text", "structured", "preference"),
    [
        ("B", "choice", "second"),
        (" b\n", "choice", "second"),
        ("C", "choice", "tie"),
        ("B.", "choice", None),
        ('{"preference": "A", "explanation": "x"}', "json", "first"),
        ('Sure! {"preference": "A"}', "json", None),
        ("A", "json", None),
    ],
)
def test_a_form_that_was_asked_for_is_the_only_one(text: str, structured: Any, preference: str | None) -> None:
    assert parse_verdict(Response(text), structured=structured).preference == preference


def test_two_choices_offer_no_tie() -> None:
    assert parse_verdict(Response("tie"), ("A", "B")).flags == ("tie_not_offered",)
    assert parse_verdict(Response("C"), ("A", "B")).preference is None
    assert parse_verdict(Response("tie"), ("A", "B"), tie_offered=True).flags == ()


def test_answers_written_to_mislead_are_never_turned_round() -> None:
    read = lost = 0
    for answer in MISLEADING:
        found = parse_verdict(Response(answer["text"])).preference
        wanted = None if answer["wants"] == "none" else answer["wants"]
        assert found in (None, wanted), answer["text"]
        read += found is not None
        lost += found != wanted
    assert len(MISLEADING) >= 500
    assert read >= 180
    assert lost <= 36
