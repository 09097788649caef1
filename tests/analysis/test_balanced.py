"""The balanced part of a run: what is kept, what is nested in what, and what is refused with which sentence."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from judge.analysis.balanced import Balanced, balanced
from judge.errors import DataError
from judge.rating_matrix import build
from judge.ratings_table import RatingsTable
from judge.stats.variance_components import Facet


def _part(table: RatingsTable, **options) -> Balanced:
    (matrix,) = build(table)
    return balanced(matrix, "Relevance", **options)


def _with(table: RatingsTable, **changes: str) -> RatingsTable:
    """The table with its judge rows once more under another name (judge, eval_prompt...), ratings reversed."""
    rows = table.frame[table.frame["source"] == "judge"]
    more = rows.assign(**changes, rating=rows["rating"].to_numpy()[::-1])
    return dataclasses.replace(table, frame=pd.concat([table.frame, more], ignore_index=True))


def test_axes_hold_the_tables_ratings(make_table) -> None:
    table = _with(make_table(systems=3, prompts=5), eval_prompt="ep2")
    part = _part(table)
    outer = ("system", "story-prompt", "Eval-Prompt")
    assert part.facets == (*(Facet(name) for name in outer), Facet("repeat", outer))
    assert part.ratings.shape == (3, 5, 2, 3)
    frame = table.frame.set_index(["system", "story_prompt", "eval_prompt", "repeat"]).sort_index()
    for s in range(3):
        for p in range(5):
            for e in range(2):
                expected = [
                    frame.loc[(f"system {s}", f"prompt {p}", f"ep{e + 1}", r), "rating"].item() for r in range(3)
                ]
                assert part.ratings[s, p, e].tolist() == expected
    assert part.story == ("system", "story-prompt")
    assert part.notes[0] == (
        "balanced part: 3 systems x 5 story-prompts x 2 Eval-Prompts x 1 judge x 3 repeats = 90 of 90 repeats asked"
    )
    assert part.notes[1] == "only one judge (openai/m): its variance cannot be told, and all this holds for it"


def test_story_prompts_with_a_gap_are_left_out_and_said(make_table) -> None:
    part = _part(make_table(lost=lambda *at: "refused" if at[:2] == (2, 7) else None))
    assert part.ratings.shape == (4, 11, 3)
    assert not np.isnan(part.ratings).any()
    assert "4 systems x 11 of 12 story-prompts" in part.notes[0]
    assert "= 132 of 144 repeats asked" in part.notes[0]
    assert any("the rest is no fair sample" in note for note in part.notes)


def test_as_many_repeats_are_kept_as_keep_most_ratings(make_table) -> None:
    # One repeat lost nearly everywhere: two repeats of all story-prompts beat three of one.
    table = make_table(lost=lambda *at: "truncated" if at[1] and at[2] == 0 else None)
    part = _part(table)
    assert part.ratings.shape == (4, 12, 2)
    rows = table.frame.query("story == 's1-3' and source == 'judge'")
    assert part.ratings[1, 3].tolist() == rows["rating"].dropna().tolist()


def test_one_repeat_is_not_a_facet(make_table) -> None:
    part = _part(make_table(repeats=1))
    assert [facet.name for facet in part.facets] == ["system", "story-prompt"]
    assert "one repeat: the variance of repeats is part of the last term" in part.notes


def test_judges_are_a_facet_over_the_eval_prompts_they_share(make_table) -> None:
    table = _with(make_table(systems=3, prompts=4), eval_prompt="ep2")
    table = dataclasses.replace(table, frame=_with(make_table(systems=3, prompts=4), judge="openai/n").frame)
    part = _part(_with(table, eval_prompt="ep2"))
    assert [facet.name for facet in part.facets] == ["system", "story-prompt", "Eval-Prompt", "judge", "repeat"]
    assert part.ratings.shape == (3, 4, 2, 2, 3)
    frame = table.frame
    less = dataclasses.replace(table, frame=frame)
    one = less.frame[(less.frame["judge"] == "openai/n") & (less.frame["source"] == "judge")]
    part = _part(dataclasses.replace(table, frame=pd.concat([frame, one.assign(eval_prompt="ep9")])))
    assert part.ratings.shape == (3, 4, 2, 3)
    assert "Eval-Prompts that not every judge was asked with are left out: ep9" in part.notes


def test_the_control_can_be_left_out(make_table) -> None:
    table = _with(make_table(systems=3, prompts=4), judge="surface")
    part = _part(table, left_out={("r", "surface")})
    assert "judge" not in [facet.name for facet in part.facets]


def test_stories_without_shared_story_prompts_are_nested_in_systems(make_table) -> None:
    table = make_table(systems=3, prompts=6)
    frame = table.frame.assign(story_prompt="")
    part = _part(dataclasses.replace(table, frame=frame[frame["story"] != "s0-5"]))
    assert part.facets == (
        Facet("system"),
        Facet("story", ("system",)),
        Facet("repeat", ("system", "story")),
    )
    assert part.ratings.shape == (3, 5, 3)  # as many as the system with fewest has
    assert part.story == ("system", "story")
    assert "3 systems x 5 of 6 stories" in part.notes[0]


def test_one_system_leaves_stories(make_table) -> None:
    part = _part(make_table(systems=1))
    assert part.facets == (Facet("story"), Facet("repeat", ("story",)))
    assert part.story == ("story",)
    assert part.notes[1].startswith("only one system (system 0), Eval-Prompt (ep1), judge (openai/m): their variances")


def test_imported_ratings_are_named_as_means(hanna_table: RatingsTable) -> None:
    frame = hanna_table.frame
    table = dataclasses.replace(
        hanna_table, frame=frame[(frame["judge"] != "length") & (frame["criterion"] == "Empathy")]
    )
    (matrix,) = build(table)
    part = balanced(matrix, "Empathy")
    assert part.ratings.shape == (11, 96, 4, 5)
    assert any("may be means of repeats" in note for note in part.notes)


def test_no_complete_part_is_refused_with_the_first_gap(make_table) -> None:
    table = make_table(lost=lambda *at: "refused" if at[0] == 1 and at[2] else None)
    with pytest.raises(DataError) as caught:
        _part(table)
    assert str(caught.value) == (
        "Relevance: no balanced part of two story-prompts or more; first incomplete is story s1-0 of system system 1: "
        "1 of 2 repeats rated by openai/m with Eval-Prompt ep1"
    )
    assert "--drop-system" in str(caught.value.hint)


def test_systems_that_share_one_story_prompt_are_nested_and_a_short_one_is_named(make_table) -> None:
    table = make_table(systems=2, prompts=3)
    frame = table.frame[~table.frame["story"].isin(["s1-1", "s1-2"])]
    with pytest.raises(
        DataError, match="two stories of each system or more; first without a rated story is system system 1"
    ):
        _part(dataclasses.replace(table, frame=frame))


def test_judges_without_a_common_eval_prompt_are_refused(make_table) -> None:
    with pytest.raises(DataError, match="no Eval-Prompt was put to all 2 judges"):
        _part(_with(make_table(), judge="openai/n", eval_prompt="ep2"))
