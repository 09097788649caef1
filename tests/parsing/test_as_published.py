"""The study's parser, imputation included. Expected values follow its rule as the study's notebook states it."""

from __future__ import annotations

import pytest

from judge.answers.parsing import parser
from judge.base.errors import SpecError
from judge.base.records import Criterion, Response, Scale

COHERENCE = Criterion("Coherence", "CH", "how much the story makes sense")


@pytest.mark.parametrize(
    ("text", "rating", "flags"),
    [
        (" 4\n\nThe story makes sense.", 4, ()),
        ("4.5", 4.5, ()),
        ("5/5", 5, ()),
        ("1. Fine", 1, ()),
        ("Task 3: 4", 3, ()),
        ("10/10", 3, ("imputed",)),
        ("N/A", 3, ("imputed",)),
        ("", 3, ("imputed",)),
        ("0", 3, ("imputed",)),
        ("In 1984 it was new. Rating: 5", 3, ("imputed",)),
        ("I cannot rate this.", 3, ("imputed",)),
        ("between 2 and 4", 2, ()),
    ],
)
def test_the_first_number_wins_and_the_rest_is_imputed(text: str, rating: float, flags: tuple[str, ...]) -> None:
    judgment = parser("as-published").parse(Response(text), COHERENCE)
    assert (judgment.status, judgment.rating, judgment.flags) == ("ok", rating, flags)
    assert (judgment.span is None) == bool(flags)


def test_the_explanation_is_the_whole_answer_unless_it_is_short() -> None:
    published = parser("as-published")
    assert published.parse(Response("4\n\nIt is fine."), COHERENCE).explanation == "4\n\nIt is fine."
    assert published.parse(Response("4, I say."), COHERENCE).explanation is None


def test_another_scale_is_refused_with_a_sentence() -> None:
    with pytest.raises(SpecError, match="defined for the scale 1-5 only; Coherence has 1-10"):
        parser("as-published").parse(Response("4"), Criterion("Coherence", "CH", "", Scale(1, 10)))


def test_it_says_that_it_imputes_and_ours_that_it_does_not() -> None:
    assert (parser("as-published").version, parser("as-published").imputes) == ("as-published/1", True)
    assert (parser("ours").version, parser("ours").imputes) == ("ours/4", False)
