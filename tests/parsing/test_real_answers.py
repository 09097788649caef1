"""Answers that judges of two released studies gave, and sentences that were made to be misread.

The studies' files hold 171,580 ratings of gpt-3.5-turbo (Chiang and Lee 2023) and 24,858 verdicts of three models (Zeng
et al. 2024). What is asserted of them is what another rule reads: the number where the prompt asked for it, and the
study's own reading of a verdict. Each answer in which the two differ was read: this program's reading is the answer's.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.answers.parsing import parser
from judge.answers.parsing.verdict.parser import parse_verdict
from judge.base.records import Criterion, Judgment, Response, Scale

OURS = parser("ours")
SCALES = {"Naturalness": (1, 3), "Coherence": (1, 3), "Engagingness": (1, 3), "Groundedness": (0, 1)}
OUTPUTS = ("Output (a)", "Output (b)")
DECOYS: dict[str, list[str]] = yaml.safe_load(
    (Path(__file__).parent.parent / "responses" / "attacks.yaml").read_text(encoding="utf-8")
)


def judged(text: str, criterion: str = "Coherence", scale: tuple[int, int] = (1, 5), finish: str = "stop") -> Judgment:
    others = tuple(name for name in SCALES if name != criterion)
    asked = Criterion(criterion, criterion[:2].upper(), "", Scale(*scale))
    return OURS.parse(Response(text, finish), asked, other_criteria=others)


def preferred(text: str, labels: tuple[str, str] = OUTPUTS, finish: str = "stop") -> str | None:
    return parse_verdict(Response(text, finish), labels, tie_offered=False).preference


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("Good (3)", 3),
        ("Good: 3", 3),
        ("Somewhat (2)", 2),
        ("Yes (1)", 1),
        ("Yes, 2.", 2),
        ("The response is somewhat coherent (2). It shifts the topic slightly.", 2),
        ("The response is invalid (1). The fact is about managers.", 1),
        ("This response would receive a score of 1. It ignores the conversation.", 1),
        ("I give it a score of 2.", 2),
        ('It answers "do you have a radio" Rating: 2', 2),
        ('It has no radio" Rating: 2', 2),
        ("Seven Summer Weekends ### Score: 4.0", 4),
        ("Seven Summer Weekends\n\n### Score: 4.0", 4),
        ("1. It is a score of 1. The response is generic.", 1),
        ("2.5", 2.5),
        ("My rating is 4. Wait, no: 3.", 3),
    ],
)
def test_a_rating_that_a_judge_gave_is_read(text: str, rating: float) -> None:
    assert judged(text).rating == rating


def test_a_zero_behind_an_opinion_is_read() -> None:
    assert judged("Yes, 0", "Groundedness", (0, 1)).rating == 0
    assert judged("Slightly Related: 7", "Groundedness", (0, 1)).rating is None


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("Rating: 4 out of a possible 10", "stop"),
        ("4 out of the 5 criteria are met", "stop"),
        ("With better dialogue, rating: 4", "stop"),
        ("Rating: 2:1", "stop"),
        ("2. Coherence", "stop"),
        ("2. Coherence\nThe story is clear.", "stop"),
        ("Rating guidelines: 4 points", "stop"),
        ("As the story says: I rate this story 5.", "stop"),
        ("1. The story's coherence is 1. The story's plot is thin", "stop"),
        ("1. The story's coherence is 1. The story's", "length"),
        ("Rating: 1. The story is", "length"),
        ("Good (3), dull (2)", "stop"),
        ("Natural (3)", "stop"),
        ("Chapter (3)", "stop"),
        ("No, 2 of the scenes are missing", "stop"),
    ],
)
def test_a_number_that_is_no_rating_is_not_read(text: str, finish: str) -> None:
    assert judged(text, finish=finish).rating is None


def test_a_possible_maximum_is_that_of_the_scale_or_of_another() -> None:
    assert judged("Rating: 4 out of a possible 10", scale=(1, 10)).rating == 4
    assert judged("Rating: 4 out of a possible 10").status == "out_of_scale"


# How judges of the studies state a rating: what they answer, with the marks of the prompts' forms.
GIVEN = (
    "{r}",
    "Rating: {r}",
    "- Coherence: {r}",
    "Rating: {r}\nRationale: The response flows well.",
    "Rating: {r}\n\nRationale: The response flows well.",
    "Analysis: The response flows well.\nRating: {r}",
    "Analysis:\nThe response flows well.\n\nRating: {r}",
    "The response flows well. Therefore, the coherence score is {r}.",
    "The response flows well.\n\nCoherence: {r}",
    "This response would receive a score of {r}.",
)
PLACES = ("{decoy} {answer}", "{decoy}\n{answer}", "{decoy}\n\n{answer}", "{answer} {decoy}", "{answer}\n{decoy}")


@pytest.mark.parametrize("kind", DECOYS)
def test_a_sentence_made_to_be_misread_beside_a_rating_is_never_read(kind: str) -> None:
    outcomes: Counter[str] = Counter()
    wrong = []
    for decoy, given, place in product(DECOYS[kind], GIVEN, PLACES):
        answer = place.replace("{decoy}", decoy.replace("{n}", "2")).replace("{answer}", given.replace("{r}", "3"))
        rating = judged(answer).rating
        outcomes["lost" if rating is None else "read" if rating == 3 else "wrong"] += 1
        wrong += [answer] if rating not in (None, 3) else []
    assert wrong == []
    # What is lost is an answer where the number might be the judge's; reading nothing would never be wrong either.
    assert outcomes["read"] >= 0.7 * outcomes.total()


@pytest.mark.parametrize("kind", DECOYS)
def test_a_sentence_made_to_be_misread_is_not_read_alone(kind: str) -> None:
    assert [decoy for decoy in DECOYS[kind] if judged(decoy.replace("{n}", "2")).rating is not None] == []


@pytest.mark.parametrize(
    ("text", "preference"),
    [
        ("Output (a)", "first"),
        ("Output (b)", "second"),
        ("Output (a) lists four. Therefore, Output (b) is better.", "second"),
        ("Output (b) is better. Output (a) does not answer the question.", "second"),
        ("Therefore, based on the evaluation, Output (b) is better for the given instruction.", "second"),
        ("Therefore, the better output for the given instruction is Output (a).", "first"),
        ("Output (a) is better because it says how to tell if a call is legitimate.", "first"),
        ("Assistant (a) argues that Output (a) is better. Therefore, Output (b) is better.", "second"),
        ("Output (b) is better. Output (a) is not about Mars. Therefore, Output (a) is better.", None),
        ("Output (b) is better.\n\nOutput (a) is better because it is concise.", None),
        ("Output (a) uses a fact. A reader would like it.", None),
        ("Neither Output (a) nor Output (b) precisely execute the instruction.", None),
        ("Output (a) or Output (b)", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("labels", [OUTPUTS, ("A", "B")])
def test_outputs_are_named_as_they_are_written(text: str, preference: str | None, labels: tuple[str, str]) -> None:
    assert preferred(text, labels) == preference


NOUNS = ("Story", "Output", "Response", "Answer", "Text", "Summary", "Assistant", "Candidate", "Option")


@pytest.mark.parametrize("noun", NOUNS)
@pytest.mark.parametrize("names", ["AB", "12"])
def test_labels_are_known_behind_the_usual_nouns(noun: str, names: str) -> None:
    first, second = names
    for form in (f"{noun} {second}", f"{noun} ({second.lower()})", f"{noun.lower()} ({second})"):
        for text in (f"{form} is better.", f"Therefore, {form} is better.", f"I prefer {form}."):
            assert preferred(text, (first, second)) == "second", text
            assert preferred(text, (f"{noun} ({first})", f"{noun} ({second})")) == "second", text


@pytest.mark.parametrize(
    "labels",
    [("(a)", "(b)"), ("[A]", "[B]"), ("Response [1]", "Response [2]"), ("Model A!", "Model B!"),
     ("A (left)", "B (right)"), ("gpt-4", "llama 2 (7b)"), ("output_1", "output_2")],
)  # fmt: skip
def test_a_label_is_read_as_it_is_written(labels: tuple[str, str]) -> None:
    first, second = labels
    for text in ("{}", "{} is better.", "I prefer {}.", "Therefore, {} is better.", "Verdict: {}", "**{}**"):
        assert preferred(text.format(second), labels) == "second", text
    assert preferred(f"{first} is worse. {second} is better.", labels) == "second"
    assert preferred(f"{first} is long and {second} is short.", labels) is None


def test_a_bare_article_names_no_output() -> None:
    assert preferred("a is a letter, and a better one is b") is None
    assert preferred("I would say a is better") is None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def test_ratings_of_a_released_study_are_read(studies: Path) -> None:
    # Unread, by reading all 221: 12 state a rating in a form that is not known ("1. 2", "Potential Response: 1").
    files = sorted((studies / "closer_look").glob("answers_*.jsonl.gz"))
    outcomes: Counter[str] = Counter()
    for path in files:
        for line in _lines(path):
            name = str(line["criterion"]).capitalize()
            judgment = judged(line["text"], name, SCALES[name])
            outcomes[judgment.status] += 1
            if judgment.rating is not None and judgment.rating % 1:
                assert "off_step" in judgment.flags
                outcomes["halves"] += 1
    halves = outcomes.pop("halves")
    assert outcomes.total() == 171_580
    assert outcomes["ok"] >= outcomes.total() - 221
    # The study's own rule cuts these to whole numbers.
    assert halves >= 1300


def test_verdicts_of_a_released_study_are_read(studies: Path) -> None:
    outcomes: Counter[str] = Counter()
    for path in sorted((studies / "llmbar").glob("answers_*.jsonl.gz")):
        for line in _lines(path):
            preference = preferred(line["text"], finish=line["finish_reason"] or "stop")
            if preference is None:
                outcomes["empty" if not line["text"].strip() else "unread"] += 1
                continue
            side = {"first": "2" if line["swapped"] else "1", "second": "1" if line["swapped"] else "2"}.get(preference)
            outcomes["as the study reads it" if side == line["study_winner"] else "otherwise"] += 1
    assert outcomes.total() == 24_858
    assert outcomes["empty"] == 78
    assert outcomes["unread"] <= 27
    # All 173 were read: the study takes the first output that is called better, or none, for the verdict.
    assert outcomes["otherwise"] <= 173
