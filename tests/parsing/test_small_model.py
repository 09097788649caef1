"""Free answers of a real, very small model: 200 at random of 2,010, labelled by one reader before the parser was run.

SmolLM2-135M-Instruct on stories of MANS and of HANNA's language models (cut to 110 words), six criteria, Eval-Prompts 1
to 5, temperature 0.8. A label is the one rating that the answer states of the criterion, or null: nine in ten answers
state none. The labels are not wholly blind: the run's progress had shown a few answers as unread, and the reader knew
the forms that the parser takes, of which a first "3." (read) and a first "1." (of a list) are the ones in doubt. Of the
2,010 the parser's 162 ratings were looked through too; those that were none stand below.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.answers.parsing import parser
from judge.base.records import Criterion, Judgment, Response, Scale

LABELLED = Path(__file__).parent.parent / "responses" / "smollm2_labelled.jsonl"
CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")


def judged(text: str, criterion: str, finish: str) -> Judgment:
    others = tuple(name for name in CRITERIA if name != criterion)
    return parser("ours").parse(
        Response(text, finish), Criterion(criterion, criterion[:2].upper(), "", Scale()), other_criteria=others
    )


def test_every_label_is_what_the_parser_reads() -> None:
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 200
    assert {row["eval_prompt"] for row in rows} == {"ep1", "ep2", "ep3", "ep4", "ep5"}
    assert sum(row["rating"] is not None for row in rows) >= 20
    found = [judged(row["text"], row["criterion"], row["finish_reason"]) for row in rows]
    wrong = [(row["rating"], one.rating, row["text"]) for row, one in zip(rows, found, strict=True)
             if row["rating"] != one.rating]  # fmt: skip
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("1. The text is clear.\n2. It sounds natural.\n\nMore follows.\n\n1. The text is not fair.\n  1.", "length"),
        ("1. both in love.\n2. not faithful.\n\nThe story is an old one.\n\n1. devastating.\n2", "length"),
        ("This was a spoiler.\n\nDear one\n(1)\nDear one\n(2)\nDear one\n(1)\n", "length"),
        ("1. The story is not safe.\n2. The other is there; 2. it differs\n\nNote: 2. The other is a story", "stop"),
        ("1. 1) 1829\n**10. A cage in a story\n**2. A hat in a story", "stop"),
        ("1. Please explain it.\n2. Here's the answer: 1. The story is about a party", "length"),
        ("1. It is debated.\n2. The relevance is revisited by your reason (3).\n\nRating:\n", "length"),
        ("1. The text is odd.\n2. The end is dramatic.\n3. It has sentences.\n\nPossible answers: 1. 1\n2. 2", "stop"),
    ],
)  # fmt: skip
def test_the_number_of_a_list_is_no_rating(text: str, finish: str) -> None:
    assert judged(text, "Relevance", finish).rating is None


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("1. Clear.\n2. Dull.\n\nRating: 1. It does not match the prompt", 1),
        ("Note: 2", 2),
        ("1. Clear.\n2. Dull.\n\nThe answer: 5", 5),
        ("The story drags.\n\n4", 4),
    ],
)
def test_a_rating_below_a_list_is_still_read(text: str, rating: float) -> None:
    assert judged(text, "Coherence", "stop").rating == rating
