"""Panels side by side: a planted change of sign is found, honest panels are not told apart, no figure stands alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import judge
from judge.analysis import correlation, panels
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import CorrelationOptions
from judge.analysis.panels import Panels
from judge.base.errors import SpecError
from judge.show.report.inputs import ReportInputs, ReportOptions
from judge.show.report.sections import agreement, headline
from judge.stats.agreement import krippendorff
from judge.stats.correlation.kendall import codes, tau_b
from tests.panels.study import folder_of, study

OPTIONS = CorrelationOptions(resamples=300)


@pytest.fixture(scope="module")
def turned() -> Panels:
    """Lay readers follow the judge, experts turn it round."""
    return panels.panels(study({"lay": 1.0, "expert": -0.8}), OPTIONS)


def test_a_planted_change_of_sign_is_called_opposite(turned: Panels) -> None:
    (row,) = turned.differences
    assert (row.first.panel, row.other.panel, row.verdict) == ("expert", "lay", "opposite")
    assert row.first.value.value is not None
    assert row.first.value.value < -0.3
    assert row.over.high is not None
    assert row.over.high < -0.6
    (against,) = turned.against
    assert [side.panel for side in against.sides] == ["expert", "lay"]
    assert abs(against.pooled.value or 1) < 0.35, "the pooled figure hides both"


def test_honest_panels_are_not_told_apart() -> None:
    found = [panels.panels(study({"lay": 1.0, "expert": 1.0}, seed), OPTIONS).differences[0] for seed in range(20)]
    assert sum(row.verdict != "not told apart" for row in found) <= 3
    assert all(row.verdict != "opposite" for row in found)


def test_each_figure_is_what_its_statistic_gives_alone(turned: Panels) -> None:
    table = study({"lay": 1.0, "expert": -0.8})
    frame = table.frame
    judge = frame[frame["source"] == "judge"].set_index("story")["rating"]
    for side in turned.against[0].sides:
        own = frame[frame["panel"] == side.panel]
        means = own.groupby("story")["rating"].mean().loc[judge.index]
        expected = tau_b(codes(judge.to_numpy()), codes(means.to_numpy()))
        assert side.value.value == pytest.approx(expected)
    expert = frame[frame["panel"] == "expert"].pivot_table(index="story", columns="rater", values="rating")
    alpha = krippendorff.alpha(expert.to_numpy(), "interval", np.random.default_rng(1), resamples=0)
    assert turned.within[0].alpha.value == pytest.approx(alpha.estimate.value)
    assert turned.within[0].raters == 3
    (between,) = turned.between
    assert between.value.value is not None
    assert between.value.value < 0


def test_correlate_prints_a_row_for_each_panel_beside_the_pooled_one() -> None:
    found = correlation.correlations(study({"lay": 1.0, "expert": -0.8}), OPTIONS)
    frame = found.frame
    judges = frame[frame["kind"] == "judge"]
    assert judges["people"].tolist() == ["all", "expert", "lay"]
    (table,) = correlation.tables(found)
    assert [row["people"] for row in table.rows if row["judge"] == "j"] == ["all", "expert", "lay"]
    assert any("are taken together" in note for note in table.notes)
    alone = correlation.correlations(narrowed(study({"lay": 1.0, "expert": -0.8}), Selection(panel="LAY")), OPTIONS)
    assert "people" not in alone.frame
    assert "|panel:lay|" in alone.signature
    lay = judges.loc[judges["people"] == "lay", "value"].iloc[0]
    assert alone.frame.loc[alone.frame["kind"] == "judge", "value"].iloc[0] == pytest.approx(lay)


def test_without_panels_nothing_is_said_of_them() -> None:
    table = study({"lay": 1.0})
    bare = narrowed(table, Selection(panel="lay"))
    assert "panel" not in bare.frame
    with pytest.raises(SpecError, match="says to which panel"):
        panels.panels(bare)
    with pytest.raises(SpecError, match="panel"):
        narrowed(table, Selection(panel="crowd"))


def test_panels_of_different_stories_have_no_difference() -> None:
    table = study({"lay": 1.0, "expert": 1.0})
    frame = table.frame
    first = frame["story_prompt"].isin({f"p{i}" for i in range(15)})
    lay, expert = frame["panel"] == "lay", frame["panel"] == "expert"
    apart = replace(table, frame=frame[~((lay & first) | (expert & ~first))])
    (row,) = panels.panels(apart, OPTIONS).differences
    assert row.over.reason == "no story was rated by the judge and both panels"
    assert row.verdict is None


def test_the_first_box_of_a_report_says_that_panels_disagree_in_sign(tmp_path: Path) -> None:
    run = folder_of(study({"lay": 1.0, "expert": -0.8}), tmp_path / "run")
    inputs = ReportInputs.read([run], ReportOptions(resamples=200, permutations=50))
    said = headline.sentences(inputs)
    assert any(one.startswith("Panels disagree in sign") and "with expert" in one for one in said), said
    page = "".join(map(str, agreement.agreement_blocks(inputs)))
    assert "Agreement between panels" in page
    alone = folder_of(narrowed(study({"lay": 1.0}), Selection(panel="lay")), tmp_path / "alone")
    plain = ReportInputs.read([alone], ReportOptions(resamples=200, permutations=50))
    assert not any("anel" in one for one in headline.sentences(plain))


def test_notebooks_have_the_same(tmp_path: Path) -> None:
    opened = judge.open_run(folder_of(study({"lay": 1.0, "expert": -0.8}), tmp_path / "run"))
    found = opened.correlate("panels", resamples=100)
    assert isinstance(found.value, Panels)
    assert found.frame["verdict"].dropna().tolist() == ["opposite"]
    assert len(found.tables) == 4
    assert opened.only(panel="lay").correlate(resamples=100).frame["value"].notna().any()
