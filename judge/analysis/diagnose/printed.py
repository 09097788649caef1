"""The tests as people read them. Never computes a number."""

from __future__ import annotations

from collections.abc import Iterator

from judge.analysis.diagnose.kinds import YES_BIAS, Finding
from judge.analysis.diagnose.result import Diagnosis
from judge.printing.tables import Column, Table
from judge.wording import Advice, Note, joined


def tables(result: Diagnosis, *, full: bool = False) -> list[Table]:
    """What was found, printed; with `full` every test, found or not."""
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
    if len(result.datasets) > 1:
        columns.insert(0, Column("dataset", "dataset"))
    rows = [_row(one, result.options.alpha) for one in (result.findings if full else result.found)]
    notes = tuple(dict.fromkeys(_notes(result, full)))
    return [Table("What goes wrong with these judges", columns, rows, result.signature, notes)]


def counted(result: Diagnosis) -> str:
    """How many tests found something: adjusted over all of them first, then each alone, beside chance."""
    real, found, alpha = len(result.tested), len(result.found), result.options.alpha
    hold = sum(one.adjusted is not None and one.adjusted <= alpha for one in result.found)
    return (
        f"of {real} tests ({', '.join(result.names)}), {hold} find{'s' if hold == 1 else ''} something at alpha "
        f"{alpha:g} after Holm's adjustment over all of them; {found} find{'s' if found == 1 else ''} something each "
        f"for itself, where about {alpha * real:.1f} would by chance alone"
    )


def _notes(result: Diagnosis, full: bool) -> Iterator[str]:
    yield from result.notes
    yield counted(result)
    yield Note(
        "would find: the effect that is found in four of five repetitions (2.8 standard errors, more where systems "
        "or story-prompts are few); what is not listed may be there and smaller",
        Advice("{full} lists every test", full=True),
    )
    yield from _meanings({one.diagnostic for one in result.tested})
    if codes := sorted({one.criterion for one in result.tested if one.on_codes}):
        yield f"{', '.join(codes)}: tests of ordered labels take their codes, 0 upwards, for points of a scale"
    yield "against people's ratings on the same stories; people are the measure here, not the truth"
    if not full:
        yield from (joined(reason, f": {count} tests") for reason, count in _reasons(result).items())
    for name, prompts in result.few.items():
        yield (
            f"{name}: only {prompts} story-prompts, too few to leave out one at a time: tests take stories as "
            "independent, and find too much where story-prompts matter"
        )


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
        "detectable": finding.detectable,
        "n": finding.test.estimate.n,
    }


def _reasons(result: Diagnosis) -> dict[str, int]:
    """Why tests do not exist -> how many."""
    found: dict[str, int] = {}
    for one in result.findings:
        if one.test.p is None:
            key = joined(f"{one.diagnostic}: ", one.test.estimate.reason or "")
            found[key] = found.get(key, 0) + 1
    return found
