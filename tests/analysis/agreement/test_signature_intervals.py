"""The signature of every table names the intervals that the table has, and every p value its tail."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

from judge.analysis import correlation, diagnose, disagreement_tables
from judge.analysis import criteria as criteria_tables
from judge.analysis import systems_tables as system_tables
from judge.analysis.agreement import accuracy, binary_labels, drift, replacement, sliding_sets
from judge.analysis.comparison import tables as compare_tables
from judge.analysis.comparison.result import compared
from judge.analysis.coverage.coverage import coverage
from judge.analysis.coverage.coverage import tables as coverage_tables
from judge.analysis.criteria import criteria
from judge.analysis.disagreements import disagreements
from judge.analysis.jury import jury as jury_tables
from judge.analysis.jury.jury import jury
from judge.analysis.options.agreement_options import AccuracyOptions, DriftOptions, LabelOptions
from judge.analysis.options.table_options import (
    CompareOptions,
    CorrelationOptions,
    CriteriaOptions,
    DisagreementsOptions,
    JuryOptions,
    SystemsOptions,
)
from judge.analysis.reliability import variance_components as components_tables
from judge.analysis.reliability.consistency import consistency
from judge.analysis.reliability.consistency import tables as consistency_tables
from judge.analysis.reliability.variance_components import components
from judge.analysis.systems import systems
from judge.base.estimate import Estimate
from judge.base.printing.tables import Table, render
from judge.ratings.ratings_table import RatingsTable

DRAWN = {"resamples": 30}
MAKERS: dict[str, Callable[[RatingsTable], list[Table]]] = {
    "coverage": lambda t: coverage_tables(coverage(t)),
    "consistency": lambda t: consistency_tables(consistency(t)),
    "consistency in full": lambda t: consistency_tables(consistency(t), full=True),
    "components": lambda t: components_tables.tables(components(t)),
    "correlate": lambda t: correlation.tables(correlation.correlations(t, CorrelationOptions(**DRAWN))),
    "correlate, Pearson": lambda t: correlation.tables(
        correlation.correlations(t, CorrelationOptions(coefficient="pearson"))
    ),
    "accuracy": lambda t: accuracy.tables(accuracy.accuracies(t, AccuracyOptions(flips=20, **DRAWN))),
    "drift": lambda t: drift.tables(drift.drift(t)),
    "sliding sets": lambda t: sliding_sets.tables(sliding_sets.sets(t, DriftOptions(window=8, stride=4, **DRAWN))),
    "replacement": lambda t: replacement.tables(replacement.replacement(t)),
    "labels": lambda t: binary_labels.tables(
        binary_labels.discrimination(t, LabelOptions(labels="Relevance > 3", equivalence=0.5, **DRAWN))
    ),
    "systems": lambda t: system_tables.tables(systems(t, SystemsOptions(**DRAWN))),
    "systems, boot": lambda t: system_tables.tables(systems(t, SystemsOptions(mean_interval="boot", **DRAWN))),
    "systems, as published": lambda t: system_tables.tables(
        systems(t, SystemsOptions(mean_interval="as-published", **DRAWN))
    ),
    "differences": lambda t: system_tables.tables(systems(t, SystemsOptions(**DRAWN)), differences=True),
    "differences, long": lambda t: system_tables.tables(
        systems(t, SystemsOptions(**DRAWN)), differences=True, long=True
    ),
    "criteria": lambda t: criteria_tables.tables(criteria(t, CriteriaOptions(**DRAWN))),
    "compare": lambda t: compare_tables.tables(compared(t, CompareOptions(permutations=30, **DRAWN))),
    "diagnose": lambda t: diagnose.tables(diagnose.diagnose(t), full=True),
    "disagreements": lambda t: disagreement_tables.tables(disagreements(t, DisagreementsOptions())),
    "jury": lambda t: jury_tables.tables(
        jury(t, JuryOptions("mean", calibrate="linear", foldings=1, **DRAWN)), weights=True, long=True
    ),
}
# How an estimate's interval was made -> what must stand in the signature.
NAMED = {
    "F, 95 %": "ci:f",
    "REML, profile likelihood": "reml:profile-likelihood",
    "generalized": "ci:generalized/2000",
    "fisher-z": "ci:fisher-z",
    "t(": "ci:jackknife",
    "t, 95 %": "ci:t",
    "PPI": "ci:t",
    "Wilson, one trial": "win-rate:clustered",
    "worst case": "bounds:worst-best",
    "paired t": "ci:paired-t",
}


@pytest.fixture
def table(make_table: Callable[..., RatingsTable]) -> RatingsTable:
    """A judge with two Eval-Prompts on two criteria, some answers lost, and known raters who rated part each."""
    made = make_table(
        systems=5,
        prompts=14,
        judged=("Relevance", "Coherence"),
        rated=("Relevance", "Coherence"),
        lost=lambda s, p, r: "refused" if (s + 2 * p + r) % 17 == 0 else None,
    )
    frame = made.frame
    apart = (frame["source"] == "rater") & (frame["rater"] == "w2") & (frame["story_prompt"] == "prompt 3")
    frame.loc[apart, "rater"] = "w3"
    judged = frame[frame["source"] == "judge"]
    more = judged.assign(eval_prompt="ep2", rating=judged["rating"].sample(frac=1, random_state=1).to_numpy())
    more = more.assign(status=more["rating"].isna().map({True: "refused", False: "ok"}))
    return dataclasses.replace(made, frame=pd.concat([frame, more], ignore_index=True))


def _methods(found: Table) -> Iterator[str]:
    for row in found.rows:
        for column in found.columns:
            value = row.get(column.key)
            if isinstance(value, Estimate) and value.low is not None:
                yield value.method or "unnamed"


def _ci(found: Table) -> list[str]:
    parts = [part for part in found.signature.split("|") if part.startswith(("ci:", "bounds:"))]
    return [part for part in parts if part != "ci:none"]


def _tails_are_named(name: str, every: list[Table]) -> None:
    for found in every:
        keys = [column.key for column in found.columns if column.p]
        titles = {column.title.split(" ")[0] for column in found.columns if not column.p}
        assert not titles & {"p", "p_adjusted", "p-value"} or found.title.startswith("Differences between systems")
        if not keys or not found.rows:
            continue
        flat: list[dict[str, Any]] = json.loads(render(found, "json"))["rows"]
        tested = [row for row in flat if any(row.get(key) is not None for key in keys)]
        assert tested, found.title
        assert {row["tail"] for row in tested} <= {"two-sided", "greater", "less", "two one-sided"}
        text = render(found, "table")
        assert "two-sided" in text or "one-sided" in text, found.title
        assert "tail" in render(found, "csv")
        assert name != "differences, long" or {row["tail"] for row in tested} == {"two-sided"}


def _intervals_are_named(every: list[Table]) -> None:
    for found in every:
        if not found.signature or found.title.startswith("Reliability"):
            continue  # a story's text below a list; bins, whose ends are no interval
        methods = set(_methods(found))
        flat = json.loads(render(found, "json"))["rows"]
        ends = any(row.get(key) is not None for row in flat for key in row if key.endswith("low"))
        written = [row.get("sentence") or "" for row in flat]
        assert bool(_ci(found)) == bool(methods or ends or any("[" in one for one in written)), (
            found.title,
            found.signature,
        )
        for method in methods:
            for start, part in NAMED.items():
                if method.startswith(start):
                    assert part in found.signature, (found.title, method)
            if "percentile" in method:
                assert "boot-" in found.signature, (found.title, method)
        if "ci:fisher-z" in found.signature:
            assert all("fisher-z" in method for method in methods), found.title
        if any(part.startswith("ci:boot") for part in _ci(found)):
            drawn = ["boot" in method or "percentile" in method for method in methods]
            # A table may have intervals of two kinds: then its signature names both.
            assert all(drawn) or any(kind in found.signature for kind in ("clustered", "ci:jackknife")), found.title


@pytest.mark.parametrize("name", MAKERS)
def test_a_signature_names_the_intervals_that_the_table_has_and_every_p_value_its_tail(
    name: str, table: RatingsTable
) -> None:
    every = MAKERS[name](table)
    _intervals_are_named(every)
    _tails_are_named(name, every)
    if name == "drift":
        for found in every:
            assert "|ci:fisher-z|r:pearson|" in found.signature
            assert not any(word in found.signature for word in ("boot", "sets:"))
