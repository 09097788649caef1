"""Printed tables of diagnostic tests for biases of judges."""

from __future__ import annotations

from collections.abc import Iterator

from judge.analysis.diagnose import Diagnosis
from judge.analysis.diagnose.kinds import YES_BIAS, Finding
from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, Note, joined


def tables(result: Diagnosis, *, full: bool = False) -> list[Table]:
    """One table of the significant tests; with `full`, of all."""
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criterion", "criterion"),
        Column("diagnostic", "diagnostic"),
        Column("verdict", "finding"),
        Column("value", "effect", main=True),
        Column("unit", "unit"),
        Column("p", "p", digits=4, p="row"),
        Column("adjusted", "p, Holm", digits=4, p="row"),
        Column("tail", "tail"),
        Column("detectable", "would find"),
        Column("n", "stories"),
    ]
    if len(result.datasets) > 1:
        columns.insert(0, Column("dataset", "dataset"))
    rows = [_row(finding, result.options.alpha) for finding in (result.findings if full else result.found)]
    notes = tuple(dict.fromkeys(_notes(result, full)))
    return [Table("Problems found in these judges", columns, rows, result.signature, notes)]


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
        yield from (joined(reason, f": {count} tests") for reason, count in _reasons(result).items())
    for name, prompts in result.few.items():
        yield (
            f"{name}: only {prompts} story-prompts, too few to leave out one at a time: tests treat stories as "
            "independent and "
            "are significant too often where story-prompts matter"
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
            "compression: single ratings of the judge against single ratings of people; reported where the "
            "judge's rating also changes by "
            "less than a point when people's changes by one"
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
            key = joined(f"{finding.diagnostic}: ", finding.test.estimate.reason or "")
            counts[key] = counts.get(key, 0) + 1
    return counts
