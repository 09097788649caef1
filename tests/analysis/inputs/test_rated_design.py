"""The array of a criterion's ratings: what is in it, what is nested in what, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from judge.analysis.inputs.rated_design import RatedDesign, rated_design
from judge.base.errors import DataError
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement.variance_components import Facet


def _part(table: RatingsTable, **options) -> RatedDesign:
    (matrix,) = build(table)
    return rated_design(matrix, "Relevance", **options)


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
    assert part.notes[0] == "design: 3 systems x 5 story-prompts x 2 Eval-Prompts x 1 judge x 3 repeats"
    assert part.notes[1] == "used: all 90 answers requested, by analysis of variance"
    assert (part.used, part.asked, part.complete) == (90, 90, True)
    assert (
        part.notes[2]
        == "only one judge (openai/m): its variance cannot be estimated, and all numbers hold for it alone"
    )


def test_a_story_prompt_with_a_gap_stays_in_with_what_it_has(make_table) -> None:
    part = _part(make_table(lost=lambda *at: "refused" if at[:2] == (2, 7) else None))
    assert part.ratings.shape == (4, 12, 3)
    assert np.argwhere(np.isnan(part.ratings)).tolist() == [[2, 7, 0], [2, 7, 1], [2, 7, 2]]
    assert part.notes[0] == "design: 4 systems x 12 story-prompts x 1 Eval-Prompt x 1 judge x 3 repeats"
    assert part.notes[1] == "used: 141 of 144 answers requested, all that have a rating, by Henderson's Method I"
    assert (part.used, part.asked, part.complete) == (141, 144, False)
    assert any("unbiased where loss is independent of ratings" in note for note in part.notes)
    assert not any("too narrow" in note for note in part.notes)


def test_no_rating_is_left_out(make_table) -> None:
    table = make_table(lost=lambda *at: "truncated" if at[1] and at[2] == 0 else None)
    part = _part(table)
    assert part.ratings.shape == (4, 12, 3)
    rows = table.frame.query("source == 'judge'")
    assert part.used == int(rows["rating"].notna().sum()) == 100
    assert np.nansum(part.ratings) == rows["rating"].sum()
    own = table.frame.query("story == 's1-3' and source == 'judge'")["rating"].dropna().tolist()
    assert part.ratings[1, 3, :2].tolist() == own


def test_levels_without_any_rating_are_counted_and_many_empty_queries_said(make_table) -> None:
    part = _part(make_table(lost=lambda *at: "refused" if at[1] == 7 else None))
    assert part.ratings.shape == (4, 11, 3)
    assert part.complete
    assert part.notes[0] == "design: 4 systems x 11 of 12 story-prompts x 1 Eval-Prompt x 1 judge x 3 repeats"
    assert part.notes[1] == "used: 132 of 144 answers requested, all that have a rating, by analysis of variance"
    assert any("unbiased where loss is independent of ratings" in note for note in part.notes)
    part = _part(make_table(lost=lambda *at: "refused" if at[0] == 1 and at[1] < 7 else None))
    assert "15 % of the combinations have no rating at all: intervals may be too narrow" in part.notes


def test_one_repeat_is_not_a_facet(make_table) -> None:
    part = _part(make_table(repeats=1))
    assert [facet.name for facet in part.facets] == ["system", "story-prompt"]
    assert "one rating of each query at most: the variance of repeats is part of the last term" in part.notes


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
    assert part.facets == (Facet("system"), Facet("story", ("system",)), Facet("repeat", ("system", "story")))
    assert part.ratings.shape == (3, 6, 3)
    assert part.used == part.asked == 51
    assert part.story == ("system", "story")
    assert "3 systems x 5 to 6 stories x" in part.notes[0]


def test_one_system_leaves_stories(make_table) -> None:
    part = _part(make_table(systems=1))
    assert part.facets == (Facet("story"), Facet("repeat", ("story",)))
    assert part.story == ("story",)
    assert part.notes[2].startswith("only one system (system 0), Eval-Prompt (ep1), judge (openai/m): their variances")


def test_imported_ratings_are_named_as_means(hanna_table: RatingsTable) -> None:
    frame = hanna_table.frame
    table = dataclasses.replace(
        hanna_table, frame=frame[(frame["judge"] != "length") & (frame["criterion"] == "Empathy")]
    )
    (matrix,) = build(table)
    part = rated_design(matrix, "Empathy")
    assert part.ratings.shape == (11, 96, 4, 5)
    assert any("may be means of repeats" in note for note in part.notes)


def test_fewer_than_two_rated_story_prompts_are_refused(make_table) -> None:
    table = make_table(lost=lambda *at: "refused" if at[1] else None)
    with pytest.raises(
        DataError, match="Relevance: no two story-prompts have a rating; 144 repeats were asked"
    ) as caught:
        _part(table)
    assert "judge coverage" in str(caught.value.hint)


def test_a_system_that_shares_one_story_prompt_nests_stories_in_systems(make_table) -> None:
    table = make_table(systems=2, prompts=3)
    frame = table.frame[~table.frame["story"].isin(["s1-1", "s1-2"])]
    part = _part(dataclasses.replace(table, frame=frame))
    assert part.facets[1] == Facet("story", ("system",))
    assert "2 systems x 1 to 3 stories" in part.notes[0]


def test_judges_without_a_common_eval_prompt_are_refused(make_table) -> None:
    with pytest.raises(DataError, match="no Eval-Prompt was put to all 2 judges"):
        _part(_with(make_table(), judge="openai/n", eval_prompt="ep2"))
