"""Diagnostics: tests for known biases of judges, in comparison with people on the same stories.

A diagnostic is a statistic that is zero for a judge that rates as people do, with an interval and a test at a declared
alpha; an undefined diagnostic gives the reason. Each test also reports the smallest effect that it would detect in four
of five repetitions (2.8 standard errors, more with few degrees of freedom).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge.analysis.diagnose.battery import Battery, points_of
from judge.analysis.diagnose.kinds import DIAGNOSTICS, Diagnostic, Finding
from judge.analysis.diagnose.printed import counted, tables
from judge.analysis.inputs.candidates import match
from judge.analysis.options.signature import NO_INTERVAL, Signed, joined, signature_parts
from judge.analysis.options.table_options import DiagnoseOptions
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.estimation.paired_differences import holm
from judge.stats.resampling.jackknife import MIN_CLUSTERS

__all__ = ["DIAGNOSTICS", "Diagnostic", "Finding", "counted", "tables"]

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


# Result of the diagnostics: all tests of a ratings table.


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis(Signed):
    """Diagnostic tests for biases of judges in comparison with people, significant or not. `findings` have p adjusted
    by Holm's method over all defined tests. `few` counts the story-prompts of datasets with too few of them for a
    jackknife; their tests leave out single stories instead. `counts_signature_parts` are for the counts of significant
    tests, which have no interval.
    """

    findings: tuple[Finding, ...]
    datasets: tuple[str, ...]
    few: Mapping[str, int]
    options: DiagnoseOptions
    counts_signature_parts: tuple[str, ...]

    @property
    def tested(self) -> tuple[Finding, ...]:
        """Findings that could be computed."""
        return tuple(finding for finding in self.findings if finding.test.p is not None)

    @property
    def found(self) -> tuple[Finding, ...]:
        """Findings that are significant without adjustment."""
        return tuple(finding for finding in self.tested if finding.finds(self.options.alpha))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kinds of tests; for criteria with labels, some differ from those for numbers."""
        if all(finding.label_kind is None for finding in self.findings):
            return tuple(DIAGNOSTICS)
        return tuple(dict.fromkeys(finding.diagnostic for finding in self.findings))

    @property
    def counts_signature(self) -> str:
        """Signature line of a table that counts significant tests."""
        return joined(self.counts_signature_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per test. `p_adjusted` is by Holm's method over all defined tests; `reason` is of null values."""
        return self.signed([_flat(finding, self.options.alpha) for finding in self.findings])


def _flat(finding: Finding, alpha: float) -> dict[str, object]:
    test = finding.test
    estimate = test.estimate
    return {
        "dataset": finding.dataset,
        **finding.cell._asdict(),
        "criterion": finding.criterion,
        "diagnostic": finding.diagnostic,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "unit": finding.kind.unit,
        "se": test.se,
        "p": test.p,
        "tail": test.tail,
        "p_adjusted": finding.adjusted,
        "detectable": finding.detectable(alpha),
        "point": finding.point,
        "n": estimate.n,
        "story_prompts": test.clusters,
        "verdict": finding.verdict(alpha),
        "reason": estimate.reason,
    }


# Runs every diagnostic test for biases of judges on a ratings table, with p adjusted over all tests.


def diagnose(table: RatingsTable, options: DiagnoseOptions | None = None) -> Diagnosis:
    """All diagnostic tests for every judge, Eval-Prompt and criterion."""
    options = options or DiagnoseOptions()
    matrices, few = _clustered(build(table, drop_systems=options.drop_systems))
    clusters = [f"clusters:{name}:stories" for name in few]
    return Diagnosis(
        findings=tuple(_findings(table, matrices, options)),
        datasets=tuple(matrix.dataset for matrix in matrices),
        few=few,
        options=options,
        signature_parts=signature_parts(table, matrices, options, extra=clusters, intervals="jackknife"),
        counts_signature_parts=signature_parts(table, matrices, options, extra=clusters, intervals=NO_INTERVAL),
        notes=tuple(
            dict.fromkeys(
                [
                    *(note for fact in table.facts for note in fact.notes),
                    *(note for matrix in matrices for note in match(matrix, options.against).notes),
                ]
            )
        ),
    )


def _clustered(matrices: Sequence[RatingMatrix]) -> tuple[list[RatingMatrix], dict[str, int]]:
    prompts = {matrix.dataset: int(np.unique(matrix.story_prompt).size) for matrix in matrices}
    few = {name: number for name, number in prompts.items() if number < MIN_CLUSTERS}
    changed = [
        # Too few story-prompts for a jackknife: it leaves out stories instead.
        replace(dataset_matrix, story_prompt=np.arange(dataset_matrix.n))
        if dataset_matrix.dataset in few
        else dataset_matrix
        for dataset_matrix in matrices
    ]
    return changed, few


def _findings(table: RatingsTable, matrices: Sequence[RatingMatrix], options: DiagnoseOptions) -> list[Finding]:
    scales = points_of(table)
    findings = [finding for matrix in matrices for finding in Battery(matrix, options, scales).all()]
    real = [i for i, finding in enumerate(findings) if finding.test.p is not None]
    adjusted = holm(np.array([findings[i].test.p for i in real], dtype=np.float64))
    for i, p in zip(real, adjusted, strict=True):
        findings[i] = replace(findings[i], adjusted=float(p))
    return findings
