"""Preferences of simulated judges, whose strengths, noise and lean are known, and of StoryER's pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference import ranked as module
from judge.analysis.preference.agreement import CONTROL, LONGER, AgreementRow, SurfaceControl
from judge.analysis.preference.ranked import TOPICS, Ranked, ranked, tables
from judge.analysis.preference.sides import datasets
from judge.base.estimate import Estimate
from judge.base.printing.tables import render
from judge.inputs.datasets import open_dataset
from judge.ratings.preferences_table.journaled import COLUMNS, PreferencesTable, implied, pairs_within
from judge.stats.regression import ordinal as pairwise_logistic
from judge.stats.resampling.bootstrap import folds_of_groups
from tests.analysis.preference.tables import of_dataset, simulated, stories_of


@pytest.fixture(scope="module")
def toy() -> Ranked:
    return ranked(simulated())


@pytest.fixture(scope="module")
def storyer(studies: Path) -> PreferencesTable:
    """The 700 pairs of StoryER's released file."""
    return of_dataset(open_dataset("storyer_pairs"))


def row(result: Ranked, judge: str) -> AgreementRow:
    return next(one for one in result.agreement.rows if one.judge == judge)


def test_a_lean_to_the_first_place_is_told_from_noise(toy: Ranked) -> None:
    leaning, even = (one for one in toy.order.rows if one.third is None)
    assert leaning.position.low is not None
    assert leaning.position.low < 0.8 < leaning.position.high
    assert even.position.low < 0 < even.position.high
    assert leaning.place.low > 0
    assert even.place.low < 0 < even.place.high
    assert leaning.same.value - leaning.swapped.value == pytest.approx(leaning.place.value)


def test_systems_come_in_their_order_with_letters_and_rank_sets(toy: Ranked) -> None:
    for one in toy.systems.standings:
        assert [row.system for row in one.rows] == [f"system {k}" for k in (3, 2, 1, 0)]
        assert sum(row.strength.value for row in one.rows) == pytest.approx(0, abs=1e-9)
        assert one.rows[0].set[0] == 1
        assert one.rows[3].set[1] == 4
        assert not set(one.rows[0].group) & set(one.rows[3].group)
        below = one.matrix[np.tril_indices(4, -1)]
        assert below + one.matrix.T[np.tril_indices(4, -1)] == pytest.approx(1.0)
    assert toy.systems.standings[0].length.value > 0  # longer stories are the better ones here


def test_agreement_by_hand(toy: Ranked) -> None:
    table = simulated()
    frame = table.frame.assign(lead=table.frame["preference"].map({"first": 1, "second": -1, "tie": 0}))
    frame["lead"] *= np.where(frame["first"] < frame["second"], 1, -1)
    net = {}
    for who, part in (("people", frame[frame["source"] == "rater"]), ("j1", frame[frame["judge"] == "openai/j1"])):
        net[who] = np.sign(part.groupby("pair")["lead"].mean())
    both = pd.DataFrame(net)
    decided = both[both["people"] != 0]
    product = decided["people"] * decided["j1"]
    found = row(toy, "openai/j1").agreement
    assert found.half.value == pytest.approx(((product + 1) / 2).mean())
    assert found.strict.value == pytest.approx((product > 0).mean())
    assert (found.ties, found.people_ties) == ((both["j1"] == 0).sum(), (both["people"] == 0).sum())
    turned = pd.concat([both, -both])
    sklearn = pytest.importorskip("sklearn.metrics")
    assert found.kappa.value == pytest.approx(sklearn.cohen_kappa_score(turned["people"], turned["j1"]))


def test_every_row_and_number_is_typed(toy: Ranked) -> None:
    for one in toy.agreement.rows:
        assert all(isinstance(number, Estimate) for number in one.numbers().values())
    assert {one.kind for one in toy.agreement.rows} == {"people", "longer", "control", "judge"}
    for topic in TOPICS:
        frame = getattr(toy, topic).frame
        assert len(frame)
        assert frame.attrs["signature"] == toy.agreement.signature


