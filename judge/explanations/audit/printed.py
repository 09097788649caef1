"""The audit's report as tables and data frames: coverage, rates, agreement, annotators, strata, disagreements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.base.printing.tables import Column, Table, cells_of, plain, printable
from judge.base.wording import Advice
from judge.explanations.audit.answer_matrix import Disagreement
from judge.explanations.audit.report import AuditReport, Strata
from judge.explanations.audit.store import ADJUDICATION, ANNOTATION, AuditSnapshot, read_audit
from judge.stats.agreement.chance_agreement import ONE_CATEGORY

if TYPE_CHECKING:
    import pandas as pd

    from judge.explanations.audit.report import AuditReport


_TEXT = 100
# Letters after which a beginning that two explanations share is left out of the list.
_ALIKE = 40


def audit_tables(report: AuditReport) -> list[Table]:
    """All tables of the report; the first one says how much was answered and how much was left out."""
    tables = [_coverage(report), _rates(report), _agreement(report), _annotators(report)]
    return [*tables, *(_by(report, strata) for strata in report.strata), _disagreements(report)]


def _coverage(report: AuditReport) -> Table:
    answered, audit = report.answered, report.audit
    row = {
        "items": len(answered.items),
        "done": int((answered.raters > 0).sum()),
        "twice": int((answered.raters > 1).sum()),
        "annotators": len(answered.annotators),
        **cells_of(answered, "begun", "settled", "open"),
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
    answered, unequal = report.answered, bool(report.audit.sampling.get("unequal"))
    rows = [
        {"category": error.category.label}
        | cells_of(error.rates, "mean", "majority", "any", "final", "weighted", items=error.rates.mean.n)
        for error in report.errors
    ]
    columns = [Column("category", "error")]
    columns += [_percent(name, name) for name in ("mean", "majority", "any")]
    columns += [_percent("final", "after adjudication")] if answered.settled else []
    columns += [_percent("weighted", "mean, weighted")] if unequal else []
    assisted = {e.category.label: e.rates.assisted for e in report.errors if e.rates.assisted is not None}
    if assisted:
        rows = [row | {"assisted": assisted[str(row["category"])].share} for row in rows]
        columns.append(_percent("assisted", "whole run, assisted"))
    columns.append(Column("items", "items"))
    notes = [
        "x100, of explanations; mean: share of an item's annotators, averaged over items",
        "majority: more than half of an item's annotators; any: one or more",
        "intervals: Wilson's with the effective n of stories as clusters",
    ]
    if ties := sum(error.rates.ties for error in report.errors):
        notes.append(
            f"in {ties} cases (an item and an error) as many annotators say yes as no: a tie, which is no majority"
        )
    if unequal:
        notes.append(
            "strata were sampled unequally: weighted rates describe all explanations that could be sampled, "
            "other rates only these items"
        )
    notes += _of_helper(report)
    if answered.settled and answered.open:
        notes.append(f"after adjudication: {answered.open} answers that were not adjudicated are left out")
    return Table("Error rates", columns, rows, report.rates_signature, notes)


def _of_helper(report: AuditReport) -> list[str]:
    found = [(error.category.label, error.rates.assisted) for error in report.errors]
    worths = {label: each.worth for label, each in found if each is not None and each.worth is not None}
    if not worths:
        return []
    earns = [f"{label} ({worth:.2f} times as precise)" for label, worth in worths.items() if worth > 1]
    words = f"earns it for {', '.join(earns)}" if earns else "earns it for no error: take the weighted mean"
    name = report.audit.sampling["helper"]["name"]
    return [f"whole run, assisted: prediction-powered, with the {name} of all explanations as helper, which {words}"]


def _agreement(report: AuditReport) -> Table:
    rows = [
        {
            "category": error.category.label,
            "ac1": error.agreement.ac1.estimate,
            "fleiss": error.agreement.fleiss.estimate,
            "alpha": error.agreement.alpha.estimate,
            "raw": error.agreement.ac1.raw,
            "items": error.agreement.ac1.raw.n,
            "stories": error.agreement.ac1.stories,
        }
        for error in report.errors
    ]
    columns = [
        Column("category", "error"),
        Column("ac1", "AC1"),
        Column("raw", "raw agreement"),
        Column("fleiss", "Fleiss' kappa"),
        Column("alpha", "Krippendorff's alpha"),
        *plain("items", "stories"),
    ]
    notes = [
        "over items that two annotators or more finished",
        "where nearly all answers are no, kappa and alpha are near 0 however often annotators agree; AC1 is not",
        _CLUSTERED if report.clustered else _SINGLE,
    ]
    same = [error.category.label for error in report.errors if error.agreement.alpha.estimate.reason == ONE_CATEGORY]
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
            "annotator": row.name,
            **cells_of(row, "done", "seconds"),
            "practice": "{}/{}".format(*row.practice) if row.practice[1] else None,
            "agreement": row.agreement,
            **row.rates,
        }
        for row in report.annotators
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
    if any(row.practice[1] for row in report.annotators):
        notes.append("practice: answers as expected, of those given in the practice round, which count nowhere else")
    return Table("Annotators", columns, rows, report.rates_signature, notes)


def _by(report: AuditReport, strata: Strata) -> Table:
    name = strata.variable.replace("_", " ")
    rows = [{strata.variable: stratum.level, "items": stratum.items, **stratum.rates} for stratum in strata.levels]
    columns = [Column(strata.variable, name), Column("items", "items"), *_errors(report)]
    notes = ["mean rates of the sample, not weighted; with few items intervals are wide, and differences are not tests"]
    if strata.unknown:
        notes.append(f"{strata.unknown} items of no known {name} are left out")
    return Table(f"Error rates by {name}", columns, rows, report.rates_signature, notes)


def _disagreements(report: AuditReport) -> Table:
    disagreements, top = report.disagreements, report.options.top
    shown = disagreements[:top] if top else disagreements
    columns = [Column("item", "no."), *plain("story", "criterion")]
    columns += [Column("differ", "annotators differ on", wrap=50)]
    if report.audit.adjudication.answers:
        columns += [Column("final", "settled", wrap=40), Column("by", "by, reason", text=True, wrap=50)]
    columns += (
        [Column("notes", "notes", text=True, wrap=50)] if any(disagreement.notes for disagreement in shown) else []
    )
    columns += [Column("explanation", "explanation", text=True, wrap=50)]
    notes = [f"{len(disagreements)} items on which annotators differ, {len(shown)} shown, most dissent first"]
    notes += [Advice("{top} shows all", top=0)] if len(shown) < len(disagreements) else []
    notes.append("no.: the number of the item on its page, which is not its place in an annotator's order")
    texts = _told_apart([disagreement.item.subject.explanation for disagreement in shown])
    rows = [_listed(disagreement, text) for disagreement, text in zip(shown, texts, strict=True)]
    return Table("Disagreements", columns, rows, report.signature, notes)


def _listed(disagreement: Disagreement, text: str) -> dict[str, object]:
    subject = disagreement.item.subject
    final = [f"{c.label}: {('no', 'yes')[value]}" for c, value in disagreement.final]
    return {
        "item": disagreement.item.id,
        "story": subject.story,
        "criterion": subject.criterion.name if subject.criterion else None,
        "differ": "; ".join(f"{split.category.label} {split.yes} yes {split.no} no" for split in disagreement.differ),
        "final": "; ".join(final) or None,
        "by": " / ".join(f"{who}: {why}" if why else who for who, why in disagreement.by) or None,
        "notes": " / ".join(f"{who}: {note}" for who, note in disagreement.notes) or None,
        "explanation": text,
        "dissent": disagreement.dissent,
    }


def _told_apart(texts: Sequence[str]) -> list[str]:
    lines = [" ".join(printable(text).split()) for text in texts]
    ordered = sorted(set(lines))
    # A long text that begins like another one is cut at the start too, so that the difference is visible.
    shared = dict.fromkeys(ordered, 0)
    for left, other in pairwise(ordered):  # whoever shares most with a text is beside it in this order
        length = next((i for i, (a, b) in enumerate(zip(left, other, strict=False)) if a != b), len(left))
        shared[left], shared[other] = max(shared[left], length), max(shared[other], length)
    return [_short(line, shared[line]) for line in lines]


def _short(line: str, shared: int) -> str:
    if len(line) <= _TEXT:
        return line
    # From the word on in which they differ.
    start = line.rfind(" ", 0, shared) + 1 if shared >= _ALIKE else 0
    rest = line[start:]
    return ("…" if start else "") + (rest if len(rest) <= _TEXT else f"{rest[: _TEXT - 1].rstrip()}…")


def _errors(report: AuditReport) -> list[Column]:
    return [_percent(error.category.key, f"{error.category.label} x100") for error in report.errors]


def _percent(key: str, title: str) -> Column:
    return Column(key, title, digits=1, factor=100)


class OpenedAudit:
    """One audit as pandas frames. Every method reads the audit file again, so that new answers are included."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.read()

    def read(self) -> AuditSnapshot:
        return read_audit(self.path)

    def items(self) -> pd.DataFrame:
        """One row for each item: `item, dataset, story, system, story_prompt, text, reference, criterion, explanation`
        and the facts `run, judge, eval_prompt, repeat, rating, people, gap, cluster, stratum, weight`."""
        import pandas as pd

        rows = []
        for item in self.read().items:
            row = {"item": item.id, **asdict(item.subject)}
            facts = row.pop("facts")
            row["criterion"] = item.subject.criterion.name if item.subject.criterion else None
            rows.append(row | facts)
        return pd.DataFrame(rows)

    def answers(self, round_no: int = ANNOTATION) -> pd.DataFrame:
        """One row for each answer: `annotator, item, category, value, done, note, seconds`; `value` 1 = error present.
        Round 2 holds the settled answers. The report leaves out answers that are not `done`: other categories are
        missing."""
        import pandas as pd

        audit = self.read()
        round_answers = audit.adjudication if round_no == ADJUDICATION else audit.annotation
        names = ("annotator", "item", "category", "value", "done")
        rows = []
        for answer in round_answers.answers:
            place = (answer.annotator, answer.item)
            note, seconds = round_answers.note(*place) or None, round_answers.seconds(*place)
            rows.append(cells_of(answer, *names, note=note, seconds=seconds))
        return pd.DataFrame(rows, columns=[*names, "note", "seconds"])

    def report(self, **options: Any) -> AuditReport:
        """The report of the audit as an object with a `.frame`. Options are the fields of `ReportOptions`."""
        from judge.analysis.options.table_options import from_words
        from judge.explanations.audit.options import ReportOptions
        from judge.explanations.audit.report import report

        return report(self.read(), from_words(ReportOptions, **options))

    def tables(self, **options: Any) -> dict[str, pd.DataFrame]:
        """The report's tables by title, with intervals in `..._low` and `..._high`. Options: `ReportOptions`."""
        import pandas as pd

        from judge.base.printing.tables import flat_row

        tables = audit_tables(self.report(**options))
        return {table.title: pd.DataFrame([flat_row(row, table.columns) for row in table.rows]) for table in tables}

    def __repr__(self) -> str:
        return f"OpenedAudit({str(self.path)!r})"
