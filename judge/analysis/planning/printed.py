"""Printed plan: first sentences, then tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judge.analysis.planning.figures import EVERY
from judge.analysis.planning.price_of_validity import Answer, Lever, Planned, Question
from judge.base.printing.tables import Column, Table, cells_of, plain, titled
from judge.base.printing.text_layout import about
from judge.base.wording import Advice
from judge.stats.estimation.sample_size import MOST

_OF: Mapping[Question, str] = {
    "half-width": "story-prompts",
    "difference": "story-prompts",
    "order of systems": "story-prompts",
    "order of stories": "answers",
    "people": "people a story",
    "replacement": "story-prompts",
}
_RANGES = (
    "in brackets the range of 10 to 90 %, ∞: no number up to 100,000; for the order of systems variances below 0 count "
    "as 0, so that a number may lie below its own range: use the range"
)
_COSTS = (
    Column("dollars", "$ for .01 of tau", money=True, rough=True),
    Column("tokens", "tokens for .01 of tau", digits=0),
    Column("hours", "hours for .01 of tau", digits=3),
)
# How often an uninformed judge may pass before it is said.
_NULL_PASSES = 0.2

_ASKS: Mapping[Question, str] = {
    "half-width": "how sure is tau?",
    "difference": "which prompt or judge is better?",
    "order of systems": "would the order of systems repeat?",
    "order of stories": "would the order of stories repeat?",
    "people": "how many people a story?",
    "replacement": "may the judge replace a person?",
}


def tables(result: Planned, *, long: bool = False) -> list[Table]:
    """The answers in sentences, and the numbers by criterion; from a pilot, also gains and costs. With `long`, each
    number has a row, with what the pilot achieves and the reason for a missing number."""
    printed = [_sentences(result), _long(result) if long else _numbers(result)]
    if not result.levers:
        return printed
    if all(lever.gain is None for lever in result.levers):
        # No rows: why there are none stands under the sentences.
        printed[0] = replace(printed[0], notes=(*printed[0].notes, *_untold(result.levers)))
        return printed
    return [*printed, _levers(result)]


def _sentences(result: Planned) -> Table:
    rows = [{"asks": asks, "sentence": sentence} for asks, sentence in sentences(result)]
    columns = [Column("asks", "question", wrap=22), Column("sentence", "answer", wrap=96)]
    return Table(f"What a study takes, by {result.source}", columns, rows, result.signature, _reading(result))


def sentences(result: Planned) -> Iterator[tuple[str, str]]:
    """Each planning question with its answer, by dataset; the last is which further expense is most worthwhile."""
    datasets = list(dict.fromkeys(entry.dataset for entry in result.answers))
    for dataset in datasets:
        where = f"{dataset}: " if len(datasets) > 1 else ""
        for question, asks in _ASKS.items():
            some = [entry for entry in result.answers if (entry.dataset, entry.question) == (dataset, question)]
            if some:
                yield asks, where + " ".join(_answered(some, result))
        own = [entry for entry in result.levers if entry.dataset == dataset]
        if own:
            yield "what next?", where + " ".join(_next(own))


def _answered(some: Sequence[Answer], result: Planned) -> Iterator[str]:
    """The number that is enough on every criterion (over several judges: the median), then criteria without one."""
    every = [answer for answer in some if answer.criterion == EVERY]
    with_number = every or [answer for answer in some if answer.number.value is not None]
    most = max(with_number, key=lambda answer: answer.number.value or 0, default=None)
    if most is not None and most.number.value is not None:
        yield _number_sentence(most, with_number, result)
    elif every:
        yield f"No number for the middle judge and criterion: {every[0].reason or _beyond()}."
    if every:
        return
    without = [answer for answer in some if answer.number.value is None]
    yield from _without(without, result.options.reliability, everywhere=most is None)


def _without(some: Sequence[Answer], reliability: float, *, everywhere: bool) -> Iterator[str]:
    """One sentence for each reason; it names no criterion if the reason is the same `everywhere`."""
    reasons: dict[str, list[Answer]] = {}
    for answer in some:
        below = answer.limit is not None and answer.limit < reliability
        reasons.setdefault("limit" if below else answer.reason or _beyond(), []).append(answer)
    for reason, answers in reasons.items():
        for_whom = (
            "" if everywhere and len(reasons) == 1 else f" for {', '.join(answer.criterion for answer in answers)}"
        )
        limits = sorted(answer.limit for answer in answers if answer.limit is not None)
        if reason == "limit":
            ends = dict.fromkeys(f"{limit:.2f}" for limit in (limits[0], limits[-1]))
            unit = answers[0].unit
            with_them = f" (with {answers[0].design})" if answers[0].design else ""
            yield (
                f"No number of {unit} suffices{for_whom}{with_them}: even with unlimited {unit} the reliability would "
                f"be {' to '.join(ends)}."
            )
        else:
            yield f"No number is known{for_whom}: {reason}."


def _number_sentence(most: Answer, answers: Sequence[Answer], result: Planned) -> str:
    options, n = result.options, most.number
    text_of_number = f"{_count(n.value)} {most.unit}"
    if most.stories is not None and most.stories > 1:
        text_of_number += f" ({_count(round((n.value or 0) * most.stories))} stories)"
    of_each = " of every criterion" if len(answers) > 1 else ""
    often, reliably = f"{100 * options.power:.0f} % of the time", f"with reliability {options.reliability:g}"
    verbs: Mapping[Question, str] = {
        "half-width": f"hold the 95 % interval of tau x100{of_each} within ±{100 * options.half_width:g}",
        "difference": f"find a true difference of {100 * options.difference:g} between two taus x100 {often}",
        "order of systems": f"with {most.design or 'one answer each'} order the systems {reliably}",
        "order of stories": f"to each story and criterion ({most.design}) order the stories {reliably}",
        "people": f"a story make their mean reliable at {options.reliability:g}",
        "replacement": f"let the judge pass the alternative annotator test against {most.design} {often}",
    }
    whose = ""
    if len(answers) > 1:
        least = min(answers, key=lambda one: one.number.value or 0)
        whose = f" ({most.criterion} needs most, {least.criterion} least with {_count(least.number.value)})"
    text = f"{text_of_number} {verbs[most.question]}{whose}; the 10-90 % range of this number is {n.range}."
    return text + _now(most, result) + _null(most, len(answers))


def _now(answer: Answer, result: Planned) -> str:
    if answer.now is None or answer.has is None:
        return ""
    has = "The pilot's" if result.pilot else "The study's"
    count = f"{answer.has:.3g}" if answer.has < 1000 else _count(round(answer.has))
    gives: Mapping[Question, str] = {
        "half-width": f"give ±{100 * answer.now:.1f}",
        "difference": f"find a difference of {100 * answer.now:.1f} or more, and miss most that are smaller",
        "order of systems": f"give {answer.now:.2f}",
        "order of stories": f"give {answer.now:.2f}",
        "people": f"give {answer.now:.2f}",
        "replacement": f"pass {100 * answer.now:.0f} % of the time",
    }
    return f" {has} {count} {gives[answer.question]}."


def _null(answer: Answer, several: int) -> str:
    """Caution that a judge of equal ratings would often pass the alternative annotator test."""
    if answer.null is None or answer.null < _NULL_PASSES:
        return ""
    where = f" on {answer.criterion}" if several > 1 else ""
    return (
        f" But{where} a judge that gives every story the same rating would pass {100 * answer.null:.0f} % of the time: "
        "passing says little there."
    )


def _next(own: Sequence[Lever]) -> Iterator[str]:
    """What raises tau most, and, where prices are known, the cheapest per gain."""
    gains: dict[str, list[Lever]] = {}
    for lever_row in own:
        if lever_row.gain is not None:
            gains.setdefault(lever_row.lever, []).append(lever_row)
    if not gains:
        yield "Nothing can be estimated: the reasons are below."
        return
    mean = {lever: sum(lever_row.gain or 0 for lever_row in some) / len(some) for lever, some in gains.items()}
    best = max(mean, key=lambda lever: mean[lever])
    yield (
        f"One more {best} raises tau x100 most: by {100 * mean[best]:.1f} on average over {len(gains[best])} of "
        f"{len({lever_row.criterion for lever_row in own})} criteria."
    )
    unknown = [lever for lever in dict.fromkeys(lever_row.lever for lever_row in own) if lever not in gains]
    if unknown:
        yield f"What one more {' or '.join(unknown)} would bring cannot be estimated; the reasons are below."
    priced = {
        lever: sum(lever_row.dollars or 0 for lever_row in some)
        / (100 * sum(lever_row.gain or 0 for lever_row in some))
        for lever, some in gains.items()
        if all(lever_row.dollars is not None for lever_row in some) and mean[lever] > 0
    }
    if priced:
        cheapest = min(priced, key=lambda lever: priced[lever])
        yield f"One point of tau x100 is cheapest by one more {cheapest}: about {about(priced[cheapest])}."


def _numbers(result: Planned) -> Table:
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for answer in result.answers:
        row = rows.setdefault(
            (answer.dataset, answer.criterion), {"dataset": answer.dataset, "criterion": answer.criterion}
        )
        row[answer.question] = (
            None if answer.number.value is None else f"{_count(answer.number.value)} ({answer.number.range})"
        )
    columns = [*_datasets(result), Column("criterion", "criterion")]
    columns += [Column(question, f"{question}: {unit}") for question, unit in _OF.items()]
    notes = [_RANGES, Advice("why a number is missing, and what there is now: {long}", long=True)]
    return Table("The same, criterion by criterion", columns, list(rows.values()), result.signature, notes)


def _long(result: Planned) -> Table:
    rows = [
        {
            **cells_of(answer, "dataset", "question", "criterion", "has", "now", "null", "limit", "design", "reason"),
            "number": answer.number.value,
            **cells_of(answer.number, "low", "high"),
            "of": answer.unit,
        }
        for answer in result.answers
    ]
    columns = [
        *_datasets(result),
        Column("question", "for"),
        *plain("criterion", "number"),
        *titled(low="10 %", high="90 %", of="of"),
        Column("has", "has", digits=0),
        Column("now", "gives", digits=3),
        Column("null", "constant judge passes %", digits=0, factor=100),
        *titled(limit="limit", design="with"),
        Column("reason", "why not", wrap=40),
    ]
    notes = [
        "gives: half-width of tau, least difference found, reliability (Ep², people's ICC(1,k)), share of tests passed",
        "constant judge passes: how often a judge that gives every story the same rating would pass with that number",
        _RANGES,
    ]
    return Table("The same, criterion by criterion", columns, rows, result.signature, notes)


def _datasets(result: Planned) -> list[Column]:
    return [Column("dataset", "dataset")] if len({answer.dataset for answer in result.answers}) > 1 else []


def _levers(result: Planned) -> Table:
    estimated = [lever for lever in result.levers if lever.gain is not None]
    rows = [
        {
            **cells_of(lever, "dataset", "criterion", "has", "tau", "last", "gain"),
            "lever": f"one more {lever.lever}",
            "range": None
            if lever.low is None or lever.high is None
            else f"{100 * lever.low:.1f} to {100 * lever.high:.1f}",
            "takes": f"{lever.ratings:,} ratings"
            if lever.ratings
            else f"{lever.answers:,} answers"
            if lever.answers
            else None,
            "dollars": lever.per_hundredth(lever.dollars),
            "tokens": lever.per_hundredth(lever.tokens),
            "hours": lever.per_hundredth(lever.hours),
        }
        for lever in estimated
    ]
    columns = [
        *_datasets(result),
        *titled(criterion="criterion", lever="what", has="has"),
        Column("tau", "tau-b x100", digits=1, factor=100),
        Column("last", "gain of the last one x100", digits=2, factor=100),
        Column("gain", "gain of the next x100", digits=2, factor=100),
        *titled(range="10-90 %", takes="takes"),
        *(column for column in _COSTS if any(row[column.key] is not None for row in rows)),
    ]
    notes = [
        "tau: of the mean of all ratings of a story with people's mean",
        "gain of the last one: tau with all less tau with one fewer, averaged over which is left out",
        "gain of the next: by Spearman and Brown's curve through that step",
        (
            "one more person makes people's mean more precise: tau then estimates the judge's agreement better, but "
            "the judge does not improve"
        ),
        "for .01 of tau: its cost at that rate; the next .01 costs more",
        *_untold(result.levers),
    ]
    if result.options.rater_price is None:
        notes.append(Advice("people's ratings are priced by {rater_price}", rater_price="DOLLARS"))
    return Table("What would the next hundredth of tau cost?", columns, rows, result.signature, notes)


def _untold(levers: Sequence[Lever]) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for lever_row in levers:
        if lever_row.gain is None:
            reasons.setdefault((lever_row.lever, lever_row.reason or "undefined"), []).append(lever_row.criterion)
    every = len({lever_row.criterion for lever_row in levers})
    for (lever, reason), names in reasons.items():
        where = "" if len(names) == every else f" on {', '.join(names)}"
        yield f"one more {lever}{where}: cannot be estimated, {reason}"


def _reading(result: Planned) -> tuple[str, ...]:
    if result.pilot:
        ranges = (
            "10-90 % range: how precisely the pilot estimates the number; more story-prompts in the pilot make "
            "it narrower"
        )
    else:
        ranges = "10-90 % range: over the study's judges and criteria; yours may differ as much, so run a pilot"
    own = "an order that repeats is the judge's own: judge systems shows whether people have it too"
    return (
        *result.notes,
        own,
        ranges,
        "story-prompts: new ones for these systems; tau: Kendall's tau-b over all stories",
    )


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _beyond() -> str:
    return f"beyond {_count(MOST)}"
