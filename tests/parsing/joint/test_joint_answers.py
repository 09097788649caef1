"""One answer about several criteria: each is read by itself, and a rating that names none is nobody's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.answers.parsing import parser
from judge.answers.parsing.joint import joint_judgments
from judge.base.records import Criterion, Response, Scale
from judge.inputs.criteria import load_criteria

CRITERIA = load_criteria("hanna").criteria
ANSWERS = [json.loads(line) for line in (Path(__file__).parent / "answers.jsonl").read_text("utf-8").splitlines()]


def read(text: str, criteria: tuple[Criterion, ...] = CRITERIA, finish: str | None = None) -> list[float | str]:
    found = joint_judgments(parser("ours"), Response(text, finish_reason=finish), criteria)
    return [one.status if one.rating is None else one.rating for one in found]


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer["form"] for answer in ANSWERS])
def test_each_criterion_has_its_own_rating_or_reason(answer: dict[str, object]) -> None:
    """The expectations were looked at one by one, text beside ratings."""
    assert read(str(answer["text"]), finish=answer["finish_reason"]) == answer["expected"]  # type: ignore[arg-type]


def test_a_criterion_without_a_rating_is_lost_alone() -> None:
    text = "\n".join(f"{one.name}: {i % 5 + 1}" for i, one in enumerate(CRITERIA))
    whole = read(text)
    for lost, one in enumerate(CRITERIA):
        without = text.replace(f"{one.name}: {lost % 5 + 1}", f"{one.name}: hard to say")
        expected = [*whole[:lost], "no_rating", *whole[lost + 1 :]]
        assert read(without) == expected


def test_explanations_are_each_criterions_own() -> None:
    text = "Relevance: 4 - it keeps to the prompt.\nCoherence: 2 - the end does not follow.\n"
    found = joint_judgments(parser("ours"), Response(text), CRITERIA)
    assert [one.explanation for one in found[:2]] == ["it keeps to the prompt.", "the end does not follow."]


def test_criteria_that_share_words_are_told_apart_and_prose_about_them_is_not_read() -> None:
    scale = Scale.of_labels(["No", "Yes"])
    criteria = tuple(Criterion(f"Originality in {what}", "", "", scale) for what in ("Thought", "Form", "Theme"))
    text = "Originality in Thought: No, it repeats.\nOriginality in Form: Yes.\nOriginality in Theme: No"
    assert read(text, criteria) == [0.0, 1.0, 0.0]
    as_json = json.dumps({one.name: {"answer": "Yes"} for one in criteria})
    assert read(as_json, criteria) == [1.0, 1.0, 1.0]
    assert "ok" not in read("The originality earns a Yes.", criteria)
    assert [one for one in read("The originality earns a Yes.", criteria) if isinstance(one, float)] == []
