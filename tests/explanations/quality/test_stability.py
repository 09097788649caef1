"""Likeness of repeats where it is known: of a judge that repeats itself, contradicts itself, says one thing only."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge.explanations.options import NumbersOptions
from judge.explanations.quality.stability import Stability, measure
from judge.inputs.embedding import embed
from tests.explanations import planted

pytest.importorskip("sklearn")
REASONS = (
    "The ending came as a shock because nothing foretold the murder of the king",
    "Dialogue sounds wooden, people speak like manuals and never interrupt each other",
    "Beautiful descriptions of harbour, weather and light carry every page",
)


def row(frame: pd.DataFrame) -> Stability:
    found = measure(frame, embed(frame["text"].tolist(), None).vectors, NumbersOptions(), "signature")
    return found.rows[0].result


def about(story: int) -> str:
    return f"knight{story} rides towards castle{story}, loses horse{story}, forgives brother{story}"


def test_a_judge_that_repeats_its_reasons_is_stable() -> None:
    found = row(planted.frame(lambda at: f"{about(at.story)} in try {at.repeat}", criteria=("Empathy",)))
    assert found.within.value > 0.9
    assert found.within.value - found.between.value == pytest.approx(found.difference.value)
    assert found.difference.low > 0.5
    assert found.other_reasons.value == 0
    assert found.pairs == 30 * 3


def test_a_judge_whose_repeats_contradict_is_as_unlike_itself_as_others() -> None:
    found = row(planted.frame(lambda at: f"{REASONS[at.repeat]}: {at.story % 7}", criteria=("Empathy",)))
    assert found.difference.high < 0  # repeats never share a reason, other stories' texts sometimes do
    assert found.other_reasons.value > 0.4


def test_reasons_drawn_at_random_differ_half_of_the_time() -> None:
    rng = np.random.default_rng(1)
    words = [f"word{n}" for n in range(60)]
    frame = planted.frame(lambda _: " ".join(rng.choice(words, 12)), criteria=("Empathy",), stories=200)
    found = row(frame)
    assert found.other_reasons.low < 0.5 < found.other_reasons.high
    assert found.difference.low < 0 < found.difference.high


def test_one_text_for_everything_is_alike_within_and_between() -> None:
    found = row(planted.frame(lambda _: "The story is good.", criteria=("Empathy",)))
    assert found.within.value == pytest.approx(1, abs=1e-6)
    assert found.between.value == pytest.approx(1, abs=1e-6)
    assert found.other_reasons.value == 0


def test_only_pairs_with_equal_ratings_count() -> None:
    frame = planted.frame(
        lambda at: about(at.story),
        criteria=("Empathy",),
        rating=lambda at: float("nan") if at.story < 10 else float(min(at.repeat, 1) + 1),
    )
    assert row(frame).pairs == 20
    without = planted.frame(lambda at: about(at.story), criteria=("Empathy",), rating=lambda at: 1.0 + at.repeat)
    found = row(without)
    assert found.other_reasons.reason == "no two repeats of a query have a text and equal ratings"
    assert found.within.defined


def test_single_repeats_leave_likeness_between_stories() -> None:
    found = row(planted.frame(lambda at: about(at.story), criteria=("Empathy",), repeats=1))
    assert found.within.reason == "no story has two texts"
    assert found.between.defined
