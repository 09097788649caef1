"""The guard over pooled correlations: planted reversals are found, honest studies are left in peace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import judge
from judge.analysis import classes, correlation
from judge.analysis.classes import Classes
from judge.analysis.options.table_options import CorrelationOptions
from judge.show.report.inputs import ReportInputs, ReportOptions
from judge.show.report.sections import headline
from judge.stats.correlation.human_ceiling import Spread, at_spread, spread_within
from judge.stats.correlation.kendall import codes, tau_b
from tests.panels.study import classed, folder_of

OPTIONS = CorrelationOptions(resamples=200, control=False)


def _found(kind: str, seed: int, apart: float = 0.5) -> Classes:
    return classes.classes(correlation.correlations(classed(kind, seed, apart=apart), OPTIONS))


def test_planted_reversals_are_found_in_95_of_100_studies() -> None:
    found = [_found("reversed", seed) for seed in range(30)]
    signs = [any(row.flag == "signs differ" for row in one.flagged) for one in found]
    # Of 30: where 80 in 100 were found, 29 or more would have a chance of 1 %.
    assert sum(signs) >= 29


def test_a_judge_that_follows_who_wrote_it_and_nothing_within_is_found() -> None:
    found = [_found("author", seed, apart=1.0) for seed in range(15)]
    assert sum(bool(one.flagged) for one in found) >= 14


@pytest.mark.parametrize("apart", [0.0, 0.5, 1.0])
def test_honest_studies_are_not_flagged_however_far_systems_lie_apart(apart: float) -> None:
    found = [_found("honest", seed, apart=apart) for seed in range(40)]
    # 5 in 100 at most: of 40, more than 4 have a chance of 5 %.
    assert sum(bool(one.flagged) for one in found) <= 4


def test_each_part_is_what_its_statistic_gives_alone() -> None:
    table = classed("reversed", 1)
    found = classes.classes(correlation.correlations(table, OPTIONS))
    author, system = found.rows
    assert (author.factor, system.factor) == ("author", "system")
    assert [part.name for part in author.parts] == ["models", "people"]
    frame = table.frame[table.frame["system"] == "Human"]
    judged = frame[frame["source"] == "judge"].set_index("story")["rating"]
    people = frame[frame["source"] == "rater"].groupby("story")["rating"].mean().loc[judged.index]
    expected = tau_b(codes(judged.to_numpy()), codes(people.to_numpy()))
    assert author.parts[1].value.value == pytest.approx(expected)
    assert author.flag == "signs differ"


def test_the_frame_the_table_and_the_notes_come_from_one_value() -> None:
    found = _found("reversed", 1)
    (table,) = classes.tables(found)
    assert [row["value"].value for row in table.rows] == found.frame["value"].tolist()
    assert len(classes.notes(found.flagged)) == len(found.flagged)
    assert found.frame.attrs["signature"] == table.signature
    other = classes.classes(
        correlation.correlations(classed("reversed", 1), CorrelationOptions(level="system", ci="none"))
    )
    assert other.rows == ()


def test_without_resamples_nothing_is_tested() -> None:
    found = classes.classes(correlation.correlations(classed("reversed", 1), CorrelationOptions(ci="none")))
    assert found.rows
    assert not found.flagged


def test_restating_undoes_a_narrow_spread() -> None:
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], 20_000)
    quality = rng.normal(size=group.size) + 2 * group
    people = quality[:, None] + rng.normal(size=(group.size, 3))
    judge = quality + rng.normal(size=group.size)
    spread = spread_within(people, group)
    assert spread.reliability == pytest.approx(0.75, abs=0.02)
    within = np.mean([np.corrcoef(judge[group == k], people[group == k].mean(axis=1))[0, 1] for k in (0, 1)])
    over = np.corrcoef(judge, people.mean(axis=1))[0, 1]
    assert float(at_spread(np.array(within), spread, rank=False)) == pytest.approx(over, abs=0.01)
    assert float(at_spread(np.array(0.0), spread, rank=True)) == 0
    plain = at_spread(np.array(0.4), Spread(2.0), rank=False)
    assert float(plain) == pytest.approx(0.4 * 2 / np.sqrt(1 + 0.16 * 3)), "Thorndike's case 2"


def test_correlate_and_the_first_box_say_it(tmp_path: Path) -> None:
    run = folder_of(classed("reversed", 1), tmp_path / "run")
    found = judge.open_run(run).correlate(resamples=200, control=False)
    assert any("signs differ" in note for table in found.tables for note in table.notes)
    within = judge.open_run(run).correlate(within=True, resamples=200)
    assert within.frame["flag"].dropna().iloc[0] == "signs differ"
    inputs = ReportInputs.read([run], ReportOptions(resamples=200, permutations=50))
    assert any("within classes of author signs differ" in one for one in headline.sentences(inputs))
    honest = ReportInputs.read([folder_of(classed("honest", 1), tmp_path / "honest")], ReportOptions(resamples=200))
    assert not any("within classes" in one for one in headline.sentences(honest))
