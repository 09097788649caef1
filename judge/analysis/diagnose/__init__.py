"""Known ways in which judges go wrong, each as a test against people on the same stories. Never says who is right.

A diagnostic is a statistic that is zero for a judge that rates as people do, its interval and a test with a declared
alpha; undefined ones say why. What a test could have missed stands beside it as the smallest effect that would be
found in four of five repetitions (2.8 standard errors, more with few degrees of freedom).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge.analysis.diagnose.battery import Battery, points_of
from judge.analysis.diagnose.kinds import DIAGNOSTICS, Diagnostic, Finding
from judge.analysis.options.signature import NO_INTERVAL, signature
from judge.analysis.options.table_options import DiagnoseOptions
from judge.printing.tables import Column, Table
from judge.rating_matrix import RatingMatrix, build
from judge.stats.estimation.paired_differences import holm
from judge.stats.resampling.jackknife import MIN_CLUSTERS
from judge.wording import Advice, Note, joined

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

__all__ = ["DIAGNOSTICS", "Diagnostic", "Finding", "diagnose", "signature_of_counts", "tables"]


def diagnose(table: RatingsTable, options: DiagnoseOptions | None = None) -> pd.DataFrame:
    """All tests, one a row.

    Returns
    -------
    DataFrame
        `dataset, run, judge, eval_prompt, criterion, diagnostic, value, low, high, unit, se, p, tail, p_adjusted,
        detectable, point, n, story_prompts, verdict, reason`. `p_adjusted` is Holm's over all tests of the table that
        exist. Undefined values are null with a reason.
    """
    options = options or DiagnoseOptions()
    rows = []
    for finding in _findings(table, _clustered(build(table, drop_systems=options.drop_systems))[0], options):
        estimate, test = finding.test.estimate, finding.test
        rows.append(
            {
                "dataset": finding.dataset,
                **finding.cell._asdict(),
                "criterion": finding.criterion,
                "diagnostic": finding.diagnostic,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "unit": DIAGNOSTICS[finding.diagnostic].unit,
                "se": test.se,
                "p": test.p,
                "tail": test.tail,
                "p_adjusted": finding.adjusted,
                "detectable": finding.detectable,
                "point": finding.point,
                "n": estimate.n,
                "story_prompts": test.clusters,
                "verdict": finding.verdict(options.alpha),
                "reason": estimate.reason,
            }
        )
    return pd.DataFrame(rows)


def tables(table: RatingsTable, options: DiagnoseOptions | None = None, *, full: bool = False) -> list[Table]:
    """What was found, printed; with `full` every test, found or not."""
    options = options or DiagnoseOptions()
    matrices, few = _clustered(build(table, drop_systems=options.drop_systems))
    every = _findings(table, matrices, options)
    real = [one for one in every if one.test.p is not None]
    found = [one for one in real if one.verdict(options.alpha) != "-"]
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criterion", "criterion"),
        Column("diagnostic", "diagnostic"),
        Column("verdict", "finding"),
        Column("value", "effect"),
        Column("unit", "unit"),
        Column("p", "p", digits=4, p="row"),
        Column("adjusted", "p, Holm", digits=4, p="row"),
        Column("tail", "tail"),
        Column("detectable", "would find"),
        Column("n", "stories"),
    ]
    if len(matrices) > 1:
        columns.insert(0, Column("dataset", "dataset"))
    rows = [_row(one, options.alpha) for one in (every if full else found)]
    names = ", ".join(DIAGNOSTICS)
    notes = [note for fact in table.facts for note in fact.notes]
    notes += [
        _counted(real, found, options.alpha, names),
        Note(
            "would find: the effect that is found in four of five repetitions (2.8 standard errors, more where systems "
            "or story-prompts are few); what is not listed may be there and smaller",
            Advice("{full} lists every test", full=True),
        ),
        *_meanings({one.diagnostic for one in real}),
        "against people's ratings on the same stories; people are the measure here, not the truth",
    ]
    notes += [joined(reason, f": {count} tests") for reason, count in _reasons(every).items()] if not full else []
    notes += [
        f"{name}: only {prompts} story-prompts, too few to leave out one at a time: tests take stories as independent, "
        "and find too much where story-prompts matter"
        for name, prompts in few.items()
    ]
    line = signature(table, matrices, options, extra=_clusters(few), intervals="jackknife")
    return [Table("What goes wrong with these judges", columns, rows, line, tuple(dict.fromkeys(notes)))]


def signature_of_counts(table: RatingsTable, options: DiagnoseOptions) -> str:
    """The signature of a table that counts findings: as that of the tests, without their intervals."""
    matrices, few = _clustered(build(table, drop_systems=options.drop_systems))
    return signature(table, matrices, options, extra=_clusters(few), intervals=NO_INTERVAL)


def _clusters(few: Iterable[str]) -> list[str]:
    """Parts of the signature: datasets whose stories are left out one at a time."""
    return [f"clusters:{name}:stories" for name in few]


def _clustered(matrices: Sequence[RatingMatrix]) -> tuple[list[RatingMatrix], dict[str, int]]:
    """Each dataset with what its tests leave out one at a time as story-prompts: stories, where these are too few."""
    prompts = {matrix.dataset: int(np.unique(matrix.story_prompt).size) for matrix in matrices}
    few = {name: number for name, number in prompts.items() if number < MIN_CLUSTERS}
    changed = [replace(one, story_prompt=np.arange(one.n)) if one.dataset in few else one for one in matrices]
    return changed, few


def _meanings(tested: set[str]) -> list[str]:
    """What is compared with what, for the diagnostics that were tested."""
    notes = []
    if tested & {"length", "self-preference", "halo"}:
        notes.append(
            "length, self-preference, halo: at equal ratings by people, their error taken off; the judge's scale may "
            "bend against theirs, and what bending may leave is in the interval"
        )
    if "self-preference" in tested:
        notes.append("self-preference: beside how much the judge's opinions of the other systems differ from people's")
    if "compression" in tested:
        notes.append(
            "compression: single ratings of the judge against single ratings of people; found where the judge also "
            "moves by less than a point where people move by one"
        )
    return notes


def _counted(real: Sequence[Finding], found: Sequence[Finding], alpha: float, names: str) -> str:
    """How many tests found something: adjusted over all of them first, then each alone, beside chance."""
    hold = sum(one.adjusted is not None and one.adjusted <= alpha for one in found)
    return (
        f"of {len(real)} tests ({names}), {hold} find{'s' if hold == 1 else ''} something at alpha {alpha:g} after "
        f"Holm's adjustment over all of them; {len(found)} find{'s' if len(found) == 1 else ''} something each for "
        f"itself, where about {alpha * len(real):.1f} would by chance alone"
    )


def _row(finding: Finding, alpha: float) -> dict[str, Any]:
    return {
        "dataset": finding.dataset,
        **finding.cell._asdict(),
        "criterion": finding.criterion,
        "diagnostic": finding.diagnostic,
        "verdict": finding.verdict(alpha),
        "value": finding.test.estimate,
        "unit": DIAGNOSTICS[finding.diagnostic].unit,
        "p": finding.test.p,
        "tail": None if finding.test.p is None else finding.test.tail,
        "adjusted": finding.adjusted,
        "detectable": finding.detectable,
        "n": finding.test.estimate.n,
    }


def _reasons(every: Sequence[Finding]) -> dict[str, int]:
    """Why tests do not exist -> how many."""
    found: dict[str, int] = {}
    for one in every:
        if one.test.p is None:
            key = joined(f"{one.diagnostic}: ", one.test.estimate.reason or "")
            found[key] = found.get(key, 0) + 1
    return found


def _findings(table: RatingsTable, matrices: Sequence[RatingMatrix], options: DiagnoseOptions) -> list[Finding]:
    """Every test of every cell, adjusted over the whole table by Holm's method."""
    scales = points_of(table)
    found = [one for matrix in matrices for one in Battery(matrix, options, scales).all()]
    real = [i for i, one in enumerate(found) if one.test.p is not None]
    adjusted = holm(np.array([found[i].test.p for i in real], dtype=np.float64))
    for i, p in zip(real, adjusted, strict=True):
        found[i] = replace(found[i], adjusted=float(p))
    return found
