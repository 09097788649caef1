"""The correlation table: published numbers from the released file, its edge cases, and what stands beside a judge."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from judge.analysis import correlation
from judge.analysis.agreement import correlation_grid
from judge.analysis.inputs.bars import CONTROL_NAME, PEOPLE_NAME, ControlSource
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.errors import SpecError
from judge.ratings.ratings_table import RatingsTable
from tests.benchmarks.simulations.worlds import Studies, World

BELUGA = Selection(judges=("Beluga-13B",), eval_prompts=("ep1",))
ORDER = ["Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"]


@pytest.fixture(scope="module")
def overall(hanna_table: RatingsTable):
    return correlation.correlate(hanna_table, CorrelationOptions(drop_systems=("Human",), ci="none"))


@pytest.fixture(scope="module")
def by_system(hanna_table: RatingsTable):
    return correlation.correlate(hanna_table, CorrelationOptions(drop_systems=("Human",), level="system", ci="none"))


def _cells(frame, judge: str, eval_prompt: str) -> list[float]:
    rows = frame[(frame["judge"] == judge) & (frame["eval_prompt"] == eval_prompt)].set_index("criterion")
    return [round(100 * float(rows.loc[name, "value"]), 1) for name in ORDER]


# Published Kendall tau-b x100 of the HANNA judge study, Eval-Prompt 1, ten machine systems, n = 960, recomputed from
# the released score file by scipy.stats.kendalltau (signs kept).
OVERALL = {
    "Beluga-13B": [20.6, 25.6, 27.4, 16.6, 25.7, 31.8],
    "Llama-13B": [16.1, 18.0, 14.8, 12.1, 11.2, 25.6],
    "Mistral-7B": [21.6, 22.2, 20.4, 12.5, 20.9, 23.2],
    "ChatGPT": [15.2, 21.7, 20.1, 4.8, 18.9, 26.9],
}


@pytest.mark.parametrize("judge", list(OVERALL))
def test_published_overall_correlations_of_hanna(overall, judge: str) -> None:
    assert _cells(overall, judge, "ep1") == OVERALL[judge]
    assert set(overall.loc[overall["judge"] == judge, "n"]) == {960}


def test_length_alone_correlates_as_recomputed(overall) -> None:
    # The study's files, column "Text length": overall 11 16 17 20 23 35, as integers.
    assert [round(v) for v in _cells(overall, "length", "ep1")] == [11, 16, 17, 20, 23, 35]


def test_signs_are_kept_where_the_published_table_lost_them(overall, by_system) -> None:
    # Published as 1 and 2; ChatGPT, Eval-Prompt 3, Empathy is below zero.
    assert _cells(overall, "ChatGPT", "ep3")[2] == -1.1
    assert _cells(by_system, "ChatGPT", "ep3")[2] == -2.2


def test_system_level_correlations_of_hanna(by_system) -> None:
    # scipy.stats.kendalltau over sums of ratings in sixths, which are whole numbers, so that ties are exact. Over
    # floating-point means (published: 49 78 73 73 73 72) the last two are 73.3 and 71.9: ties missed by 1e-16.
    assert _cells(by_system, "Beluga-13B", "ep1") == [49.4, 77.8, 73.3, 73.3, 71.9, 70.5]
    assert set(by_system.loc[by_system["kind"] == "judge", "n"]) == {10}
    assert [round(v) for v in _cells(by_system, "length", "ep1")][:5] == [47, 33, 33, 42, 33]


def test_exact_ties_of_system_means_count_as_ties(hanna_table: RatingsTable, by_system) -> None:
    frame = hanna_table.frame
    rows = frame[(frame["criterion"] == "Complexity") & (frame["system"] != "Human")]
    beluga = rows[(rows["judge"] == "Beluga-13B") & (rows["eval_prompt"] == "ep1")]
    people = rows[rows["source"] == "rater"].groupby("system")["rating"].sum()
    sixths = (beluga.set_index("system")["rating"] * 6).round().groupby(level=0).sum().reindex(people.index)
    assert people["GPT"] == people["TD-VAE"]
    assert _cells(by_system, "Beluga-13B", "ep1")[5] == round(100 * kendalltau(people, sixths).statistic, 1)


def test_ceiling_is_refused_where_raters_are_unknown(overall) -> None:
    ceiling = overall[overall["kind"] == "ceiling"]
    assert len(ceiling) == 6
    assert ceiling["value"].isna().all()
    assert ceiling["reason"].str.contains("who gave which rating is not known").all()


def test_ceiling_with_known_raters_is_the_leave_one_out_mean(make_table) -> None:
    table = make_table()
    frame = correlation.correlate(table, CorrelationOptions(ci="none"))
    people = table.frame[table.frame["source"] == "rater"].pivot_table(index="story", columns="rater", values="rating")
    parts = [kendalltau(people[w], people.drop(columns=w).mean(axis=1)).statistic for w in people.columns]
    ceiling = frame[frame["kind"] == "ceiling"].iloc[0]
    assert ceiling["value"] == pytest.approx(np.mean(parts), abs=1e-12)
    assert ceiling["method"] == "leave-one-out, 3 of 3 raters"


def test_with_many_workers_the_ceiling_stands_on_all_their_stories() -> None:
    """Each story has three of 20 workers, of whom none has many: one tau over all stories, nobody dropped."""
    rng = np.random.default_rng(4)
    study = Studies(World(people=20, story_prompts=12, systems=6), rng).study()
    turn = np.argsort(np.argsort(rng.random((study.n, 20)), axis=1), axis=1)
    judge = np.where(turn == 3, study.people, 0).sum(axis=2)
    table = replace(study, people=np.where(turn < 3, study.people, np.nan)).with_judges(one=judge).table()
    frame = correlation.correlate(table, CorrelationOptions(resamples=50)).set_index("kind")
    assert (frame.loc["ceiling", "n"], frame.loc["ceiling", "stories"], frame.loc["judge", "n"]) == (72, 72, 72)
    assert frame.loc["ceiling", "method"].startswith("one rater a story, 20 of 20 draws, boot-inputs")
    assert frame.loc["ceiling", "low"] < frame.loc["ceiling", "value"] < frame.loc["ceiling", "high"]
    (printed,) = correlation.tables(correlation.correlations(table, CorrelationOptions(resamples=50)))
    assert "|pool:20/seed1|" in printed.signature
    assert any(note.startswith("simulated: people are a pool, not a panel") for note in printed.notes)
    other = correlation.correlate(table, CorrelationOptions(resamples=50, seed=2)).set_index("kind")
    assert other.loc["ceiling", "value"] != frame.loc["ceiling", "value"]


def test_what_stories_that_were_lost_could_do_is_computed_and_printed(make_table) -> None:
    def lost(system: int, prompt: int, repeat: int) -> str | None:
        return "refused" if prompt < 3 else None

    table = make_table(lost=lost)
    row = correlation.correlate(table, CorrelationOptions(ci="none")).query("kind == 'judge'").iloc[0]
    frame = table.frame
    judge = frame[frame["source"] == "judge"].groupby("story", sort=False)["rating"].mean()
    people = frame[frame["source"] == "rater"].groupby("story", sort=False)["rating"].mean().round(9)
    for name, place in (("lost_lowest", 1.0), ("lost_highest", 5.0), ("lost_middle", judge.median())):
        expected = kendalltau(judge.fillna(place).round(9), people.reindex(judge.index)).statistic
        assert row[name] == pytest.approx(expected, abs=1e-12)
    (printed,) = correlation.tables(correlation.correlations(table, CorrelationOptions(ci="none")))
    assert {"lost_lowest", "lost_highest", "lost_middle"} <= {column.key for column in printed.columns}
    assert any(
        note.startswith("lost lowest, lost highest, lost middle: the same with all stories") for note in printed.notes
    )
    (whole,) = correlation.tables(correlation.correlations(make_table(), CorrelationOptions(ci="none")))
    assert not [column for column in whole.columns if column.key.startswith("lost")]


def test_people_and_control_are_named_on_each_rows_own_stories(make_table) -> None:
    """Two judges, of whom one lost a quarter: one more person, on its stories stand in its row."""
    whole = make_table(text="once upon a time")
    part = whole.frame[whole.frame["source"] == "judge"].assign(eval_prompt="ep2")
    gone = part["story_prompt"].isin(["prompt 0", "prompt 1", "prompt 2"])
    part.loc[gone, ["rating", "status"]] = [np.nan, "refused"]
    table = replace(whole, frame=pd.concat([whole.frame, part], ignore_index=True))

    def predict(stories, people, criterion):
        return SimpleNamespace(
            values=stories["words"].to_numpy(dtype=float),
            how="surface:test",
            source=ControlSource.OUT_OF_FOLD,
            reason=None,
        )

    rows = correlation.correlate(table, CorrelationOptions(ci="none"), predict=predict)
    kept = whole.frame[~whole.frame["story_prompt"].isin(["prompt 0", "prompt 1", "prompt 2"])]
    alone = correlation.correlate(replace(whole, frame=kept), CorrelationOptions(ci="none"), predict=predict)
    row = rows[(rows["kind"] == "judge") & (rows["eval_prompt"] == "ep2")].iloc[0]
    bars = alone.set_index("kind")["value"]
    assert row["people_same"] == pytest.approx(bars["ceiling"], abs=1e-12)
    assert row["control_same"] == pytest.approx(bars["control"], abs=1e-12)
    assert row["leave_one_out"] == pytest.approx(alone.set_index("kind").loc["judge", "leave_one_out"], abs=1e-12)
    full = rows[(rows["kind"] == "judge") & (rows["eval_prompt"] == "ep1")].iloc[0]
    assert full["people_same"] == pytest.approx(rows.set_index("kind").loc["ceiling", "value"])
    (printed,) = correlation.tables(correlation.correlations(table, CorrelationOptions(ci="none"), predict=predict))
    assert {"people_same", "control_same"} <= {column.key for column in printed.columns}
    assert any("judges rated 75 to 100 % of the stories that people rated" in note for note in printed.notes)


def test_notes_say_how_many_readings_stand_on_each_side(make_table) -> None:
    (printed,) = correlation.tables(correlation.correlations(make_table(), CorrelationOptions(ci="none")))
    assert (
        "leave-one-out sets the mean of 3 repeats of a judge and one reading of one person against the mean of the 2 "
        'others (single repeats: readings="single"); the judge\'s own row is against the mean of all 3 people'
    ) in printed.notes
    (single,) = correlation.tables(
        correlation.correlations(make_table(), CorrelationOptions(ci="none", readings="single"))
    )
    assert any(note.startswith("leave-one-out sets one repeat of a judge and one reading") for note in single.notes)
    assert "|readings:single|" in single.signature


def test_a_lost_repeat_is_left_out_of_the_mean_and_a_lost_story_out_of_the_pairs(make_table) -> None:
    def lost(system: int, prompt: int, repeat: int) -> str | None:
        if (system, prompt) == (0, 0):
            return "refused"
        return "no_rating" if (system, prompt, repeat) == (1, 1, 2) else None

    table = make_table(lost=lost)
    row = correlation.correlate(table, CorrelationOptions(ci="none")).query("kind == 'judge'").iloc[0]
    frame = table.frame
    judge = frame[frame["source"] == "judge"].groupby("story")["rating"].mean()
    people = frame[frame["source"] == "rater"].groupby("story")["rating"].mean()
    keep = judge.notna()
    expected = kendalltau(judge[keep].round(9), people.reindex(judge.index)[keep].round(9)).statistic
    assert row["value"] == pytest.approx(expected, abs=1e-12)
    assert (row["n"], row["unrated"], row["missing"]) == (47, 1, "no_rating 1, refused 3")


def test_a_stuck_judge_is_undefined_and_never_zero(make_table) -> None:
    table = make_table()
    is_judge = table.frame["source"] == "judge"
    table.frame.loc[is_judge, "rating"] = 3.0
    row = correlation.correlate(table).query("kind == 'judge'").iloc[0]
    assert np.isnan(row["value"])
    assert row["reason"] == "undefined because the judge's ratings are all equal"


@pytest.mark.parametrize("level", ["overall", "system", "by-item", "by-system"])
@pytest.mark.parametrize("coefficient", ["kendall", "spearman", "pearson"])
def test_intervals_hold_their_value_and_repeat_with_the_seed(make_table, level: str, coefficient: str) -> None:
    options = CorrelationOptions(coefficient=coefficient, level=level, resamples=200, seed=3)
    table = make_table(systems=6)
    row = correlation.correlate(table, options).query("kind == 'judge'").iloc[0]
    assert row["low"] <= row["value"] <= row["high"]
    assert level == "system" or row["low"] < row["high"]  # six systems so far apart have one order only
    again = correlation.correlate(table, options).query("kind == 'judge'").iloc[0]
    assert (row["low"], row["high"]) == (again["low"], again["high"])
    name = "true means" if level == "system" else "expanded percentile"
    assert f"boot-inputs, {name}, 95 %" in str(row["method"])


def test_rows_of_one_table_share_their_resamples(make_table) -> None:
    table = make_table(judged=("Relevance",))
    twin = table.frame[table.frame["source"] == "judge"].assign(eval_prompt="ep2")
    table = replace(table, frame=pd.concat([table.frame, twin], ignore_index=True))
    rows = correlation.correlate(table, CorrelationOptions(resamples=100)).query("kind == 'judge'")
    assert len(rows) == 2
    assert rows["low"].nunique() == rows["high"].nunique() == 1


@pytest.mark.parametrize("level", ["overall", "system"])
def test_stories_are_drawn_in_place_of_too_few_story_prompts_and_that_is_said(make_table, level: str) -> None:
    options = CorrelationOptions(level=level, resamples=200)
    (printed,) = correlation.tables(correlation.correlations(make_table(prompts=3), options))
    assert "|ci:toy:boot-stories|" in printed.signature
    assert any(note.startswith("toy: only 3 story-prompts, too few to draw: stories are") for note in printed.notes)
    judge = next(row["value"] for row in printed.rows if row["kind"] == "judge")
    assert judge.method.startswith("boot-stories, ")
    assert judge.low < judge.high
    # Both are drawn, or neither: too few story-prompts leave nothing to say of new systems and story-prompts.
    (both,) = correlation.tables(
        correlation.correlations(make_table(systems=6, prompts=3), CorrelationOptions(level=level, ci="boot-both"))
    )
    assert any("fewer than 5 story-prompts" in note for note in both.notes)
    assert all(row["value"].low is None for row in both.rows)


@pytest.mark.parametrize("kind", ["auto", "percentile", "expanded"])
def test_an_interval_holds_its_own_estimate(hanna_table: RatingsTable, kind: str) -> None:
    # Resamples carry the noise of means twice: percentiles of HANNA's system-level tau lay below it, 82.2 [61.5, 81.5].
    options = CorrelationOptions(drop_systems=("Human",), level="system", interval_kind=kind, resamples=300)
    rows = correlation.correlate(hanna_table, options).dropna(subset=["low"])
    assert len(rows) > 50
    assert (rows["low"] <= rows["value"]).all()
    assert (rows["value"] <= rows["high"]).all()
    if kind == "percentile":
        assert rows["method"].str.contains("extended to its estimate").any()


def test_a_system_level_table_says_how_far_people_tell_systems_apart(make_table) -> None:
    options = CorrelationOptions(level="system", resamples=50)
    (printed,) = correlation.tables(correlation.correlations(make_table(prompts=20), options))
    (note,) = [note for note in printed.notes if "people's means tell apart" in note]
    pairs = re.search(r"Relevance (\d+) of 6 pairs, reliability (\S+)$", note)
    assert pairs
    assert 0 < int(pairs[1]) <= 6
    assert 0.5 < float(pairs[2]) <= 1
    assert not any("do not share" in note for note in printed.notes)
    table = make_table(prompts=20)
    frame = table.frame[~((table.frame["system"] == "system 1") & (table.frame["story_prompt"] == "prompt 2"))]
    (printed,) = correlation.tables(correlation.correlations(replace(table, frame=frame), options))
    assert any("the systems do not share their story-prompts" in note for note in printed.notes)


def test_the_control_is_asked_for_each_criterion_and_labelled(make_table) -> None:
    asked = []

    def predict(stories, people, criterion):
        asked.append((criterion, list(stories.columns), len(people)))
        values = stories["text"].str.len().to_numpy(dtype=float) + np.arange(len(stories))
        return SimpleNamespace(
            values=values, how="surface:refit/5-fold/seed1", source=ControlSource.OUT_OF_FOLD, reason=None
        )

    table = make_table(judged=("Relevance", "Empathy"), rated=("Relevance", "Empathy"), text="once upon a time")
    (printed,) = correlation.tables(correlation.correlations(table, predict=predict))
    columns = ["story", "story_prompt", "system", "words", "text"]
    assert asked == [(name, columns, 48) for name in ("Relevance", "Empathy")]
    labels = [row["judge"] for row in printed.rows]
    assert labels == [PEOPLE_NAME, "openai/m", f"{CONTROL_NAME} (out of fold)"] * 3  # two criteria and their mean
    assert "not a language model" in CONTROL_NAME
    assert "|control:surface:refit/5-fold/seed1|" in printed.signature
    without = correlation.correlate(table, CorrelationOptions(control=False), predict=predict)
    assert "control" not in set(without["kind"])


@pytest.mark.parametrize(
    ("empathy", "words"),
    [(ControlSource.SHIPPED, "shipped model"), (ControlSource.OUT_OF_FOLD, "shipped model or out of fold")],
)
def test_a_control_that_was_not_refitted_is_not_called_out_of_fold(
    make_table, empathy: ControlSource, words: str
) -> None:
    sources = {"Relevance": ControlSource.SHIPPED, "Empathy": empathy}

    def predict(stories, people, criterion):
        values = np.arange(len(stories), dtype=float)
        return SimpleNamespace(values=values, how="surface:test", source=sources[criterion], reason=None)

    table = make_table(judged=tuple(sources), rated=tuple(sources), text="once upon a time")
    result = correlation.correlations(table, predict=predict)
    (printed,) = correlation.tables(result)
    assert [row["judge"] for row in printed.rows if row["kind"] == "control"] == [f"{CONTROL_NAME} ({words})"] * 2
    assert any(note.startswith("control: the shipped model, fitted on other stories") for note in printed.notes)
    (drawn,) = correlation_grid.layouts(result)
    assert [row.kind for row in drawn.rows] == ["ceiling", "judge", "control"]
    assert drawn.control.startswith("the shipped model, fitted on other stories")


def test_the_control_without_texts_is_undefined(make_table) -> None:
    frame = correlation.correlate(make_table(), predict=lambda *_: pytest.fail("asked without texts"))
    row = frame[frame["kind"] == "control"].iloc[0]
    assert "texts are not in the result folder" in row["reason"]


def test_a_control_that_saw_the_stories_says_so_and_not_that_there_are_few(make_table) -> None:
    why = (
        "the control cannot be refitted (that takes 100 rated stories, for two story-prompts or more), and its shipped "
        "model was fitted on the story-prompts of 48 of these 48 stories"
    )

    def predict(stories, people, criterion):
        values = np.full(len(stories), np.nan)
        return SimpleNamespace(values=values, how="surface:none", source=ControlSource.UNAVAILABLE, reason=why)

    for level in ("overall", "system"):
        options = CorrelationOptions(level=level, resamples=20)
        (printed,) = correlation.tables(correlation.correlations(make_table(text="once upon"), options, predict))
        (row,) = [row for row in printed.rows if row["kind"] == "control"]
        assert row["value"].reason == f"control unavailable: {why}"
        assert not any("fewer than 3 stories" in str(value) for value in (*printed.notes, *row.values()))


def test_the_real_control_gives_out_of_fold_ratings(mans_table: RatingsTable) -> None:
    from judge.analysis.inputs.control import control_predictions

    # People only: a judge that repeats their mean stands in, as the table needs a judge to have rows.
    people = mans_table.frame
    means = people.groupby(["story", "story_prompt", "system"], as_index=False)["rating"].mean()
    judge = means.assign(
        run="r",
        judge="copy",
        dataset="mans_roc",
        criterion="Overall",
        eval_prompt="ep1",
        source="judge",
        repeat=0,
        status="ok",
    )
    table = replace(mans_table, frame=pd.concat([people, judge], ignore_index=True))
    frame = correlation.correlate(table, CorrelationOptions(ci="none"), predict=control_predictions)
    rows = frame.set_index("kind")
    assert rows.loc["judge", "value"] == pytest.approx(1.0)
    assert 0 < rows.loc["control", "value"] < 0.9
    assert rows.loc["control", "n"] == 1000


def test_one_criterion_of_the_people_takes_all_and_says_so(make_table) -> None:
    table = make_table(judged=("Relevance", "Empathy"), rated=("Overall",))
    (printed,) = correlation.tables(correlation.correlations(table))
    judged = [row for row in printed.rows if row["judge"] == "openai/m"]
    assert [(row["criterion"], row["against"]) for row in judged] == [
        ("Relevance", "Overall"),
        ("Empathy", "Overall"),
        ("mean of 2 criteria", "Overall"),
    ]
    assert "toy: people rated only Overall; every criterion of the judge is compared with it" in printed.notes


def test_against_names_a_criterion_of_the_people(make_table) -> None:
    table = make_table(judged=("Relevance",), rated=("Relevance", "Overall"))
    row = correlation.correlate(table, CorrelationOptions(against="overall")).query("kind == 'judge'").iloc[0]
    assert row["against"] == "Overall"
    with pytest.raises(SpecError, match="did you mean 'Overall'"):
        correlation.correlate(table, CorrelationOptions(against="Overal"))


def test_a_criterion_nobody_rated_is_undefined(make_table) -> None:
    frame = correlation.correlate(make_table(judged=("Relevance", "Empathy"), rated=("Relevance",)))
    row = frame[frame["criterion"] == "Empathy"].iloc[0]
    assert row["reason"].startswith("people did not rate this criterion; they rated Relevance")
    nobody = correlation.correlate(make_table(rated=()))
    assert nobody["reason"].tolist() == ["no person rated the stories of toy"]


def test_an_unknown_system_to_drop_is_an_error(make_table) -> None:
    with pytest.raises(SpecError, match="system 'sistem 1' is not known; did you mean 'system 1'"):
        correlation.correlate(make_table(), CorrelationOptions(drop_systems=("sistem 1",)))


def test_the_mean_over_criteria_is_of_the_same_resamples(hanna_table: RatingsTable) -> None:
    options = CorrelationOptions(drop_systems=("Human",), resamples=200)
    rows = correlation.correlate(narrowed(hanna_table, BELUGA), options)
    mean = rows[(rows["kind"] == "mean") & (rows["judge"] == "Beluga-13B") & (rows["eval_prompt"] == "ep1")].iloc[0]
    cells = rows[(rows["kind"] == "judge") & (rows["judge"] == "Beluga-13B") & (rows["eval_prompt"] == "ep1")]
    assert mean["value"] == pytest.approx(cells["value"].mean())
    # Criteria of one judge go together, so the mean is less sure than six independent ones and surer than one.
    width, widths = mean["high"] - mean["low"], cells["high"] - cells["low"]
    assert widths.mean() / 6**0.5 < width < widths.mean()


def test_given_length_is_the_partial_correlation(hanna_table: RatingsTable) -> None:
    options = CorrelationOptions(drop_systems=("Human",), given="length", resamples=50)
    kept = Selection(criteria=("Complexity",), judges=("Beluga-13B", "length"), eval_prompts=("ep1",))
    rows = correlation.correlate(narrowed(hanna_table, kept), options)
    by_judge = rows[rows["criterion"] == "Complexity"].set_index(["judge", "eval_prompt"])
    row = by_judge.loc[("Beluga-13B", "ep1")]
    frame = hanna_table.frame[hanna_table.frame["system"] != "Human"]
    part = frame[frame["criterion"] == "Complexity"]
    people = part[part["source"] == "rater"].groupby("story", sort=False)["rating"].mean()
    judged = part[(part["judge"] == "Beluga-13B") & (part["eval_prompt"] == "ep1")].set_index("story")["rating"]
    words = hanna_table.stories.xs("hanna", level=0)["words"].astype(float).reindex(people.index)
    rounded = people.round(9)
    xy, xz, yz = (
        kendalltau(a, b).statistic
        for a, b in ((judged.reindex(people.index), rounded), (judged.reindex(people.index), words), (rounded, words))
    )
    assert row["given"] == pytest.approx((xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2)), abs=1e-12)
    assert row["given_low"] < row["given"] < row["given_high"]
    assert abs(by_judge.loc[("length", "ep1"), "given"] or 0) < 1e-9 or np.isnan(
        by_judge.loc[("length", "ep1"), "given"]
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"given": "length", "level": "by-item"}, "needs level overall or system"),
        ({"given": "colour"}, 'given="colour" is not known'),
    ],
)
def test_a_third_variable_that_cannot_be_held_fixed_is_refused(make_table, options: dict, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        correlation.correlate(make_table(), CorrelationOptions(**options))


def test_the_ceilings_interval_is_on_the_same_resamples(make_table) -> None:
    rows = correlation.correlate(make_table(prompts=30), CorrelationOptions(resamples=200)).set_index("kind")
    ceiling = rows.loc["ceiling"]
    assert ceiling["low"] < ceiling["value"] < ceiling["high"]
    assert "leave-one-out, 3 of 3 raters" in ceiling["method"]


@pytest.mark.parametrize("ci", ["boot-inputs", "boot-both", "boot-systems", "boot-stories"])
def test_every_draw_has_both_kinds_of_interval(make_table, ci: str) -> None:
    table = make_table(systems=6, prompts=20)
    for kind, name in (("percentile", "percentile"), ("bca", "BCa")):
        rows = correlation.correlate(table, CorrelationOptions(ci=ci, interval_kind=kind, resamples=200))
        row = rows.set_index("kind").loc["judge"]
        assert row["method"].startswith(f"{ci}, {name}, 95 %")
        assert row["low"] <= row["value"] <= row["high"]
        assert row["low"] < row["high"]


def test_calibrated_intervals_draw_boot_both_in(hanna_table: RatingsTable) -> None:
    widths = []
    for kind in ("percentile", "calibrated"):
        options = CorrelationOptions(
            drop_systems=("Human",), ci="boot-both", interval_kind=kind, resamples=300, control=False
        )
        rows = correlation.correlate(narrowed(hanna_table, BELUGA), options)
        cells = rows[(rows["judge"] == "Beluga-13B") & (rows["kind"] == "judge")]
        widths.append(cells["high"] - cells["low"])
    assert (widths[1] <= widths[0] + 1e-12).all()
    assert widths[1].mean() < 0.99 * widths[0].mean()
    with pytest.raises(SpecError, match="counts thrice"):
        CorrelationOptions(interval_kind="calibrated")


def test_new_systems_widen_the_interval(hanna_table: RatingsTable) -> None:
    widths = {}
    for ci in ("boot-inputs", "boot-both"):
        options = CorrelationOptions(drop_systems=("Human",), ci=ci, resamples=300, control=False)
        rows = correlation.correlate(narrowed(hanna_table, BELUGA), options)
        cells = rows[rows["kind"] == "judge"]
        widths[ci] = (cells["high"] - cells["low"]).mean()
    assert widths["boot-both"] > 1.3 * widths["boot-inputs"]


def test_tables_warn_of_intervals_that_simulations_found_wanting(make_table) -> None:
    table = make_table(systems=6, prompts=20)
    asked = {
        ("boot-both", "bca", "overall"): "with 10 systems or fewer, intervals for new systems are rough",
        ("boot-inputs", "bca", "system"): "BCa is far too narrow at system level",
        ("boot-both", "percentile", "system"): "percentile intervals at system level are too wide",
    }
    for (ci, kind, level), sentence in asked.items():
        options = CorrelationOptions(ci=ci, interval_kind=kind, level=level, resamples=50)
        (printed,) = correlation.tables(correlation.correlations(table, options))
        assert any(note.startswith(sentence) for note in printed.notes)
    (printed,) = correlation.tables(correlation.correlations(table, CorrelationOptions(resamples=50)))
    assert any(note.startswith("only 20 story-prompts: in simulated studies with 12") for note in printed.notes)
    (printed,) = correlation.tables(correlation.correlations(make_table(prompts=30), CorrelationOptions(resamples=50)))
    assert not any("simulated studies" in note for note in printed.notes)
