"""Coverage counts, whether loss depends on the stories, and bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judge.analysis import correlation
from judge.analysis.coverage import coverage as loss
from judge.analysis.coverage.by_quality import DISTANCE, RATING
from judge.analysis.coverage.counts import CountRow, count
from judge.analysis.coverage.coverage import coverage, tables, with_coverage
from judge.analysis.coverage.coverage import sentence as said
from judge.analysis.diagnose import diagnose
from judge.analysis.options.table_options import CorrelationOptions, CoverageOptions
from judge.questions import sentences
from judge.questions.summary.result import Verdict
from judge.questions.summary.rules import of_loss
from judge.ratings.ratings_table import RatingsTable
from judge.stats.estimation.proportions import Association, with_group


def _lost(system: int, prompt: int, repeat: int) -> str | None:
    if system == 3 and prompt < 9:
        return "no_rating"
    return "not_answered" if (system, prompt, repeat) == (0, 0, 0) else None


def _tests(table: RatingsTable) -> dict[str, Association]:
    return {one.against: one.test for one in coverage(table).tests}


def test_counts_by_system(make_table) -> None:
    counts = count(make_table(lost=_lost), ("system",)).frame.set_index("system")
    assert counts.loc["system 3", ["asked", "answered", "rated", "no_rating"]].tolist() == [36, 36, 9, 27]
    assert counts.loc["system 0", ["asked", "answered", "rated", "not_answered"]].tolist() == [36, 35, 35, 1]
    assert counts.loc["system 1", "share"] == 1.0
    assert coverage(make_table(lost=_lost)).share == pytest.approx(1 - 28 / 144)


def test_loss_that_depends_on_the_system_is_found(make_table) -> None:
    found = _tests(make_table(lost=_lost))
    system = found["system"]
    assert (system.n, system.lost) == (48, 10)
    assert system.p < 0.001
    # Better systems write longer stories in this table, and the best one lost most.
    assert found["length in words"].effect > 0.7
    assert found["people's Relevance"].effect > 0.7


def middling(table: RatingsTable, share: float = 0.4) -> Callable[[int, int, int], str | None]:
    """Loses the stories whose rating by people is nearest the mean of all."""
    people = table.frame[table.frame["source"] == "rater"].groupby("story")["rating"].mean()
    distance = (people - people.mean()).abs()
    gone = set(distance[distance < distance.quantile(share)].index)
    return lambda system, prompt, _: "refused" if f"s{system}-{prompt}" in gone else None


def test_a_judge_that_refuses_the_middling_stories_is_found(make_table) -> None:
    table = make_table(lost=middling(make_table()))
    found = _tests(table)
    # As many good stories as bad ones are lost, which the test of people's rating itself cannot see.
    assert found["people's Relevance"].p > 0.2
    row = found["people's Relevance, distance from its mean"]
    people = table.frame[table.frame["source"] == "rater"].groupby("story")["rating"].mean()
    lost = table.frame[table.frame["status"] == "refused"]["story"].unique()
    distance = (people - people.mean()).abs().round(9)
    test = stats.mannwhitneyu(distance[lost], distance.drop(lost), method="asymptotic")
    assert row.effect == pytest.approx(test.statistic / (len(lost) * (len(distance) - len(lost))))
    assert (row.p < 1e-6, row.effect, row.test) == (True, 0.0, "means, jackknife")
    (sentence,) = coverage(table).findings
    assert sentence.startswith(
        "loss goes with people's ratings: openai/m with ep1 (Relevance) loses the middling stories "
        "(Holm, p < .05, 2 tests)"
    )
    (printed,) = correlation.tables(correlation.correlations(table, CorrelationOptions(ci="none")))
    assert sentence in printed.notes


def test_loss_by_lot_finds_nothing(make_table) -> None:
    rng = np.random.default_rng(5)
    table = make_table(lost=lambda *_: "empty" if rng.random() < 0.1 else None)
    assert table.frame["rating"].isna().any()
    assert coverage(table).findings == ()
    assert coverage(make_table()).findings == ()


def test_stories_that_people_rate_lower_are_named(make_table) -> None:
    sentences = coverage(make_table(lost=lambda system, *_: "refused" if system == 0 else None)).findings
    assert any("openai/m with ep1 (Relevance) loses the worse stories" in one for one in sentences)


def test_coverage_and_diagnosis_make_one_test_of_loss(make_table) -> None:
    """The p, and the words, of what people's ratings have to do with loss are the same in both."""
    table = make_table(lost=middling(make_table()))
    found = {one.kind: one for one in coverage(table).tests if one.words}
    tested = {one.diagnostic: one for one in diagnose(table).findings}
    for kind, name in ((RATING, "loss"), (DISTANCE, "middling loss")):
        assert found[kind].test.p == tested[name].test.p
        assert found[kind].words in (tested[name].kind.above, tested[name].kind.below)
    assert tested["middling loss"].verdict(0.05) == found[DISTANCE].words == "loses the middling stories"


def test_loss_by_lot_is_not_blamed(make_table) -> None:
    rng = np.random.default_rng(5)
    found = _tests(make_table(lost=lambda *_: "empty" if rng.random() < 0.1 else None))
    assert all(test.p > 0.01 for test in found.values())


