"""Nearest guidelines where the right point is known, and where chance alone decides."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge.base.printing.tables import Table
from judge.explanations.quality.guideline_point import guideline_texts, measure, split
from judge.inputs.criteria import load_criteria
from judge.inputs.embedding import embed
from tests.explanations import planted

pytest.importorskip("sklearn")
CRITERIA = load_criteria("hanna").criteria
POINTS = {criterion.name: criterion.guidelines for criterion in CRITERIA}


def of(frame: pd.DataFrame) -> Table:
    texts = frame["text"].tolist()
    vectors = embed([*texts, *guideline_texts(CRITERIA)], None).vectors
    return measure(frame, vectors[: len(texts)], split(CRITERIA, vectors[len(texts) :]), "signature")


def test_copied_guidelines_are_found_again() -> None:
    found = of(planted.frame(lambda at: POINTS[at.criterion][at.story % 5]))
    for row in found.rows:
        assert row.result.match.value == 1
        assert row.result.chance == pytest.approx(0.2)
        assert row.result.difference.value == 0


def test_a_judge_that_rates_one_point_too_high_is_seen_by_as_much() -> None:
    frame = planted.frame(
        lambda at: POINTS[at.criterion][at.story % 4], rating=lambda at: 2.0 + at.story % 4, stories=40
    )
    for row in of(frame).rows:
        assert row.result.match.value == 0
        assert row.result.difference.value == pytest.approx(-1)
        assert row.result.chance == pytest.approx(3 / 16)


def test_ratings_between_points_and_ties() -> None:
    frame = planted.frame(
        lambda at: POINTS[at.criterion][3] if at.story % 2 else "zzz qqq", rating=lambda _: 4.2, criteria=("Empathy",)
    )
    (row,) = of(frame).rows
    assert row.result.ties >= 0
    known = frame[frame["story"].str[1:].astype(int) % 2 == 1]
    (row,) = of(known).rows
    assert row.result.match.value == 1
    assert row.result.difference.value == pytest.approx(-0.2)


def test_an_empty_vector_is_a_tie_and_no_match() -> None:
    frame = planted.frame(lambda _: POINTS["Empathy"][0], criteria=("Empathy",), repeats=1)
    vectors = embed([*frame["text"], *guideline_texts(CRITERIA)], None).vectors
    points = split(CRITERIA, vectors[len(frame) :])
    found = measure(frame, np.zeros_like(vectors[: len(frame)]), points, "signature")
    assert found.rows[0].result.ties == len(frame)
    assert not found.rows[0].result.match.defined


def test_rows_without_guidelines_are_counted() -> None:
    frame = planted.frame(lambda _: "good", criteria=("Empathy", "Charm"), repeats=1)
    found = of(frame)
    assert [row.asked.criterion for row in found.rows] == ["Empathy"]
    assert any(note.startswith("30 texts without") for note in found.notes)
