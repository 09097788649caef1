"""The audit's tables: coverage, error rates, agreement, annotators, strata, disagreements. Hides no way to count."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from judge.audit.file.store import AuditStore
from judge.audit.results.adjudication import disputes
from judge.audit.results.answer_matrix import Answered, answered
from judge.audit.results.disagreements import disagreements
from judge.audit.results.rates import agreement, agreement_with_others, rate_of_annotator, rates
from judge.audit.sample.practice import practice_score
from judge.errors import SpecError
from judge.printing.tables import Column, Table, printable
from judge.stats.agreement.chance_agreement import ONE_CATEGORY
from judge.version import __version__
from judge.wording import Advice

DEFAULT_BY = ("judge", "eval_prompt", "criterion")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Choices of a report.

    `by`: variables (`answer_matrix.LEVELS`) whose levels get rates of their own. `annotators`: these alone, empty =
    all. `resamples` and `seed` are of alpha's interval where no two items are of one story. `top`: disagreements
    listed, 0 = all.
    """

    by: tuple[str, ...] = DEFAULT_BY
    annotators: tuple[str, ...] = ()
    resamples: int = 1000
    seed: int = 1
    top: int = 10


EXEMPT = {"by": "adds tables; no number depends on it", "top": "the length of a list; no number depends on it"}
"""Options that do not stand in the signature, and why."""


def tables(store: AuditStore, options: ReportOptions | None = None) -> list[Table]:
    """All tables of the report, in reading order; the first says what was answered and what was left out.

    Raises SpecError for an audit without a finished item.
    """
    options = options or ReportOptions()
    if options.resamples < 0 or options.top < 0:
        raise SpecError(Advice("{resamples} and {top} must be 0 or more"))
    found = answered(store, options.annotators)
    if not found.raters.any():
        hint = f"judge audit serve {store.path}"
        raise SpecError(f"{store.path}: no annotator has finished an item yet", hint=hint)
    bare, rated = signature(store, found), signature(store, found, "ci:wilson-stories")
    made = [
        _coverage(store, found, bare),
        _rates(store, found, rated),
        _agreement(store, found, options),
        _annotators(store, found, rated),
    ]
    made += [one for name in options.by if (one := _by(found, name, rated)) is not None]
    return [*made, disagreements(store, found, options.top, bare)]


def signature(store: AuditStore, found: Answered, intervals: str = "") -> str:
    """Everything that can move a number of a table with these intervals; last the sample's own signature."""
    drawn = str(store.meta["sampling"].get("signature", "not drawn here")).removesuffix(f"|v{__version__}")
    parts = [
        f"audit:{store.audit_id}",
        f"items:{int((found.raters > 0).sum())}/{len(found.items)}",
        f"annotators:{','.join(found.annotators)}",
        f"categories:{','.join(c.key for c in found.categories)}",
        f"settled:{found.settled}/{found.settled + found.open}" if found.settled else "",
        intervals,
        f"of:{drawn}",
        f"v{__version__}",
    ]
    return printable("|".join(part for part in parts if part))


def _coverage(store: AuditStore, found: Answered, line: str) -> Table:
    raters = found.raters
    row = {
        "items": len(found.items),
        "done": int((raters > 0).sum()),
        "twice": int((raters > 1).sum()),
        "annotators": len(found.annotators),
        "begun": found.begun,
        "settled": found.settled,
        "open": found.open if found.settled else _disputed(store),
    }
    columns = [
        Column("items", "items"),
        Column("done", "done by somebody"),
        Column("twice", "by two or more"),
        Column("annotators", "annotators"),
        Column("begun", "begun, not counted"),
        Column("settled", "settled"),
        Column("open", "not settled"),
    ]
    notes = [*store.notes]
    if store.blind:
        notes.append(f"annotators were not shown: {', '.join(store.blind)}")
    notes.append("settled, not settled: answers on which annotators differ, by the second round")
    return Table("What was answered", columns, [row], line, notes)


def _disputed(store: AuditStore) -> int:
    return sum(len(one.open) for one in disputes(store))


def _rates(store: AuditStore, found: Answered, line: str) -> Table:
    unequal = bool(store.meta["sampling"].get("unequal"))
    rows = []
    ties = 0
    for category in found.categories:
        one = rates(found, category.key)
        ties += one.ties
        row: dict[str, Any] = {"category": category.label, "mean": one.mean, "majority": one.majority, "any": one.any}
        row |= {"final": one.final, "weighted": one.weighted, "items": one.mean.n}
        rows.append(row)
    columns = [Column("category", "error")]
    columns += [_percent(name, name) for name in ("mean", "majority", "any")]
    columns += [_percent("final", "after adjudication")] if found.settled else []
    columns += [_percent("weighted", "mean, weighted")] if unequal else []
    columns.append(Column("items", "items"))
    notes = [
        "x100, of explanations; mean: share of an item's annotators, averaged over items",
        "majority: more than half of an item's annotators; any: one or more",
        "intervals: Wilson's with the effective n of stories as clusters",
    ]
    if ties:
        notes.append(
            f"in {ties} cases (an item and an error) as many annotators say yes as no: a tie, which is no majority"
        )
    if unequal:
        notes.append(
            "strata were drawn unequally: weighted rates speak of all explanations that could be drawn, others of these"
        )
    if found.settled and found.open:
        notes.append(f"after adjudication: {found.open} answers that nobody has settled are left out")
    return Table("Error rates", columns, rows, line, notes)


