"""The audit's report as tables: coverage, rates, agreement, annotators, strata, disagreements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from judge.audit.results.disagreements import Disagreement
from judge.audit.results.report import AuditReport, Strata
from judge.printing.tables import Column, Table, printable
from judge.stats.agreement.chance_agreement import ONE_CATEGORY
from judge.wording import Advice

_TEXT = 100
_ALIKE = 40
"""Letters after which a beginning that two explanations share is left out of the list."""


def audit_tables(report: AuditReport) -> list[Table]:
    """All tables of the report, in reading order; the first says what was answered and what was left out."""
    made = [_coverage(report), _rates(report), _agreement(report), _annotators(report)]
    return [*made, *(_by(report, one) for one in report.strata), _disagreements(report)]


def _coverage(report: AuditReport) -> Table:
    found, audit = report.answered, report.audit
    row = {
        "items": len(found.items),
        "done": int((found.raters > 0).sum()),
        "twice": int((found.raters > 1).sum()),
        "annotators": len(found.annotators),
        "begun": found.begun,
        "settled": found.settled,
        "open": found.open,
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
    notes = [*audit.notes]
    if audit.blind:
        notes.append(f"annotators were not shown: {', '.join(audit.blind)}")
    notes.append("settled, not settled: answers on which annotators differ, by the second round")
    return Table("What was answered", columns, [row], report.signature, notes)


def _rates(report: AuditReport) -> Table:
    found, unequal = report.answered, bool(report.audit.sampling.get("unequal"))
    rows = [
        {
            "category": one.category.label,
            "mean": one.rates.mean,
            "majority": one.rates.majority,
            "any": one.rates.any,
            "final": one.rates.final,
            "weighted": one.rates.weighted,
            "items": one.rates.mean.n,
        }
        for one in report.errors
    ]
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
    if ties := sum(one.rates.ties for one in report.errors):
        notes.append(
            f"in {ties} cases (an item and an error) as many annotators say yes as no: a tie, which is no majority"
        )
    if unequal:
        notes.append(
            "strata were drawn unequally: weighted rates speak of all explanations that could be drawn, others of these"
        )
    if found.settled and found.open:
        notes.append(f"after adjudication: {found.open} answers that nobody has settled are left out")
    return Table("Error rates", columns, rows, report.rates_signature, notes)


def _agreement(report: AuditReport) -> Table:
    rows = [
        {
            "category": one.category.label,
            "ac1": one.agreement.ac1.estimate,
            "fleiss": one.agreement.fleiss.estimate,
            "alpha": one.agreement.alpha.estimate,
            "raw": one.agreement.ac1.raw,
            "items": one.agreement.ac1.raw.n,
            "stories": one.agreement.ac1.stories,
        }
        for one in report.errors
    ]
    columns = [
        Column("category", "error"),
        Column("ac1", "AC1"),
        Column("raw", "raw agreement"),
        Column("fleiss", "Fleiss' kappa"),
        Column("alpha", "Krippendorff's alpha"),
        Column("items", "items"),
        Column("stories", "stories"),
    ]
    notes = [
        "over items that two annotators or more finished",
        "where nearly all answers are no, kappa and alpha are near 0 however often annotators agree; AC1 is not",
        _CLUSTERED if report.clustered else _SINGLE,
    ]
    same = [one.category.label for one in report.errors if one.agreement.alpha.estimate.reason == ONE_CATEGORY]
    if same:
        notes.append(
            f"{', '.join(same)}: every answer is the same; kappa and alpha are 0/0 there, and AC1, which counts with "
            "both answers, yes and no, whichever were given, is 1"
        )
    return Table("Agreement between annotators", columns, rows, report.agreement_signature, notes)


_CLUSTERED = (
    "several items are of one story and not independent: intervals by the jackknife over stories, with Student's t and "
    "the effective number of stories"
)
_SINGLE = "AC1's and kappa's intervals: t over items, Gwet's standard error; alpha's: percentile over resampled items"


def _annotators(report: AuditReport) -> Table:
    rows = [
        {
            "annotator": one.name,
            "done": one.done,
            "seconds": one.seconds,
            "practice": "{}/{}".format(*one.practice) if one.practice[1] else None,
            "agreement": one.agreement,
            **one.rates,
        }
        for one in report.annotators
    ]
    columns = [
        Column("annotator", "annotator"),
        Column("done", "items"),
        Column("seconds", "seconds, median", digits=1),
        Column("practice", "practice"),
        _percent("agreement", "equals others x100"),
        *_errors(report),
    ]
    notes = ["equals others: share of answers that equal another annotator's on the same item and category"]
    if any(one.practice[1] for one in report.annotators):
        notes.append("practice: answers as expected, of those given in the practice round, which count nowhere else")
    return Table("Annotators", columns, rows, report.rates_signature, notes)


def _by(report: AuditReport, strata: Strata) -> Table:
    name = strata.variable.replace("_", " ")
    rows = [{strata.variable: one.level, "items": one.items, **one.rates} for one in strata.levels]
    columns = [Column(strata.variable, name), Column("items", "items"), *_errors(report)]
    notes = ["mean rates of the sample, not weighted; with few items intervals are wide, and differences are not tests"]
    if strata.unknown:
        notes.append(f"{strata.unknown} items of no known {name} are left out")
    return Table(f"Error rates by {name}", columns, rows, report.rates_signature, notes)


def _disagreements(report: AuditReport) -> Table:
    """Items on which annotators differ, as many as the options say."""
    found, top = report.disagreements, report.options.top
    shown = found[:top] if top else found
    columns = [Column("item", "no."), Column("story", "story"), Column("criterion", "criterion")]
    columns += [Column("differ", "annotators differ on", wrap=50)]
    if report.audit.adjudication.answers:
        columns += [Column("final", "settled", wrap=40), Column("by", "by, reason", text=True, wrap=50)]
    columns += [Column("notes", "notes", text=True, wrap=50)] if any(one.notes for one in shown) else []
    columns += [Column("explanation", "explanation", text=True, wrap=50)]
    notes = [f"{len(found)} items on which annotators differ, {len(shown)} shown, most dissent first"]
    notes += [Advice("{top} shows all", top=0)] if len(shown) < len(found) else []
    notes.append("no.: the number of the item on its page, which is not its place in an annotator's order")
    texts = _told_apart([one.item.subject.explanation for one in shown])
    rows = [_listed(one, text) for one, text in zip(shown, texts, strict=True)]
    return Table("Disagreements", columns, rows, report.signature, notes)


def _listed(one: Disagreement, text: str) -> dict[str, object]:
    subject = one.item.subject
    final = [f"{c.label}: {('no', 'yes')[value]}" for c, value in one.final]
    return {
        "item": one.item.id,
        "story": subject.story,
        "criterion": subject.criterion.name if subject.criterion else None,
        "differ": "; ".join(f"{split.category.label} {split.yes} yes {split.no} no" for split in one.differ),
        "final": "; ".join(final) or None,
        "by": " / ".join(f"{who}: {why}" if why else who for who, why in one.by) or None,
        "notes": " / ".join(f"{who}: {note}" for who, note in one.notes) or None,
        "explanation": text,
        "dissent": one.dissent,
    }


def _told_apart(texts: Sequence[str]) -> list[str]:
    """Each text in short: from where it differs from the others on, if it begins as another does at some length."""
    lines = [" ".join(printable(text).split()) for text in texts]
    ordered = sorted(set(lines))
    shared = dict.fromkeys(ordered, 0)
    for one, other in pairwise(ordered):  # whoever shares most with a text is beside it in this order
        length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
        shared[one], shared[other] = max(shared[one], length), max(shared[other], length)
    return [_short(line, shared[line]) for line in lines]


def _short(line: str, shared: int) -> str:
    if len(line) <= _TEXT:
        return line
    # From the word on in which they differ.
    start = line.rfind(" ", 0, shared) + 1 if shared >= _ALIKE else 0
    rest = line[start:]
    return ("…" if start else "") + (rest if len(rest) <= _TEXT else f"{rest[: _TEXT - 1].rstrip()}…")


def _errors(report: AuditReport) -> list[Column]:
    return [_percent(one.category.key, f"{one.category.label} x100") for one in report.errors]


def _percent(key: str, title: str) -> Column:
    return Column(key, title, digits=1, factor=100)
