"""People compare pairs: who compares what on which side, what is kept, reported and exported."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from judge.base.errors import OptionError, SpecError
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets import open_dataset
from judge.lab.people.compared import report
from judge.lab.people.design import groups_of, refusal
from judge.lab.people.exchanged import write_answers, write_dataset
from judge.lab.people.options import DesignOptions, PeopleOptions
from judge.lab.people.pair_study import PLACES, draw_pairs
from judge.lab.people.pairs import pair_design, sides
from judge.lab.people.printed import compared_tables
from judge.lab.people.store import Spent, StudyStore, read_study
from judge.lab.people.study import APART, Drawn
from tests.people.conftest import stories
from tests.people.test_design import crossed


def drawn(prompts: int = 8, **options: object) -> Drawn:
    criteria = load_criteria("hanna").criteria[:2]
    return draw_pairs(stories(prompts), "made", criteria, DesignOptions(**{"raters": 4, "ask": "pairs", **options}))


def test_random_requests_are_even_in_systems_and_sides_and_connected() -> None:
    rng = np.random.default_rng(7)
    made = 0
    while made < 60:
        prompts, systems = int(rng.integers(4, 31)), int(rng.integers(2, 11))
        raters, k = int(rng.integers(3, 21)), int(rng.integers(2, 5))
        pairs = prompts * (systems if systems > 2 else 1)
        if refusal(pairs, raters, k):
            continue
        made += 1
        prompt, system = crossed(prompts, systems)
        found = pair_design(prompt, system, raters, k, np.random.default_rng(made))
        table, of = found.design.table, system[found.pairs]
        assert len(found.pairs) == pairs
        assert (prompt[found.pairs[:, 0]] == prompt[found.pairs[:, 1]]).all()
        assert np.ptp(np.bincount(found.pairs.ravel(), minlength=len(system))) == 0
        assert (table.sum(axis=1) == k).all()
        assert np.ptp(table.sum(axis=0)) <= 2
        assert found.uneven <= 1, (prompts, systems, raters, k)
        assert groups_of(table).max() == 0
        for order, swapped in zip(found.design.orders, found.swapped, strict=True):
            balance = np.zeros(systems)
            for pair, other in zip(order, swapped, strict=True):
                left, right = of[pair][::-1] if other else of[pair]
                balance[left] += 1
                balance[right] -= 1
            assert np.abs(balance).max() <= 1


def test_no_story_prompt_comes_twice_running_and_most_pairs_are_seen_both_ways() -> None:
    prompt, system = crossed(20, 5)
    found = pair_design(prompt, system, 6, 3, np.random.default_rng(1))
    assert found.design.adjacent == 0
    seen: dict[int, set[bool]] = {}
    for order, swapped in zip(found.design.orders, found.swapped, strict=True):
        assert all(prompt[found.pairs[a, 0]] != prompt[found.pairs[b, 0]] for a, b in pairwise(order))
        for pair, other in zip(order, swapped, strict=True):
            seen.setdefault(pair, set()).add(other)
    # By chance three people would see a pair both ways in three of four cases.
    assert np.mean([len(ways) == 2 for ways in seen.values()]) > 0.8


def test_sides_of_a_ring_go_round_and_turn_round_what_others_saw() -> None:
    ring = [(0, 1), (1, 2), (2, 0)]
    assert sides(ring, [0, 0, 0]) in ([False] * 3, [True] * 3)
    assert sides(ring, [-1, -1, -1]) == [True] * 3
    assert sides(ring, [1, 1, 1]) == [False] * 3


def test_lists_hold_repeats_turned_round_and_damaged_stories_beside_whole_ones() -> None:
    made = drawn(20)
    for entries in made.lists:
        first = {(e.text, e.beside): place for place, e in enumerate(entries) if e.use == "rating"}
        uses = Counter(entry.use for entry in entries)
        assert uses["repeat"] == uses["check"] == round(len(first) / 6)
        assert entries[0].use == "practice"
        assert {entries[1].use, entries[-1].use} == {"rating"}
        for place, entry in enumerate(entries):
            assert entry.beside is not None
            left, right = (made.texts[number - 1] for number in entry.texts)
            assert left.story_prompt == right.story_prompt
            if entry.use == "repeat":
                assert entry.of == first[entry.beside, entry.text]
                assert place - entry.of > APART
            if entry.use in ("check", "practice"):
                assert left.story == right.story
                assert (left.damage is None) != (right.damage is None)
    sides_of_whole = Counter(
        made.texts[e.text - 1].damage is None for entries in made.lists for e in entries if e.use == "check"
    )
    assert min(sides_of_whole.values()) >= sum(sides_of_whole.values()) // 3


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(SpecError, match="no story-prompt has two stories"):
        draw_pairs(
            [s for s in stories(8) if s.system == "one"],
            "made",
            load_criteria("overall").criteria,
            DesignOptions(ask="pairs"),
        )
    with pytest.raises(OptionError, match="core"):
        DesignOptions(ask="pairs", core=3)
    with pytest.raises(OptionError, match="ask"):
        DesignOptions(ask="triples")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="no two people read one pair"):
        drawn(per_story=1)


QUALITY = {"Human": 2, "one": 1, "two": 0}


def compared(path: Path) -> StudyStore:
    """All prefer Human to one to two, and whole stories; r04 always the left one."""
    store = StudyStore.create(path, drawn(8), "We ask you.")
    texts = store.texts()
    for rater in store.raters():
        for place, entry in enumerate(store.entries(rater)):
            left, right = (QUALITY[texts[n].system] - 3 * (texts[n].damage is not None) for n in entry.texts)
            side = 0.0 if rater == "r04" or left > right else 1.0
            store.save(rater, place, dict.fromkeys(store.names, side), message=f"m{place}", spent=Spent(30))
    return store


def test_preferences_are_those_that_were_given_whatever_the_side(tmp_path: Path) -> None:
    store = compared(tmp_path / "pairs.sqlite")
    found = read_study(store.path)
    assert (found.given, found.asked) == (2 * 24 * 3, 2 * 24 * 3)
    said = write_dataset(found, tmp_path / "pairs.jsonl", leave_out=("r04",))
    assert "comparisons of 24 pairs" in said
    dataset = open_dataset(str(tmp_path / "pairs.jsonl"))
    system = {story.id: story.system for story in dataset.stories()}
    assert dataset.pairs is not None
    given = 0
    for pair in dataset.pairs():
        better = "first" if QUALITY[system[pair.first]] > QUALITY[system[pair.second]] else "second"
        assert {preference.value for preference in pair.preferences} <= {better}
        given += len(pair.preferences)
    assert given == sum(
        len(one.state.values) for one in found.answered if one.entry.use == "rating" and one.rater != "r04"
    )
    write_answers(found, tmp_path / "all.csv")
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["value"] for row in rows if row["rater"] == "r04"} == {"Left"}
    assert {row["use"] for row in rows} == {"rating", "repeat", "check", "practice"}
    assert all(row["damage"] for row in rows if row["use"] in ("check", "practice"))


def test_what_is_exported_is_ranked(tmp_path: Path) -> None:
    store = compared(tmp_path / "pairs.sqlite")
    write_dataset(read_study(store.path), tmp_path / "pairs.jsonl")
    words = [sys.executable, "-m", "judge", "rank", "pairs.jsonl", "--table", "systems", "--format", "json"]
    printed = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    told = json.loads(printed)
    tables = told if isinstance(told, list) else [told]
    order = [
        row["system"] for table in tables for row in table["rows"] if row.get("criterion", "Relevance") == "Relevance"
    ]
    assert order[:3] == ["Human", "one", "two"]


def test_alpha_does_not_depend_on_which_story_of_a_pair_is_called_first(tmp_path: Path) -> None:
    """By hand: two people agree on one pair and differ on another. Both ways, first and second each stand 4 times of 8;
    observed disagreement 2/4, expected 2 x 4 x 4 / (8 x 7): alpha 1 - .5 / .5714 = .125."""
    store = StudyStore.create(tmp_path / "pairs.sqlite", drawn(8), "x")
    places = {
        rater: {tuple(sorted(e.texts)): (i, e) for i, e in enumerate(store.entries(rater)) if e.use == "rating"}
        for rater in ("r01", "r02")
    }
    shared = sorted(places["r01"].keys() & places["r02"].keys())[:2]
    for rater, wanted in (("r01", (0, 0)), ("r02", (0, 1))):
        for key, story in zip(shared, wanted, strict=True):
            place, entry = places[rater][key]
            store.save(rater, place, {"Relevance": float(entry.text != key[story])}, message=f"m{place}")
    alpha = report(read_study(store.path), PeopleOptions(resamples=0)).criteria[0].alpha.value
    assert alpha == pytest.approx(0.125)


def test_the_report_shows_who_looks_at_sides_and_names_nobody(tmp_path: Path) -> None:
    result = report(read_study(compared(tmp_path / "pairs.sqlite").path), PeopleOptions(resamples=100))
    by_name = {one.name: one for one in result.raters}
    careful, lefty = by_name["r01"], by_name["r04"]
    assert careful.repeats[0] == careful.repeats[1] > 0
    assert careful.checks[0] == careful.checks[1] > 0
    assert careful.left is not None
    assert 0.3 < careful.left < 0.7
    assert (lefty.left, lefty.repeats[0]) == (1.0, 0)
    assert lefty.checks[0] < lefty.checks[1]
    assert careful.agreement is not None
    assert lefty.agreement is not None
    assert careful.agreement > lefty.agreement
    assert all(one.pairs == 24 for one in result.criteria)
    agreement, raters = compared_tables(result)
    assert "144 of 144 comparisons so far (100%)" in agreement.notes
    assert "doubt" not in {column.key for column in raters.columns}


def test_a_tie_and_both_bad_are_kept_apart_and_export_as_ties(tmp_path: Path) -> None:
    store = StudyStore.create(tmp_path / "pairs.sqlite", drawn(8), "x")
    store.save("r01", 1, {"Relevance": 2, "Coherence": 3}, message="m1")
    found = read_study(store.path)
    relevance, coherence = report(found, PeopleOptions(resamples=0)).criteria
    assert (relevance.ties, relevance.both_bad, coherence.ties, coherence.both_bad) == (1, 0, 0, 1)
    assert relevance.alpha.value is None
    write_dataset(found, tmp_path / "out.jsonl")
    dataset = open_dataset(str(tmp_path / "out.jsonl"))
    assert dataset.pairs is not None
    assert [p.value for pair in dataset.pairs() for p in pair.preferences] == ["tie", "tie"]
    with pytest.raises(SpecError, match="Relevance was rated 4"):
        store.save("r01", 1, {"Relevance": 4}, message="m2")
    with pytest.raises(SpecError, match="cannot tell"):
        store.save("r01", 1, {"Relevance": "cannot tell"}, message="m3")
    without = StudyStore.create(tmp_path / "no.sqlite", drawn(8, ties=False), "x")
    assert without.criteria[0].scale.labels == PLACES[:2]
