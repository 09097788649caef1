"""A judge beside control and people: differences are those of the correlation table, their intervals are paired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judge.analysis.control import ControlPredictions
from judge.analysis.correlation import correlate
from judge.analysis.correlation.leads import CEILING, CONTROL, leads, table_of
from judge.analysis.options import CorrelationOptions
from judge.ratings_table import RatingsTable

OPTIONS = CorrelationOptions(resamples=200)
BOTH = ("Relevance", "Coherence")


def noisy(stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
    """A stand-in for the control's ratings: people's own with much noise."""
    rng = np.random.default_rng(len(criterion))
    return ControlPredictions(people.to_numpy() + rng.normal(0, 1.5, len(stories)), "surface:test", len(stories))


@pytest.fixture
def table(make_table: Callable[..., RatingsTable]) -> RatingsTable:
    return make_table(judged=BOTH, rated=BOTH, prompts=20, text="A lamp.")


def test_values_and_differences_are_those_of_the_correlation_table(table: RatingsTable) -> None:
    (lead,) = leads(table, OPTIONS, predict=noisy)
    frame = correlate(table, OPTIONS, predict=noisy)
    by_kind = {
        kind: part.set_index("criterion")["value"] for kind, part in frame[frame["kind"] != "mean"].groupby("kind")
    }
    means = {kind: float(np.mean([values[name] for name in BOTH])) for kind, values in by_kind.items()}
    assert lead.criteria == BOTH
    assert lead.value.value == pytest.approx(means["judge"])
    for kind in (CONTROL, CEILING):
        assert lead.bars[kind].value == pytest.approx(means[kind])
        assert lead.over[kind].value == pytest.approx(means["judge"] - means[kind])
        higher = sum(by_kind["judge"][name] > by_kind[kind][name] for name in BOTH)
        assert lead.above[kind] == (higher, 2)
    # The mean over criteria has the interval that the correlation table gives it.
    row = frame[(frame["kind"] == "mean") & (frame["judge"] == "openai/m")].iloc[0]
    assert (lead.value.low, lead.value.high) == (pytest.approx(row["low"]), pytest.approx(row["high"]))


def test_a_judge_that_rates_as_the_control_does_lies_exactly_on_it(table: RatingsTable) -> None:
    frame = correlate(table, replace(OPTIONS, control=False))
    assert not frame.empty

    def as_the_judge(stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
        rows = table.frame[(table.frame["source"] == "judge") & (table.frame["criterion"] == criterion)]
        values = rows.groupby("story")["rating"].mean().reindex(stories["story"]).to_numpy()
        return ControlPredictions(values, "surface:test", len(stories))

    (lead,) = leads(table, OPTIONS, predict=as_the_judge)
    over = lead.over[CONTROL]
    # Paired resample by resample: no spread at all, though each side's own interval is wide.
    assert (over.value, over.low, over.high) == (pytest.approx(0), pytest.approx(0), pytest.approx(0))
    assert lead.value.high is not None
    assert lead.value.low is not None
    assert lead.value.high - lead.value.low > 0.05
    assert lead.above[CONTROL] == (0, 2)


def test_without_known_raters_the_ceiling_is_undefined_and_the_control_is_not(
    make_table: Callable[..., RatingsTable],
) -> None:
    table = make_table(judged=BOTH, rated=BOTH, known_raters=False, text="A lamp.")
    (lead,) = leads(table, OPTIONS, predict=noisy)
    assert lead.over[CEILING].value is None
    assert "who gave which rating is not known" in str(lead.over[CEILING].reason)
    assert lead.above[CEILING] == (0, 0)
    assert lead.over[CONTROL].value is not None
    (bare,) = leads(table, OPTIONS)
    assert bare.over[CONTROL].reason == "there is no control's row"


def test_the_table_is_sorted_and_signed(hanna_table: RatingsTable) -> None:
    options = CorrelationOptions(resamples=50, drop_systems=("Human",))
    found = table_of(hanna_table, options)
    values = [row["value"].value for row in found.rows]
    assert values == sorted(values, reverse=True)
    assert len(values) == 21
    assert "drop:Human" in found.signature
    assert "ci:boot-inputs/50/seed1" in found.signature
