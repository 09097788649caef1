"""An audit as pandas frames for notebooks: items, answers and the report's tables."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.explanations.audit.file.snapshot import AuditSnapshot, read_audit
from judge.explanations.audit.file.store import ADJUDICATION, ANNOTATION

if TYPE_CHECKING:
    import pandas as pd

    from judge.explanations.audit.results.report import AuditReport


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
        rows = [
            (
                a.annotator,
                a.item,
                a.category,
                a.value,
                a.done,
                round_answers.note(a.annotator, a.item) or None,
                round_answers.seconds(a.annotator, a.item),
            )
            for a in round_answers.answers
        ]
        return pd.DataFrame(rows, columns=["annotator", "item", "category", "value", "done", "note", "seconds"])

    def report(self, **options: Any) -> AuditReport:
        """The report of the audit as an object with a `.frame`. Options are the fields of `ReportOptions`."""
        from judge.analysis.options.table_options import from_words
        from judge.explanations.audit.options import ReportOptions
        from judge.explanations.audit.results.report import report

        return report(self.read(), from_words(ReportOptions, **options))

    def tables(self, **options: Any) -> dict[str, pd.DataFrame]:
        """The report's tables by title, with intervals in `..._low` and `..._high`. Options: `ReportOptions`."""
        import pandas as pd

        from judge.base.printing.tables import flat_row
        from judge.explanations.audit.results.printed import audit_tables

        tables = audit_tables(self.report(**options))
        return {table.title: pd.DataFrame([flat_row(row, table.columns) for row in table.rows]) for table in tables}

    def __repr__(self) -> str:
        return f"OpenedAudit({str(self.path)!r})"
