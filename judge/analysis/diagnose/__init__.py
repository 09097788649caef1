"""Diagnostics: tests for known biases of judges, in comparison with people on the same stories.

A diagnostic is a statistic that is zero for a judge that rates as people do, with an interval and a test at a declared
alpha; an undefined diagnostic gives the reason. Each test also reports the smallest effect that it would detect in four
of five repetitions (2.8 standard errors, more with few degrees of freedom)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge.analysis.diagnose.battery import Battery, points_of
from judge.analysis.diagnose.kinds import DIAGNOSTICS, YES_BIAS, Diagnostic, Finding
from judge.analysis.inputs.candidates import match
from judge.analysis.options.signature import NO_INTERVAL, Signed, signature, signature_parts
from judge.analysis.options.table_options import DiagnoseOptions
from judge.base import wording
from judge.base.printing.tables import Column, Table, titled
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.estimation.paired_differences import holm
from judge.stats.resampling.jackknife import MIN_CLUSTERS

__all__ = ["DIAGNOSTICS", "Diagnostic", "Finding"]

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


# Printed tables of diagnostic tests for biases of judges.


def tables(result: Diagnosis, *, full: bool = False) -> list[Table]:
    """One table of the significant tests; with `full`, of all."""
    columns = [
        *titled(
            judge="judge", eval_prompt="eval prompt", criterion="criterion", diagnostic="diagnostic", verdict="finding"
        ),
        Column("value", "effect", main=True),
        Column("unit", "unit"),
        Column("p", "p", digits=4, p="row"),
        Column("adjusted", "p, Holm", digits=4, p="row"),
        *titled(tail="tail", detectable="would find", n="stories"),
    ]
    if len(result.datasets) > 1:
        columns.insert(0, Column("dataset", "dataset"))
    rows = [_row(finding, result.options.alpha) for finding in (result.findings if full else result.found)]
    notes = tuple(dict.fromkeys(_notes(result, full)))
    shown = "All tests" if full else f"Tests significant at {result.options.alpha:g} before adjustment"
    return [Table(f"{shown}; p, Holm says which hold", columns, rows, result.signature, notes)]


def counted(result: Diagnosis) -> str:
    """The numbers of significant tests before and after adjustment, and the number expected by chance."""
    real, significant, alpha = len(result.tested), len(result.found), result.options.alpha
    hold = sum(finding.adjusted is not None and finding.adjusted <= alpha for finding in result.found)
    return (
        f"of {real} tests ({', '.join(result.names)}), {hold} {'is' if hold == 1 else 'are'} significant at alpha "
        f"{alpha:g} after Holm's adjustment over all of them; {significant} {'is' if significant == 1 else 'are'} "
        f"significant without adjustment, where about {alpha * real:.1f} would be by chance alone"
    )


def _notes(result: Diagnosis, full: bool) -> Iterator[str]:
    yield from result.notes
    yield counted(result)
    yield Note(
        f"would find: the smallest effect that the test finds at {result.options.alpha:g}, without adjustment, in four "
        "of five repetitions; an effect that is not listed may exist and be smaller",
        Advice("{full} lists every test", full=True),
    )
    yield from _meanings({finding.diagnostic for finding in result.tested})
    if codes := sorted({finding.criterion for finding in result.tested if finding.on_codes}):
        yield f"{', '.join(codes)}: tests of ordered labels take their codes, 0 upwards, for points of a scale"
    yield "against people's ratings on the same stories; people are the reference here, not the truth"
    if not full:
        yield from (wording.joined(reason, f": {count} tests") for reason, count in _reasons(result).items())
    for name, prompts in result.few.items():
        yield (
            f"{name}: only {prompts} story-prompts, too few to leave out one at a time: tests treat stories as "
            "independent and are significant too often where story-prompts matter"
        )


def _meanings(tested: set[str]) -> list[str]:
    notes = []
    if tested & {"length", "self-preference", "halo"}:
        notes.append(
            "length, self-preference, halo: estimated between stories that people rate equally, corrected for the "
            "error of people's ratings; the intervals allow for a judge whose scale is a curved function of people's"
        )
    if "self-preference" in tested:
        notes.append(
            "self-preference: tested against how much the judge's ratings of the other systems differ from people's"
        )
    if "compression" in tested:
        notes.append(
            "compression: single ratings of the judge against single ratings of people; reported where the judge's "
            "rating also changes by less than a point when people's changes by one"
        )
    if YES_BIAS in tested:
        notes.append("yes-bias: the judge's share of the positive label, mean over repeats, beside people's")
    return notes


def _row(finding: Finding, alpha: float) -> dict[str, object]:
    return {
        "dataset": finding.dataset,
        **finding.cell._asdict(),
        "criterion": finding.criterion,
        "diagnostic": finding.diagnostic,
        "verdict": finding.verdict(alpha),
        "value": finding.test.estimate,
        "unit": finding.kind.unit,
        "p": finding.test.p,
        "tail": None if finding.test.p is None else finding.test.tail,
        "adjusted": finding.adjusted,
        "detectable": finding.detectable(alpha),
        "n": finding.test.estimate.n,
    }


def _reasons(result: Diagnosis) -> dict[str, int]:
    counts: dict[str, int] = {}
    for finding in result.findings:
        if finding.test.p is None:
            key = wording.joined(f"{finding.diagnostic}: ", finding.test.estimate.reason or "")
            counts[key] = counts.get(key, 0) + 1
    return counts


# Result of the diagnostics: all tests of a ratings table.


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis(Signed):
    """Diagnostic tests for biases of judges in comparison with people, significant or not. `findings` have p adjusted
    by Holm's method over all defined tests. `few` counts the story-prompts of datasets with too few of them for a
    jackknife; their tests leave out single stories instead. `counts_signature` is for the counts of significant
    tests, which have no interval."""

    findings: tuple[Finding, ...]
    datasets: tuple[str, ...]
    few: Mapping[str, int]
    options: DiagnoseOptions
    counts_signature: str

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
        counts_signature=signature(table, matrices, options, extra=clusters, intervals=NO_INTERVAL),
        notes=tuple(
            dict.fromkeys(
                [*table.notes, *(note for matrix in matrices for note in match(matrix, options.against).notes)]
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