def _agreement(store: AuditStore, found: Answered, options: ReportOptions) -> Table:
    rows: list[dict[str, Any]] = []
    for category in found.categories:
        one = agreement(found, category.key, resamples=options.resamples, seed=options.seed)
        row = {"category": category.label, "ac1": one.ac1.estimate, "fleiss": one.fleiss.estimate}
        row |= {"alpha": one.alpha.estimate, "raw": one.ac1.raw, "items": one.ac1.raw.n}
        rows.append(row | {"stories": one.ac1.stories})
    columns = [
        Column("category", "error"),
        Column("ac1", "AC1"),
        Column("raw", "raw agreement"),
        Column("fleiss", "Fleiss' kappa"),
        Column("alpha", "Krippendorff's alpha"),
        Column("items", "items"),
        Column("stories", "stories"),
    ]
    intervals, drawn = _intervals(options, shared=any(row["stories"] < row["items"] for row in rows))
    notes = [
        "over items that two annotators or more finished",
        "where nearly all answers are no, kappa and alpha are near 0 however often annotators agree; AC1 is not",
        intervals,
    ]
    alike = ", ".join(row["category"] for row in rows if row["alpha"].reason == ONE_CATEGORY)
    if alike:
        notes.append(
            f"{alike}: every answer is the same; kappa and alpha are 0/0 there, and AC1, which counts with both "
            "answers, yes and no, whichever were given, is 1"
        )
    return Table("Agreement between annotators", columns, rows, signature(store, found, drawn), notes)


def _intervals(options: ReportOptions, *, shared: bool) -> tuple[str, str]:
    """A note on the intervals of agreement, and their part of the signature."""
    if shared:
        note = (
            "several items are of one story and not independent: intervals by the jackknife over stories, with "
            "Student's t and the effective number of stories"
        )
        return note, "ci:jackknife-stories"
    note = "AC1's and kappa's intervals: t over items, Gwet's standard error; alpha's: percentile over resampled items"
    return note, f"ci:t-items|alpha:boot-items/{options.resamples}/seed{options.seed}"


def _annotators(store: AuditStore, found: Answered, line: str) -> Table:
    remarks = store.remarks()
    rows = []
    first = found.given[found.categories[0].key]
    for j, name in enumerate(found.annotators):
        done = [item.id for i, item in enumerate(found.items) if not np.isnan(first[i, j])]
        seconds = [s for i in done if (s := remarks.get((name, i), ("", None))[1]) is not None]
        right, of = practice_score(store, name)
        row: dict[str, Any] = {
            "annotator": name,
            "done": len(done),
            "seconds": median(seconds) if seconds else None,
            "practice": f"{right}/{of}" if of else None,
            "agreement": agreement_with_others(found, name),
        }
        rows.append(row | {c.key: rate_of_annotator(found, name, c.key) for c in found.categories})
    columns = [
        Column("annotator", "annotator"),
        Column("done", "items"),
        Column("seconds", "seconds, median", digits=1),
        Column("practice", "practice"),
        _percent("agreement", "equals others x100"),
        *(_percent(c.key, f"{c.label} x100") for c in found.categories),
    ]
    notes = ["equals others: share of answers that equal another annotator's on the same item and category"]
    if any(row["practice"] for row in rows):
        notes.append("practice: answers as expected, of those given in the practice round, which count nowhere else")
    return Table("Annotators", columns, rows, line, notes)


def _by(found: Answered, name: str, line: str) -> Table | None:
    """Mean rates by a variable; None where it has one level or is not known."""
    levels = found.levels(name)
    known = [level for level in dict.fromkeys(levels) if level is not None]
    if len(known) < 2:
        return None
    rows = []
    for level in sorted(known):
        where = np.array([one == level for one in levels])
        row: dict[str, Any] = {name: level, "items": int((found.raters[where] > 0).sum())}
        rows.append(row | {c.key: rates(found, c.key, where).mean for c in found.categories})
    columns = [Column(name, name.replace("_", " ")), Column("items", "items")]
    columns += [_percent(c.key, f"{c.label} x100") for c in found.categories]
    notes = ["mean rates of the sample, not weighted; with few items intervals are wide, and differences are not tests"]
    lost = sum(level is None for level in levels)
    if lost:
        notes.append(f"{lost} items of no known {name.replace('_', ' ')} are left out")
    return Table(f"Error rates by {name.replace('_', ' ')}", columns, rows, line, notes)


def _percent(key: str, title: str) -> Column:
    return Column(key, title, digits=1, factor=100)
