"""Pairs of systems told apart by people and by judges."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge.analysis.systems import beside_people, systems
from judge.analysis.systems_tables import tables
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable


def test_a_judge_turned_round_is_counted_as_such(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(systems=3, prompts=40, noise=0.4)
    (straight,) = beside_people(build(table)[0])
    assert straight.people == straight.same == straight.pairs == 3
    assert (straight.silent, straight.reversed, straight.alone) == (0, 0, 0)
    judged = table.frame["source"] == "judge"
    table.frame.loc[judged, "rating"] = 6 - table.frame.loc[judged, "rating"]
    (turned,) = beside_people(build(table)[0])
    assert (turned.same, turned.reversed) == (0, 3)


def test_a_judge_that_says_one_thing_is_silent_and_its_level_is_the_difference(
    make_table: Callable[..., RatingsTable],
) -> None:
    table = make_table(systems=3, prompts=40, noise=0.4)
    judged = table.frame["source"] == "judge"
    people = table.frame[~judged].groupby("story")["rating"].mean().mean()
    table.frame.loc[judged, "rating"] = 5.0
    (row,) = beside_people(build(table)[0])
    assert (row.silent, row.same, row.alone) == (3, 0, 0)
    assert row.level.value == pytest.approx(5 - people)
    assert row.level.low < row.level.value < row.level.high


def test_only_stories_that_both_rated_are_compared(make_table: Callable[..., RatingsTable]) -> None:
    # A pilot: the judge rated 6 of 40 story-prompts; people are not given the other 34 either.
    table = make_table(systems=3, prompts=40, noise=0.4, lost=lambda *at: "not_answered" if at[1] >= 6 else None)
    (row,) = beside_people(build(table)[0])
    assert row.stories == 18
    assert row.people < 3


def test_there_is_no_table_without_people_or_a_common_criterion(make_table: Callable[..., RatingsTable]) -> None:
    for other in ((), ("Coherence",)):
        table = make_table(rated=other)
        matrix = build(table)[0]
        assert not list(beside_people(matrix))
        assert not any(one.title.startswith("Do judges") for one in tables(systems(table)))
