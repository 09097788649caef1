"""Which pairs a run compares, and in which order they are shown."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.asking.execution.preparation import read_pairs
from judge.asking.plan import make_plan
from judge.asking.plan.pairs import StoryPlace, circulant, comparisons_of, pairs_of
from judge.asking.run_definition.spec import RunSpec, parse_run_spec
from judge.base.errors import DataError, SpecError
from judge.base.records import Comparison, Pair, Preference, Story

PLACES = [StoryPlace(f"s{i}", f"p{i // 3}", f"m{i % 3}") for i in range(9)]


def spec(**changes: Any) -> RunSpec:
    data = {
        "name": "t",
        "dataset": "d",
        "judge": "surface",
        "criteria": "hanna",
        "eval_prompts": ["pair1"],
        "pairs": "all",
    }
    return parse_run_spec(data | changes, "test")


@given(st.integers(2, 60), st.integers(1, 12), st.integers(0, 5))
def test_each_story_has_its_share_of_pairs_in_one_piece(count: int, each: int, seed: int) -> None:
    places = [StoryPlace(f"s{i}", "p", f"m{i}") for i in range(count)]
    pairs = pairs_of(spec(pairs={"each": each, "seed": seed}), places, None)
    assert len({frozenset((pair.first, pair.second)) for pair in pairs}) == len(pairs)
    degrees = Counter(story for pair in pairs for story in (pair.first, pair.second))
    wanted = min(each, count - 1)
    odd = wanted % 2 == 1 and count % 2 == 1
    assert sorted(degrees.values()) == ([wanted - 1] if odd and wanted > 1 else []) + [wanted] * (
        len(degrees) - (odd and wanted > 1)
    )
    assert len(degrees) == count - (odd and wanted == 1)
    if each >= 2:
        near, reached = [pairs[0].first], {pairs[0].first}
        while near:
            one = near.pop()
            others = {a if b == one else b for a, b in ((p.first, p.second) for p in pairs) if one in (a, b)}
            near += others - reached
            reached |= others
        assert len(reached) == count


def test_a_seed_draws_other_pairs_and_the_same_seed_the_same() -> None:
    places = [StoryPlace(f"s{i}", "p", f"m{i}") for i in range(20)]
    drawn = [pairs_of(spec(pairs={"each": 2, "seed": seed}), places, None) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert pairs_of(spec(pairs={"each": 2}), places, None) == drawn[0]


def test_no_graph_needs_more_places_than_there_are() -> None:
    assert list(circulant(1, 3)) == []
    assert list(circulant(3, 9)) == list(combinations(range(3), 2))


def test_all_pairs_stay_within_their_story_prompt_unless_told() -> None:
    pairs = pairs_of(spec(), PLACES, None)
    assert [(pair.first, pair.second) for pair in pairs[:3]] == [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    assert len(pairs) == 9
    assert {pair.story_prompt for pair in pairs} == {"p0", "p1", "p2"}
    crossed = pairs_of(spec(across=True), PLACES, None)
    assert len(crossed) == 36
    assert sum(pair.story_prompt == "" for pair in crossed) == 27


def test_against_a_system_compares_each_story_with_its() -> None:
    pairs = pairs_of(spec(pairs={"against": "m1"}), PLACES, None)
    assert [(p.first, p.second) for p in pairs] == [
        (f"s{i}", f"s{j}") for base in (0, 3, 6) for i, j in ((base, base + 1), (base + 1, base + 2))
    ]
    with pytest.raises(SpecError, match="system 'm9' is not known"):
        pairs_of(spec(pairs={"against": "m9"}), PLACES, None)


def test_the_pairs_of_the_dataset_keep_their_names_and_order() -> None:
    named = [Pair("x", "p0", "s2", "s0", (Preference("Overall", "first"),))]
    assert pairs_of(spec(pairs="given"), PLACES, named) == named
    found = {pair.id: (pair.first, pair.second) for pair in pairs_of(spec(), PLACES, named)}
    assert found["x"] == ("s2", "s0")
    assert len(found) == 9
    with pytest.raises(SpecError, match="has no pairs that people compared"):
        pairs_of(spec(pairs="given"), PLACES, None)


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (Pair("x", "", "s0", "s99"), "names story 's99'"),
        (Pair("x", "", "s0", "s0"), "names story 's0' twice"),
        (Pair("x", "", "s0", "s8"), "are for different story-prompts"),
    ],
)
def test_pairs_that_do_not_fit_are_named(pair: Pair, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        pairs_of(spec(pairs="given"), PLACES, [pair])
    with pytest.raises(SpecError, match="no two stories to compare"):
        pairs_of(spec(), PLACES[:1], None)


def test_orders_are_both_drawn_or_as_given() -> None:
    pairs = pairs_of(spec(), PLACES, None)
    both = comparisons_of(spec(), pairs, PLACES)
    assert len(both) == 18
    assert {(one.first, one.second) for one in both} == {(one.second, one.first) for one in both}
    given_order = comparisons_of(spec(orders="as-given"), pairs, PLACES)
    assert [(one.first, one.second) for one in given_order] == [(pair.first, pair.second) for pair in pairs]
    many = [StoryPlace(f"s{i}", "p", "m") for i in range(40)]
    drawn = comparisons_of(spec(orders="random"), pairs_of(spec(), many, None), many)
    turned = sum(int(one.first[1:]) > int(one.second[1:]) for one in drawn)
    assert 350 < turned < 430  # 780 coins
    # Neighbours begin with one story, so that their queries share it.
    assert [one.first for one in both] == sorted((one.first for one in both), key=lambda name: int(name[1:]))


def test_a_pair_and_its_turned_form_are_two_queries_and_repeats_share_one(tmp_path: Path) -> None:
    plan = make_plan(spec(repeats=3))
    one, other = (Story(name, "p", "m", f"Text {name}.") for name in "ab")
    found = [plan.query(shown, plan.eval_prompts[0], plan.criteria[0]) for shown in _orders(one, other)]
    assert found[0].key != found[1].key
    assert (found[0].story, found[0].other, found[0].pair, found[0].choices) == (one, other, "x", ("A", "B", "Tie"))
    assert found[0].key == plan.query(_orders(one, other)[0], plan.eval_prompts[0], plan.criteria[0]).key
    without = make_plan(spec(ties=False))
    bare = without.query(_orders(one, other)[0], without.eval_prompts[0], without.criteria[0])
    assert bare.choices == ("A", "B")
    assert "Tie" not in bare.messages[0].content
    assert bare.key != found[0].key


def test_the_key_of_a_comparison_is_pinned() -> None:
    """`compare/1`: whoever changes it breaks every journal that holds comparisons."""
    plan = make_plan(spec(generation={"temperature": 0.5, "max_tokens": 8, "seed": 3}, structured="choice"))
    shown = Comparison(Story("a", "p", "m", "First."), Story("b", "p", "m", "Second."), "x")
    query = plan.query(shown, plan.eval_prompts[0], plan.criteria[0])
    import orjson

    from judge.base.fingerprint import fingerprint_bytes

    head = [
        "compare/1",
        "a",
        "b",
        query.criterion.name,
        "pair1",
        [0.5, None, 8, 3, []],
        "chat",
        "choice",
        ["A", "B", "Tie"],
        [["user", query.messages[0].content]],
        "text",
    ]
    assert query.key == fingerprint_bytes((orjson.dumps(head),))


def _orders(one: Story, other: Story) -> list[Comparison]:
    return [Comparison(one, other, "x"), Comparison(other, one, "x")]


def test_neighbours_in_the_plan_share_story_prompt_and_first_story() -> None:
    plan = make_plan(spec(eval_prompts=["pair1", "pair2"], criteria={"set": "hanna", "only": ["CH", "EG"]}))
    stories = {place.id: Story(place.id, place.story_prompt, place.system, f"T {place.id}") for place in PLACES}
    planned = comparisons_of(plan.spec, pairs_of(plan.spec, PLACES, None), PLACES)
    shown = [Comparison(stories[one.first], stories[one.second], one.pair) for one in planned]
    groups = list(plan.groups(lambda: iter(shown)))
    assert sum(map(len, groups)) == 18 * 4
    assert [len({query.story.id for query in group}) for group in groups] == [1] * 9


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pairs": "some"}, "pairs is all, given, {each: K}"),
        ({"pairs": {"each": 0}}, "greater than or equal to 1"),
        ({"pairs": {"each": 2, "against": "x"}}, "pairs is all, given, {each: K}"),
        ({"pairs": {"seed": 2}}, "pairs is all, given, {each: K}"),
        ({"pairs": {"file": "f", "seed": 1}}, "seed goes with each"),
        ({"pairs": None, "eval_prompts": ["ep1"], "orders": "random"}, "the run has no pairs"),
        ({"orders": "fixed"}, "orders: input should be 'both', 'random' or 'as-given'"),
        ({"eval_prompts": ["ep1"]}, "Eval-Prompt ep1 asks for the rating of one"),
        ({"pairs": None}, "Eval-Prompt pair1 compares two stories, and the run does not say which"),
        ({"eval_prompts": ["pair1", "ep2"]}, "a run rates stories or compares them"),
    ],
)
def test_what_does_not_fit_together_is_said(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as error:
        make_plan(spec(**changes))
    assert words in str(error.value)


def test_a_file_of_pairs_is_read_strictly(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"first": "a", "second": "b"}\n\n{"id": "x", "first": "b", "second": "c"}\n', encoding="utf-8")
    assert read_pairs(file) == [Pair("a|b", "", "a", "b"), Pair("x", "", "b", "c")]
    file.write_text('{"first": "a"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="not a pair"):
        read_pairs(file)
    with pytest.raises(DataError, match="cannot be read"):
        read_pairs(tmp_path / "none.jsonl")
