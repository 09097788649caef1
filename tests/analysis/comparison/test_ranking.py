"""Best and ties of several variants, out of their pairwise contrasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge.analysis.comparison import tables
from judge.analysis.comparison.result import compared
from judge.analysis.options.table_options import CompareOptions
from judge.ratings.ratings_table import RatingsTable

Make = Callable[..., RatingsTable]
QUICK: dict[str, Any] = {"resamples": 200, "permutations": 50}


def _variants(make_table: Make, spreads: dict[str, float], *, seed: int = 3) -> RatingsTable:
    """A judge under several Eval-Prompts: people's mean with noise of these spreads added."""
    table = make_table(systems=6, prompts=30, repeats=1, noise=0.1)
    frame = table.frame
    people = frame[frame["source"] == "rater"].groupby("story")["rating"].mean()
    judged = frame[frame["source"] == "judge"]
    rng = np.random.default_rng(seed)
    parts = [frame[frame["source"] == "rater"]]
    for name, spread in spreads.items():
        ratings = judged["story"].map(people).to_numpy(float) + rng.normal(0, spread, len(judged))
        parts.append(judged.assign(eval_prompt=name, rating=ratings))
    facts = tuple(replace(fact, eval_prompts=tuple(spreads)) for fact in table.facts)
    return replace(table, frame=pd.concat(parts, ignore_index=True), facts=facts)


def test_variants_stand_by_how_well_they_follow_people(make_table: Make) -> None:
    table = _variants(make_table, {"noisy": 3.0, "good": 0.05, "middling": 0.8})
    found = compared(table, CompareOptions(**QUICK)).ranking
    assert [one.variant for one in found] == ["good", "middling", "noisy"]
    assert [one.rank for one in found] == [1, 2, 3]
    assert found[0].below is None
    assert [one.tied for one in found[1:]] == [False, False]
    assert all(one.below is not None and (one.below.value or 0) < 0 for one in found[1:])


def test_the_distance_from_the_best_is_that_of_the_contrast_whatever_its_direction(make_table: Make) -> None:
    table = _variants(make_table, {"a": 0.8, "b": 0.05, "c": 3.0})
    comparison = compared(table, CompareOptions(**QUICK))
    means = {(e.contrast.first, e.contrast.second): e.means["tau"] for e in comparison.entries}
    below = {one.variant: one.below for one in comparison.ranking}
    assert below["c"] == means["b", "c"]
    turned, plain = below["a"], means["a", "b"]
    assert turned is not None
    assert (turned.value, turned.low, turned.high) == (-plain.value, -plain.high, -plain.low)  # type: ignore[operator]


def test_equal_variants_are_tied(make_table: Make) -> None:
    table = _variants(make_table, {"a": 0.8, "b": 0.8, "c": 0.8})
    assert [one.tied for one in compared(table, CompareOptions(**QUICK)).ranking] == [None, True, True]


@pytest.mark.parametrize(
    "options", [CompareOptions(**QUICK, baseline="a"), CompareOptions(**QUICK)], ids=["baseline", "two"]
)
def test_without_all_pairs_of_three_nothing_is_ranked(make_table: Make, options: CompareOptions) -> None:
    spreads = {"a": 0.1, "b": 0.5, "c": 1.0} if options.baseline else {"a": 0.1, "b": 0.5}
    assert compared(_variants(make_table, spreads), options).ranking == ()


def test_many_pairs_are_printed_on_demand(make_table: Make) -> None:
    few = _variants(make_table, {"a": 0.1, "b": 0.5, "c": 1.0})
    many = _variants(make_table, dict(zip("abcde", (0.1, 0.4, 0.6, 0.8, 1.0), strict=True)))
    options = CompareOptions(**QUICK)
    found = compared(few, options)
    titles = [table.title for table in tables.tables(found)]
    assert titles[0] == "Eval-Prompts: the best one and those tied with it"
    assert len(titles) == 6
    assert [table.title for table in tables.tables(found, pairs=False)] == titles[:1]
    of_many = compared(many, options)
    (ranking,) = tables.tables(of_many)
    assert len(ranking.rows) == 5
    assert "10 pairs were compared" in ranking.notes
    assert len(tables.tables(of_many, pairs=True)) == 6