def test_tables_and_frame_hold_the_same_numbers(toy: Ranked) -> None:
    printed = tables(toy, ["agreement"])[0]
    frame = toy.agreement.frame
    assert [one["accuracy"].value for one in printed.rows] == frame["accuracy"].tolist()
    (long,) = tables(toy, ["agreement"], long=True)
    assert [one["kappa"] for one in long.rows] == frame["kappa"].tolist()


def test_each_side_is_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    whole = module.systems.standings
    monkeypatch.setattr(module.systems, "standings", lambda *given: calls.append(given) or whole(*given))
    tables(ranked(simulated(prompts=6)))
    assert len(calls) == 3


def test_no_line_is_wider_than_a_screen(toy: Ranked) -> None:
    for table in tables(toy):
        assert max(map(len, render(table, "table", width=80).splitlines())) <= 80


def test_preferences_that_were_lost_are_counted_and_not_made_up() -> None:
    table = simulated(prompts=8)
    frame = table.frame.copy()
    gone = np.flatnonzero((frame["judge"] == "openai/j1").to_numpy())[::5]
    frame.loc[gone, ["preference", "status"]] = [None, "no_preference"]
    found = ranked(PreferencesTable(frame, table.stories, table.facts))
    assert row(found, "openai/j1").lost == gone.size
    assert f"unparsed:{100 * gone.size / (frame['source'] == 'judge').sum():.1f}%" in found.agreement.signature


def test_ratings_imply_the_sign_of_their_means() -> None:
    story = [("toy", f"s{k}", "p", f"system {k}", 10, "ten words") for k in range(4)]
    ratings = pd.DataFrame(
        [("r", "openai/j", "toy", f"s{k}", "Overall", "ep1", "judge", rating) for k, rating in
         ((0, 2.0), (0, 4.0), (1, 3.0), (2, 5.0))]
        + [(None, None, "toy", f"s{k}", "Overall", None, "rater", float(k)) for k in range(4)],
        columns=["run", "judge", "dataset", "story", "criterion", "eval_prompt", "source", "rating"],
    )  # fmt: skip
    rows = implied(ratings, pairs_within(stories_of(story)))
    assert list(rows.columns) == list(COLUMNS)
    judge = rows[rows["judge"].notna()].set_index("pair")["preference"]
    assert judge["s0|s1"] == "tie"
    assert judge["s1|s2"] == "second"
    assert pd.isna(judge["s0|s3"])
    assert (rows.loc[rows["preference"].isna(), "status"] == "not_answered").all()
    people = rows[rows["judge"].isna()]
    assert set(people["preference"]) == {"second"}
    assert set(rows["source"]) == {"implied"}


def test_a_judges_comparisons_are_held_against_its_own_ratings() -> None:
    table = simulated(prompts=20)
    rng = np.random.default_rng(5)
    ratings = pd.DataFrame(
        [
            ("r", judge, "toy", story, "Overall", "ep1", "judge", float(int(story[-1]) + rng.normal(0, 0.5)))
            for _, story in table.stories.index
            for judge in ("openai/j1",)
        ],
        columns=["run", "judge", "dataset", "story", "criterion", "eval_prompt", "source", "rating"],
    )
    unique = table.frame.drop_duplicates("pair")
    frame = pd.concat([table.frame, implied(ratings, unique[list(COLUMNS)])], ignore_index=True)
    found = ranked(PreferencesTable(frame, table.stories, table.facts))
    own, compared = row(found, "openai/j1, ratings"), row(found, "openai/j1")
    assert own.kind == "implied"
    assert compared.over_implied.value == pytest.approx(
        compared.agreement.half.value - own.agreement.half.value, abs=1e-9
    )
    assert not row(found, "openai/j2").over_implied.defined