def test_nothing_lost_is_said(make_table) -> None:
    printed = tables(coverage(make_table()))
    assert coverage(make_table()).tests == ()
    assert "nothing was lost: 144 of 144 repeats have a rating" in printed[3].notes


def test_imported_ratings_are_called_ratings_in_every_place(make_table) -> None:
    table = make_table(lost=_lost)
    told = replace(table, facts=tuple(replace(fact, parser="imported") for fact in table.facts))
    found = coverage(told)
    assert found.total.came == "imported"
    assert sentences.coverage(found) == "116 of 144 imported ratings can be used (lost: no rating 27, not answered 1)."
    printed = " ".join(str(w) for t in tables(found) for w in (t.title, *t.notes, *(c.title for c in t.columns)))
    assert "repeat" not in printed
    assert of_loss(116, 144, found.total.came) == Verdict("19.4 %", "of the ratings imported")


def test_bounds_put_lost_repeats_at_the_ends_of_the_scale(make_table) -> None:
    table = make_table(lost=_lost)
    (row,) = coverage(table).bounds
    ratings = table.frame.loc[table.frame["source"] == "judge", "rating"]
    assert (row.missing, row.scale) == (28, (1, 5))
    assert row.mean.value == pytest.approx(ratings.mean())
    assert row.mean.low == pytest.approx(ratings.fillna(1).mean())
    assert row.mean.high == pytest.approx(ratings.fillna(5).mean())


def test_a_scale_that_is_not_known_is_not_guessed_from_the_ratings_seen(make_table) -> None:
    def without_scale(table):
        return replace(table, facts=tuple(replace(fact, criteria=()) for fact in table.facts))

    lossy = without_scale(make_table(lost=_lost))
    (row,) = coverage(lossy).bounds
    assert (row.missing, row.scale, row.mean.low, row.mean.high) == (28, None, None, None)
    assert row.mean.value == pytest.approx(lossy.frame.loc[lossy.frame["source"] == "judge", "rating"].mean())
    assert str(row.mean.reason).startswith("no interval: the criterion's scale is in no result folder")
    assert tables(coverage(lossy))[-1].rows[0]["scale"] is None
    (whole,) = coverage(without_scale(make_table())).bounds
    assert whole.mean.low == whole.mean.value == whole.mean.high

    measured = correlation.correlate(lossy, CorrelationOptions(resamples=20)).query("kind == 'judge'").iloc[0]
    assert pd.isna(measured["lost_lowest"])
    assert pd.isna(measured["lost_highest"])
    assert measured["lost_middle"] == measured["lost_middle"]


def test_printed_tables_and_the_line_agree(make_table) -> None:
    table = make_table(lost=_lost)
    found = coverage(table, CoverageOptions())
    printed = tables(found)
    assert [t.title for t in printed[:3]] == [
        "Coverage by judge and Eval-Prompt",
        "Coverage by judge and criterion",
        "Coverage by judge and system",
    ]
    assert printed[0].rows[0]["rated"] == 116
    assert said(found.total) == "144 asked, 143 answered, 116 rated, 80.6 % (no_rating 27, not_answered 1)"
    (noted,) = with_coverage(table, printed[:1], "csv")
    assert noted.notes[0] == f"coverage: {said(found.total)}"


def test_frames_and_tables_come_from_the_same_counts(make_table, monkeypatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(loss, "with_group", lambda *a: made.append(a) or with_group(*a))
    found = coverage(make_table(lost=_lost))
    first, *_, tested, bounded = tables(found)
    assert len(made) == 1
    assert {type(row) for row in found.by_eval_prompt.rows} == {CountRow}
    assert {type(one) for one in found.tests} == {loss.LossTest}
    assert found.frame["rated"].tolist() == [row["rated"] for row in first.rows]
    assert found.frame.attrs["signature"] == first.signature
    assert [row["p"] for row in tested.rows] == [one.test.p for one in found.tests]
    assert [row["mean"] for row in bounded.rows] == [one.mean for one in found.bounds]
    assert found.total.frame["share"].tolist() == [found.share]


def test_why_answers_are_ambiguous_is_counted_beside_the_causes(make_table) -> None:
    table = make_table(lost=lambda system, prompt, _: "ambiguous" if prompt < system else None)
    flags = table.frame["flags"].where(table.frame["system"] != "system 2", "cut;list")
    flagged = replace(table, frame=table.frame.assign(flags=flags.mask(table.frame["system"] == "system 3", "quoted")))
    counts = count(flagged, ("system",)).frame.set_index("system")
    assert counts["ambiguous"].tolist() == [0, 3, 6, 9]
    assert counts["list"].tolist() == [0, 0, 6, 0]
    assert counts["quoted"].tolist() == [0, 0, 0, 9]
    assert said(coverage(flagged).total).endswith("(ambiguous 18)")
    printed = tables(coverage(flagged))[0]
    assert [c.title for c in printed.columns][-3:] == ["ambiguous", "(list)", "(quoted)"]
    assert any("(list): ambiguous answers" in note for note in printed.notes)


def test_dropped_systems_are_not_counted(make_table) -> None:
    table = make_table(lost=_lost)
    assert coverage(table, CoverageOptions(drop_systems=("system 3", "system 0"))).share == 1.0
    assert count(table, ("judge",), drop_systems=["system 3"]).frame.iloc[0]["asked"] == 108
