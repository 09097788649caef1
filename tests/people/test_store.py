"""Answers are single, append-only and ordered by the file; a withdrawal leaves a number and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from judge.base.errors import DataError, SpecError
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets import open_dataset
from judge.lab.people.exchanged import write_answers, write_dataset
from judge.lab.people.options import DesignOptions
from judge.lab.people.store import UNSURE, Spent, StudyStore, read_study
from judge.lab.people.study import draw
from tests.people.conftest import stories

Make = Callable[..., StudyStore]


def test_single_answers_are_kept_in_order_and_once(study: Make) -> None:
    store = study()
    coherence, relevance = "Coherence", "Relevance"
    store.save("r01", 2, {coherence: 4}, message="a-1", before={}, spent=Spent(30, 31, 40))
    store.save("r01", 2, {relevance: 2}, message="a-2", before={}, spent=Spent(5, 5, 5))
    for _ in range(2):
        state = store.save("r01", 2, {coherence: 5}, message="a-3", before={coherence: 4}, spent=Spent(1, 1, 1))
    assert state.values == {coherence: 5, relevance: 2}
    assert state.seconds == 36
    store.save("r01", 2, {coherence: None, "comment": "hm", "skip": "other"}, message="a-4", before={coherence: 5})
    assert store.state("r01", 2).values == {relevance: 2}
    assert store.state("r01", 2).done(store.names)
    rows = store.select("SELECT field, value FROM answers WHERE field IN ('Coherence', 'Relevance') ORDER BY seq")
    assert rows == [(coherence, 4), (relevance, 2), (coherence, 5), (coherence, None)]


def test_a_tab_that_knows_an_older_answer_overwrites_nothing_unseen(study: Make) -> None:
    store = study()
    store.save("r01", 3, {"Coherence": 4, "Relevance": 3}, message="a-1", before={})
    late = store.save("r01", 3, {"Coherence": 1}, message="b-1", before={})
    assert late.late == ("Coherence",)
    assert late.values == {"Coherence": 4, "Relevance": 3}
    # Sent again it is answered alike, and one who has seen the answer may change it.
    assert store.save("r01", 3, {"Coherence": 1}, message="b-1", before={}) == late
    assert store.save("r01", 3, {"Coherence": 1}, message="b-2", before={"Coherence": 4}).values["Coherence"] == 1
    # An equal answer from two tabs is no conflict; another criterion of the same story is none either.
    assert store.save("r01", 3, {"Coherence": 1}, message="c-1", before={}).late == ()
    assert store.save("r01", 3, {"Empathy": 2}, message="c-2", before={}).late == ()
    assert read_study(store.path).late == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"Coherence": 6}, "allowed: 1, 2, 3, 4, 5"),
        ({"Coherence": 2.5}, "allowed: 1, 2, 3, 4, 5"),
        ({"Coherence": "4"}, "allowed: 1"),
        ({"Coherence": True}, "allowed: 1"),
        ({"Plot": 3}, "Plot"),
        ({"comment": 3}, "must be a text"),
    ],
)
def test_values_off_the_scale_are_refused(study: Make, fields: dict[str, object], words: str) -> None:
    store = study()
    with pytest.raises(SpecError, match=words):
        store.save("r01", 2, fields, message="a-1")  # type: ignore[arg-type]
    assert store.select("SELECT count(*) FROM answers") == [(0,)]


def test_places_and_raters_are_known_ones_and_clocks_set_back_count_nothing(study: Make) -> None:
    store = study()
    with pytest.raises(DataError, match="has no place 99"):
        store.save("r01", 99, {"Coherence": 3}, message="a-1")
    with pytest.raises(SpecError, match="r99"):
        store.entries("r99")
    state = store.save("r01", 2, {"Coherence": 3}, message="a-2", spent=Spent(-5, float("nan"), 3))
    assert state.seconds == 0


def test_a_study_is_read_at_one_moment_and_counts_ratings_alone(study: Make) -> None:
    store = study(12)
    rated = next(i for i, e in enumerate(store.entries("r01")) if e.use == "rating")
    repeat = next(i for i, e in enumerate(store.entries("r01")) if e.use == "repeat")
    for place in (0, rated, repeat):
        store.save("r01", place, dict.fromkeys(store.names, 3.0), message=f"m{place}")
    found = read_study(store.path)
    assert (found.given, found.asked) == (3, 3 * 36 * 3)
    assert found.sequence == 9


def test_a_text_that_was_changed_is_named(study: Make) -> None:
    store = study()
    store.close()
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE texts SET text = 'another' WHERE id = 1")
    with pytest.raises(DataError, match="text of story 'p0-Human' was changed"):
        read_study(store.path)


def test_withdrawn_answers_leave_tables_and_with_erase_the_file(study: Make) -> None:
    store = study()
    for rater in ("r01", "r02"):
        store.save(rater, 2, {"Coherence": 3, "comment": "my street is Elm Row"}, message="a-1")
    assert store.withdraw("r02", erase=False) == 2
    assert {one.rater for one in read_study(store.path).answered} == {"r01"}
    assert store.withdraw("r01", erase=True) == 2
    found = read_study(store.path)
    assert found.answered == ()
    assert found.withdrawn == {"r01": 2, "r02": 0}
    assert store.withdraw("r02", erase=True) == 2
    store.close()
    assert b"Elm Row" not in store.path.read_bytes()


def test_another_file_is_no_study(study: Make) -> None:
    store = study()
    with pytest.raises(DataError, match="exists already"):
        study()
    other = store.path.with_name("other.sqlite")
    other.write_text("hello")
    with pytest.raises(DataError, match="no study"):
        StudyStore.open(other)


def test_a_label_may_be_answered_by_cannot_tell_which_is_no_rating(tmp_path: Path) -> None:
    chosen = load_criteria("ttcw").criteria[:2]
    asked = draw(stories(4), "made", chosen, DesignOptions(raters=3))
    store = StudyStore.create(tmp_path / "labels.sqlite", asked, "x")
    first, second = store.names
    store.save("r01", 2, {first: UNSURE, second: 1.0}, message="m1")
    state = store.state("r01", 2)
    assert (state.values, state.unsure, state.done(store.names)) == ({second: 1.0}, {first}, True)
    late = store.save("r01", 2, {first: 0.0}, message="m2", before={first: None})
    assert late.late == (first,)
    store.save("r01", 2, {first: 0.0}, message="m3", before={first: UNSURE})
    assert store.state("r01", 2).unsure == frozenset()
    store.save("r01", 2, {second: UNSURE}, message="m4")
    found = read_study(store.path)
    assert found.given == 1
    write_answers(found, tmp_path / "all.csv")
    assert f",{second},cannot tell," in (tmp_path / "all.csv").read_text()
    write_dataset(found, tmp_path / "rated.jsonl")
    assert sum(len(story.ratings) for story in open_dataset(str(tmp_path / "rated.jsonl")).stories()) == 1
