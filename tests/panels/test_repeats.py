"""How many repeats and how to sum them: against plain numbers, formulas' cases and a run with log-probabilities."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judge.analysis import repeats
from judge.analysis.options.table_options import RepeatsOptions
from judge.analysis.repeats import Repeats
from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.ratings.ratings_table import RatingsTable, read
from judge.stats.agreement import confusion as distance
from judge.stats.correlation.kendall import codes, tau_b
from tests.panels.study import points, stories_of, table_of

OPTIONS = RepeatsOptions(resamples=100)


def _study(many: int = 5, seed: int = 1) -> RatingsTable:
    rng = np.random.default_rng(seed)
    stories = stories_of(30, 4)
    quality = rng.normal(size=len(stories))
    people = {(None, f"r{r}"): points(quality, rng) for r in range(3)}
    table = table_of(stories, points(quality, rng, 1.5), people)
    judged = table.frame[table.frame["source"] == "judge"]
    rows = [judged.assign(repeat=k, rating=points(quality, rng, 1.5)) for k in range(many)]
    frame = pd.concat([*rows, table.frame[table.frame["source"] == "rater"]], ignore_index=True)
    return replace(table, frame=frame.astype({"repeat": "Int64"}))


@pytest.fixture(scope="module")
def found() -> Repeats:
    """Five noisy repeats of a judge that sees quality."""
    return repeats.repeats(_study(), OPTIONS)


def test_more_repeats_agree_better_and_the_formula_says_by_how_much(found: Repeats) -> None:
    values = [row.value.value for row in found.counts]
    assert [row.k for row in found.counts] == [1, 2, 3, 4, 5]
    assert values == sorted(values, key=lambda value: value or 0.0)
    for row in found.counts:
        assert row.predicted == pytest.approx(row.value.value, abs=0.06)


def test_each_number_is_the_mean_over_all_subsets(found: Repeats) -> None:
    frame = _study().frame
    wide = frame[frame["source"] == "judge"].pivot_table(index="story", columns="repeat", values="rating")
    people = frame[frame["source"] == "rater"].groupby("story")["rating"].mean().loc[wide.index]
    taus = [
        tau_b(codes(wide[list(pair)].mean(axis=1).to_numpy()), codes(people.to_numpy()))
        for pair in combinations(wide.columns, 2)
    ]
    assert found.counts[1].value.value == pytest.approx(np.mean(taus))
    assert found.counts[1].subsets == 10
    sums = {row.how: row.value.value for row in found.sums}
    median = tau_b(codes(wide.median(axis=1).to_numpy()), codes(people.to_numpy()))
    assert sums["median"] == pytest.approx(median)
    assert sums["mean"] == pytest.approx(found.counts[-1].value.value)
    mode = next(row for row in found.sums if row.how == "mode")
    assert mode.over.value == pytest.approx((sums["mode"] or 0) - (sums["mean"] or 0))


def test_strata_hold_every_story_once(found: Repeats) -> None:
    assert sum(row.stories for row in found.strata) == 120
    spreads = [row.spread for row in found.strata]
    assert spreads == sorted(spreads)


def test_distances_are_those_of_scipy(found: Repeats) -> None:
    frame = _study().frame
    mine = frame.loc[frame["source"] == "judge", "rating"]
    theirs = frame.loc[frame["source"] == "rater", "rating"]
    (row,) = found.apart
    assert row.wasserstein.value == pytest.approx(stats.wasserstein_distance(mine, theirs))
    both = [side.value_counts(normalize=True).reindex(range(1, 6), fill_value=0.0) for side in (mine, theirs)]
    assert row.variation.value == pytest.approx(float((both[0] - both[1]).abs().sum() / 2))
    assert row.mean.value == pytest.approx(mine.mean() - theirs.mean())
    assert row.by_story.value is not None
    assert row.by_story.value > (row.wasserstein.value or 0)
    assert row.wasserstein.low is not None


def test_the_frame_and_the_tables_come_from_one_value(found: Repeats) -> None:
    counts, sums, strata, apart = repeats.tables(found)
    assert [row["value"] for row in counts.rows] == [row.value for row in found.counts]
    assert [row["over"] for row in sums.rows] == [row.over for row in found.sums]
    assert len(found.frame) == len(counts.rows) + 2 * len(sums.rows) + len(strata.rows) + 4 * len(apart.rows)


def test_one_repeat_has_no_number_of_repeats() -> None:
    one = repeats.repeats(_study(1), OPTIONS)
    assert (one.counts, one.sums) == ((), ())
    assert len(one.strata) in (2, 3)  # ties stay together
    assert one.apart[0].by_story.reason == "no story has several ratings of both"


def test_ratings_between_points_keep_their_mean() -> None:
    ratings = np.array([[1.25, 4.0], [np.nan, 9.0]])
    scale = np.arange(1.0, 6.0)
    counts = distance.counted(ratings, scale)
    assert counts[0] @ scale == pytest.approx(5.25)
    assert counts[1].tolist() == [0, 0, 0, 0, 1]
    assert float(distance.wasserstein(np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), np.array([1.0, 2, 4]))) == 3


def test_expected_values_stand_beside_what_the_same_answers_state(tmp_path: Path) -> None:
    definition = {"name": "t", "dataset": "demo", "judge": "surface", "criteria": "overall", "eval_prompts": ["ep1"]}
    result = ResultFolder(tmp_path / "run")
    sit(Sitting(parse_run_spec(definition, "test"), tmp_path, result, quiet=True))
    token = {"token": "4", "logprob": -0.4, "top_logprobs": [{"token": "3", "logprob": -1.2}]}
    with closing(sqlite3.connect(result.journal)) as db:
        db.execute("UPDATE responses SET text = '4', logprobs = ?", (json.dumps({"content": [token]}),))
        db.execute("UPDATE meta SET value = json_set(value, '$.scoring', 'logprobs') WHERE key = 'definition'")
        db.commit()
    table = read([result.path])
    both = repeats.with_stated(table)
    judged = both.frame[both.frame["source"] == "judge"]
    assert judged["run"].unique().tolist() == ["t", "t, as stated"]
    stated = judged.loc[judged["run"] == "t, as stated", "rating"]
    assert stated.dropna().mod(1).eq(0).all()
    assert judged.loc[judged["run"] == "t", "rating"].mod(1).gt(0).any()
    assert len(stated) * 2 == len(judged)
    plain = _study()
    assert repeats.with_stated(plain) is plain
