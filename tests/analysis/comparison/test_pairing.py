"""What is compared with what: sides, what they share, stories and repeats; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge.analysis.comparison.pairing import Contrast, check_distinct, contrasts, pair
from judge.analysis.comparison.result import both_parsers
from judge.base.errors import SpecError
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable


def again(table: RatingsTable, facts: dict[str, Any] | None = None, **columns: Any) -> RatingsTable:
    """The table with its first result's judge rows once more, some columns changed; `facts` are the new result's."""
    run, judge = table.facts[0].run, table.facts[0].judge
    frame = table.frame
    rows = frame[(frame["source"] == "judge") & (frame["run"] == run) & (frame["judge"] == judge)]
    rows = rows[rows["eval_prompt"] == rows["eval_prompt"].iloc[0]].assign(**columns)
    known = table.facts
    if facts is not None:
        folder = Path("runs") / str(len(known))
        known = (*known, replace(table.facts[0], path=folder, **facts))
    return replace(table, frame=pd.concat([frame, rows], ignore_index=True), facts=known)


def found(table: RatingsTable, factor: Any, baseline: str | None = None) -> list[Contrast]:
    (matrix,) = build(table)
    return contrasts(matrix, table, factor, baseline)[0]


def names(made: list[Contrast]) -> list[tuple[str, str]]:
    return [(contrast.first, contrast.second) for contrast in made]


def test_all_pairs_in_order_of_appearance_or_all_against_a_baseline(make_table: Callable[..., RatingsTable]) -> None:
    table = again(again(make_table(), eval_prompt="ep2"), eval_prompt="ep3")
    assert names(found(table, "eval_prompt")) == [("ep1", "ep2"), ("ep1", "ep3"), ("ep2", "ep3")]
    assert names(found(table, "eval_prompt", "ep2")) == [("ep2", "ep1"), ("ep2", "ep3")]
    assert found(table, "eval_prompt")[0].cells == (("Relevance", 0, 1),)


def test_eval_prompts_are_compared_within_each_judge(make_table: Callable[..., RatingsTable]) -> None:
    table = again(make_table(), eval_prompt="ep2")
    table = again(table, {"judge": "openai/other"}, judge="openai/other")
    table = again(table, judge="openai/other", eval_prompt="ep2")
    made = found(table, "eval_prompt")
    assert names(made) == [("ep1", "ep2")] * 2
    assert [dict(contrast.shared)["judge"] for contrast in made] == ["openai/m", "openai/other"]
    by_judge = found(table, "judge")
    assert names(by_judge) == [("openai/m", "openai/other")] * 2
    assert [dict(contrast.shared)["eval_prompt"] for contrast in by_judge] == ["ep1", "ep2"]


def test_sides_that_occur_in_several_runs_are_paired_within_each(make_table: Callable[..., RatingsTable]) -> None:
    table = again(make_table(), eval_prompt="ep2")
    table = again(again(table, {"run": "s"}, run="s"), run="s", eval_prompt="ep2")
    made = found(table, "eval_prompt")
    assert [dict(contrast.shared)["run"] for contrast in made] == ["r", "s"]
    assert names(found(table, "run")) == [("r", "s")] * 2
    with pytest.raises(SpecError, match="only unknown"):
        found(table, "structured")


def test_structured_modes_are_those_of_the_facts(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table()
    table = replace(table, facts=(replace(table.facts[0], structured="none"),))
    table = again(table, {"run": "s", "structured": "json"}, run="s")
    assert names(found(table, "structured")) == [("none", "json")]
    third = again(table, {"run": "t", "structured": "json"}, run="t")
    with pytest.raises(
        SpecError, match=r"several results of one structured mode answer the same queries \(runs r, s, t\)"
    ):
        found(third, "structured")


def test_two_readings_of_one_run_are_two_parsers(make_table: Callable[..., RatingsTable]) -> None:
    ours = make_table()
    published = replace(ours, facts=(replace(ours.facts[0], parser="as-published/1+retried:2"),))
    both = both_parsers(ours, published)
    assert names(found(both, "parser")) == [("ours", "as-published")]
    assert len(both.frame) == len(ours.frame) + int((ours.frame["source"] == "judge").sum())
    assert (both.frame["source"] == "rater").sum() == (ours.frame["source"] == "rater").sum()


def test_imported_results_have_no_second_reading(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table()
    imported = replace(table, facts=(replace(table.facts[0], parser="imported"),))
    with pytest.raises(SpecError, match="needs two parsers of toy; these results have only imported"):
        found(both_parsers(imported, imported), "parser")


def test_a_measure_without_eval_prompt_stands_beside_every_eval_prompt_once(
    make_table: Callable[..., RatingsTable],
) -> None:
    table = again(make_table(), eval_prompt="ep2")
    for name in ("measure/a", "measure/b"):
        table = again(table, {"judge": name}, judge=name, eval_prompt="-")
    made = found(table, "judge")
    shared = [(dict(contrast.shared)["eval_prompt"], contrast.first, contrast.second) for contrast in made]
    assert sorted(shared) == [
        ("-", "measure/a", "measure/b"),
        ("ep1", "openai/m", "measure/a"),
        ("ep1", "openai/m", "measure/b"),
        ("ep2", "openai/m", "measure/a"),
        ("ep2", "openai/m", "measure/b"),
    ]


def test_what_has_nothing_to_be_compared_with_is_named(make_table: Callable[..., RatingsTable]) -> None:
    table = again(make_table(), eval_prompt="ep2")
    table = again(table, {"judge": "openai/lone"}, judge="openai/lone")
    (matrix,) = build(table)
    made, notes = contrasts(matrix, table, "eval_prompt")
    assert names(made) == [("ep1", "ep2")]
    assert notes == ["toy: left out, as no other Eval-Prompt was asked the same: openai/lone ep1 of r"]


def test_mistakes_get_a_sentence(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table()
    with pytest.raises(SpecError, match='by="eval_prompt" needs two Eval-Prompts of toy; these results have only ep1'):
        found(table, "eval_prompt")
    two = again(table, eval_prompt="ep2")
    with pytest.raises(SpecError, match='baseline="ep3" is not known; did you mean'):
        found(two, "eval_prompt", "ep3")
    apart = again(table, {"judge": "openai/other"}, judge="openai/other", eval_prompt="ep2")
    with pytest.raises(SpecError, match="no two judges of toy can be compared: they never share eval-prompt"):
        found(apart, "judge")
    check_distinct(apart)
    same = replace(table, facts=table.facts * 2)
    with pytest.raises(SpecError, match="both called run 'r' of judge openai/m"):
        check_distinct(same)


def test_only_repeats_asked_on_both_sides_and_stories_rated_on_both_count(
    make_table: Callable[..., RatingsTable],
) -> None:
    def lost(system: int, prompt: int, repeat: int) -> str | None:
        if (system, prompt) == (0, 0):
            return "refused"
        return "no_rating" if (system, prompt, repeat) == (1, 1, 2) else None

    table = make_table(systems=2, prompts=3, lost=lost)
    frame = table.frame
    judged = frame[frame["source"] == "judge"]
    # The second side has repeats 1 to 3, was not asked about story s1-2, and explains repeat 1.
    second = judged[judged["story"] != "s1-2"].assign(
        eval_prompt="ep2", repeat=judged["repeat"] + 1, rating=4.0, status="ok"
    )
    second["explanation"] = np.where(second["repeat"] == 1, "because", None)
    table = replace(table, frame=pd.concat([frame, second], ignore_index=True))
    (matrix,) = build(table)
    stories = list(matrix.stories["story"])
    sides = pair(matrix, 0, 1)
    assert sides.repeats == (3, 3)
    assert sides.asked.shape == (6, 2)
    assert sides.asked.all(axis=1).tolist() == [story != "s1-2" for story in stories]
    assert sides.lost == (1, 0)
    assert [story for story, both in zip(stories, sides.stories, strict=True) if both] == [
        "s0-1",
        "s0-2",
        "s1-0",
        "s1-1",
    ]
    # Story s1-1 lost repeat 2 on the first side: its mean is of repeat 1 alone.
    at = stories.index("s1-1")
    repeat = judged[(judged["story"] == "s1-1") & (judged["repeat"] == 1)]["rating"].iloc[0]
    assert sides.means[0][at] == repeat
    assert sides.explained[1].sum() == 5
    assert not sides.explained[0].any()
    assert not sides.imported


def test_an_imported_mean_is_compared_as_what_it_is(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(systems=2, prompts=3)
    judged = table.frame[table.frame["source"] == "judge"]
    means = judged.groupby(["dataset", "story", "story_prompt", "system", "criterion"], as_index=False)["rating"].mean()
    means = means.assign(run="i", judge="other", eval_prompt="ep1", source="judge", status="imported")
    table = replace(table, frame=pd.concat([table.frame, means], ignore_index=True))
    (matrix,) = build(table)
    sides = pair(matrix, 0, 1)
    assert sides.imported
    np.testing.assert_allclose(sides.means[0], sides.means[1])
    assert sides.asked.shape == (6, 1)
