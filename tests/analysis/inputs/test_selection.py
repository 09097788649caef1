"""Parts of a ratings table: which rows stay, and which names are refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pandas as pd
import pytest

from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import CorrelationOptions, JuryOptions, from_words, names
from judge.base.errors import SpecError
from judge.ratings.ratings_table import RatingsTable


@pytest.fixture
def table(make_table: Callable[..., RatingsTable]) -> RatingsTable:
    """Two judges with ep1 on Relevance and Coherence; people rated Relevance, Coherence and Overall."""
    made = make_table(judged=("Relevance", "Coherence"), rated=("Relevance", "Coherence", "Overall"), prompts=4)
    more = made.frame[made.frame["source"] == "judge"].assign(judge="openai/n", eval_prompt="ep2")
    return dataclasses.replace(made, frame=pd.concat([made.frame, more], ignore_index=True))


def _left(table: RatingsTable, source: str) -> set[tuple[str, ...]]:
    frame = table.frame[table.frame["source"] == source]
    columns = ["judge", "eval_prompt", "criterion"] if source == "judge" else ["criterion"]
    return {tuple(row) for row in frame[columns].itertuples(index=False)}


def test_names_keep_their_rows_whatever_the_letter_case(table: RatingsTable) -> None:
    part = narrowed(table, Selection.of("RELEVANCE", ["openai/n"], None))
    assert _left(part, "judge") == {("openai/n", "ep2", "Relevance")}
    assert _left(part, "rater") == {("Relevance",)}
    assert narrowed(table, Selection.of(None, None, None)) is table


def test_the_peoples_criterion_that_all_are_set_against_stays(table: RatingsTable) -> None:
    part = narrowed(table, Selection.of(["Coherence"], None, None, people=["overall", None]))
    assert _left(part, "rater") == {("Coherence",), ("Overall",)}
    assert {criterion for *_, criterion in _left(part, "judge")} == {"Coherence"}


def test_people_who_rated_no_criterion_of_the_judges_stay_to_be_compared_with(table: RatingsTable) -> None:
    people = table.frame["source"] == "rater"
    frame = table.frame[~people | (table.frame["criterion"] == "Overall")]
    part = narrowed(dataclasses.replace(table, frame=frame), Selection.of("Coherence", None, None))
    assert _left(part, "rater") == {("Overall",)}
    frame = table.frame[~people | table.frame["criterion"].isin(["Overall", "Relevance"])]
    part = narrowed(dataclasses.replace(table, frame=frame), Selection.of("Coherence", None, None))
    assert _left(part, "rater") == set()  # where criteria match by name, no other is put in place of one that does not


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (("Humour", None, None), r'criterion="Humour" is not known \(known: Coherence, Overall, Relevance\)'),
        ((None, "m", None), r'judge="m" is not known .*openai/m, openai/n'),
        ((None, None, ["ep1", "v1"]), r'eval_prompt="v1" is not known.*ep1, ep2'),
        ((None, "openai/m", "ep2"), "nothing in these runs is at once openai/m, ep2"),
    ],
)
def test_unknown_names_are_refused_with_those_that_are_known(
    table: RatingsTable, said: tuple[object, ...], words: str
) -> None:
    with pytest.raises(SpecError, match=words):
        narrowed(table, Selection.of(*said))


def test_a_string_is_one_name() -> None:
    assert names("v1") == ("v1",)
    assert names(["v1", "v2"]) == ("v1", "v2")
    assert from_words(CorrelationOptions, drop_systems="Human").drop_systems == ("Human",)
    assert from_words(JuryOptions, members=["openai/m"], drop_systems=()).members == ("openai/m",)
    with pytest.raises(SpecError, match=r"option 'drop_system' is not known; did you mean 'drop_systems'\?"):
        from_words(CorrelationOptions, drop_system=["Human"])