def test_rows_stand_under_their_own_criterion() -> None:
    table = simulated(prompts=20)
    rng = np.random.default_rng(6)
    ratings = pd.DataFrame(
        [
            ("r", judge, "toy", story, criterion, ep, source, float(int(story[-1]) + rng.normal(0, 0.5)))
            for _, story in table.stories.index
            for criterion in ("Overall", "Plausibility")
            for judge, ep, source in ((None, None, "rater"), ("openai/j1", "ep1", "judge"))
        ],
        columns=["run", "judge", "dataset", "story", "criterion", "eval_prompt", "source", "rating"],
    )
    unique = table.frame.drop_duplicates("pair")
    frame = pd.concat([table.frame, implied(ratings, unique[list(COLUMNS)])], ignore_index=True)
    rows = ranked(PreferencesTable(frame, table.stories, table.facts)).agreement.rows
    # People compared stories by Overall alone: what their ratings of Plausibility imply says nothing of that.
    assert {row.judge for row in rows} >= {"people, ratings", "openai/j1, ratings"}
    assert {(row.criterion, row.against) for row in rows} == {(name, name) for name in ("Overall", "Plausibility")}


def test_a_judges_only_criterion_is_held_against_peoples_only_one() -> None:
    table = simulated(prompts=10)
    frame = table.frame.assign(criterion=np.where(table.frame["source"] == "judge", "Quality", "Overall"))
    rows = ranked(PreferencesTable(frame, table.stories, table.facts)).agreement.rows
    assert ("Quality", "Overall") in {(row.criterion, row.against) for row in rows if row.judge == "openai/j1"}


def test_dropped_systems_are_in_no_pair() -> None:
    found = ranked(simulated(prompts=6), RankOptions(drop_systems=("system 0",)))
    assert {row.system for one in found.systems.standings for row in one.rows} == {f"system {k}" for k in (1, 2, 3)}


def test_storyer_longer_wins_and_the_control_out_of_fold(storyer: PreferencesTable) -> None:
    # Acc 62.5 [56.1, 68.6] and 65.0 (63.4-66.9 over five foldings): golden/storyer/rank_pairs_700_and_wp200.csv.
    found = ranked(storyer)
    longer = row(found, LONGER).agreement.half
    assert (100 * longer.value, longer.n) == (pytest.approx(62.5, abs=0.05), 700)
    assert (100 * longer.low, 100 * longer.high) == (pytest.approx(56.1, abs=0.5), pytest.approx(68.6, abs=0.5))
    assert 100 * row(found, LONGER).agreement.macro.value == pytest.approx(66.12, abs=0.05)
    assert 100 * row(found, CONTROL).agreement.half.value == pytest.approx(65.0, abs=1.5)


def test_five_foldings_of_the_control(storyer: PreferencesTable) -> None:
    ((pairs, (people,)),) = datasets(storyer)
    surface = SurfaceControl(pairs, 1)._surface
    groups = [str(code) for code in pairs.prompt]
    reached = []
    for seed in range(1, 6):
        fold = folds_of_groups(groups, 5, seed)
        odds = pairwise_logistic.out_of_fold(surface.rows[pairs.a] - surface.rows[pairs.b], people.net, fold, 100.0)
        reached.append(100 * float(np.mean(np.sign(odds) == people.net)))
    assert np.mean(reached) == pytest.approx(65.0, abs=1.5)


def test_whoever_stands_first_changes_nothing(storyer: PreferencesTable) -> None:
    frame = storyer.frame.copy()
    turned = frame.rename(
        columns={"first": "second", "second": "first", "first_system": "second_system", "second_system": "first_system"}
    )
    turned["preference"] = turned["preference"].map({"first": "second", "second": "first", "tie": "tie"})
    again = ranked(PreferencesTable(turned[list(COLUMNS)], storyer.stories, ()))
    pd.testing.assert_frame_equal(again.agreement.frame, ranked(storyer).agreement.frame)
