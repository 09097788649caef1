"""Answers that are easy to misread, in four sets: no label is read that is not stated, and stated ones are found."""

from __future__ import annotations

import pytest

from judge.answers.parsing import parser
from judge.base.records import Criterion, Judgment, Response, Scale
from tests.labels import adversarial, adversarial_fourth, adversarial_second, adversarial_third

SETS = [
    (labels, case)
    for part in (adversarial, adversarial_second, adversarial_third, adversarial_fourth)
    for labels, cases in part.CASES.items()
    for case in cases
]


def read(labels: tuple[str, ...], text: str, finish: str = "stop", **more: object) -> tuple[str | None, Judgment]:
    criterion = Criterion("Originality", "OR", "is it new?", Scale.of_labels(labels))
    judgment = parser("ours").parse(Response(text, finish), criterion, other_criteria=("Coherence",), **more)  # type: ignore[arg-type]
    return criterion.scale.label_of(judgment.rating), judgment


@pytest.mark.parametrize(("labels", "case"), SETS, ids=[f"{i}-{case[0][:30]!r}" for i, (_, case) in enumerate(SETS)])
def test_it_is_read_as_a_person_reads_it(labels: tuple[str, ...], case: tuple[str, ...]) -> None:
    label, judgment = read(labels, case[0], *case[2:])
    right = {adversarial.NONE: label is None, f"!{judgment.status}": True, str(label): True}
    assert any(right.get(wanted, False) for wanted in case[1].split("|")), (label, judgment)


@pytest.mark.parametrize(
    ("text", "label", "explanation", "flags"),
    [
        ("No. The ending is rushed.", "No", "The ending is rushed.", ()),
        ("Answer: Yes\n\nExplanation: it is prepared.", "Yes", "it is prepared.", ()),
        ("It is prepared early. Therefore, the answer is yes.", "Yes", "It is prepared early.", ()),
        ("Yes", "Yes", None, ()),
        ("No. On reflection, yes.", "Yes", "No.", ("revised",)),
        ("Coherence: No\nOriginality: Yes", "Yes", "Coherence: No", ("others_rated",)),
        ('{"answer": "no", "explanation": "it stops"}', "No", "it stops", ()),
    ],
)
def test_what_is_left_is_the_explanation(
    text: str, label: str, explanation: str | None, flags: tuple[str, ...]
) -> None:
    found, judgment = read(("No", "Yes"), text)
    assert (found, judgment.explanation, judgment.flags) == (label, explanation, flags)
    assert judgment.span is not None
    assert text[slice(*judgment.span)].lower() == label.lower()


def test_words_of_the_story_are_quoted() -> None:
    story = "The last page of the form said: answer: no. He signed it."
    label, judgment = read(("No", "Yes"), "It ends on a form. Answer: No. He signed it.", story=story)
    assert (label, judgment.status) == (None, "ambiguous")


def test_a_label_that_begins_a_longer_one_is_not_read_where_the_answer_is_cut() -> None:
    labels = ("Agree", "Agree strongly")
    assert read(labels, "Answer: Agree", "length")[0] is None
    assert read(labels, "Answer: Agree strongly", "length")[0] == "Agree strongly"
    assert read(labels, "Answer: Agree. It", "length")[1].flags == ("cut",)


def test_a_code_is_no_label() -> None:
    assert read(("No", "Yes"), "1")[1].status == "no_rating"
    assert read(("No", "Yes"), '{"rating": 1}', structured="json")[1].status == "no_rating"


@pytest.mark.parametrize("length", [2_000, 40_000])
@pytest.mark.parametrize(
    "piece", ["yes ", "no, ", "the answer is ", "((", "- No: ", "I would ", "not ", '"yes" or ', "\n"]
)
def test_time_grows_with_length_alone(piece: str, length: int) -> None:
    """Fails by taking minutes where a pattern backtracks."""
    _, judgment = read(("No", "Yes"), piece * (length // len(piece)))
    assert (judgment.rating is None) == (judgment.status != "ok")
