"""Tables of `judge contamination`: AUC of scores, the contamination report, and agreement in two halves of the
stories.
"""

from __future__ import annotations

from judge.analysis.inputs.candidates import first_columns
from judge.base.printing.tables import Column, Table
from judge.contamination.auc import Areas
from judge.contamination.report import ContaminationReport
from judge.contamination.validity import PARTS, Validity


def auc_table(areas: Areas) -> Table:
    """Table of AUC, true-positive rate, best accuracy and threshold of every score that separates texts seen in
    training from unseen texts, sorted by AUC, highest first.
    """
    columns = [
        Column("score", "score"),
        Column("auc", "AUC", digits=3),
        Column("tpr", f"TPR at {100 * areas.options.fpr:g} % FPR x100", digits=1, factor=100),
        Column("accuracy", "best accuracy x100", digits=1, factor=100),
        Column("threshold", "threshold", digits=4),
        Column("seen", "seen"),
        Column("unseen", "unseen"),
        Column("undefined", "undefined"),
    ]
    rows = [row.cells for row in areas.rows]
    title = f"Seen against unseen texts of {areas.source}, {areas.judge}"
    return Table(title, columns, rows, areas.signature, areas.notes)


def report_table(report: ContaminationReport) -> Table:
    """Table of the contamination report, with one row for each scores file."""
    columns = [
        Column("model", "model"),
        Column("set", "story set"),
        Column("rate", "seems seen x100", digits=1, factor=100),
        Column("unseen", "of unseen texts x100", digits=1, factor=100),
        Column("corrected", "seen, corrected x100", digits=1, factor=100),
        Column("stories", "stories"),
        Column("undefined", "undefined"),
        Column("threshold", "threshold", digits=4),
        Column("rule", "rule"),
        Column("auc", "AUC", digits=3),
        Column("labelled", "labelled set"),
        Column("own", "own stories of"),
        Column("people", "rated by people"),
        Column("judges", "rated by judges"),
    ]
    rows = [row.cells for row in report.rows]
    return Table(f"Contamination by {report.options.score}", columns, rows, report.signature, report.notes)


def validity_table(validity: Validity) -> Table:
    """Table of a judge's agreement with human ratings on stories with high and with low contamination scores, with one
    row for each scores file and judge (with Eval-Prompt and criterion).
    """
    rows = [row.cells for row in validity.rows]
    columns = [
        Column("model", "scored by"),
        *first_columns(rows),
        Column("cut", "cut", digits=3),
        Column("high", "n high"),
        Column("low", "n low"),
        *(
            Column(f"{key}_{part}", f"{title} {part}{' x100' if key == 'tau' else ''}", digits=digits, factor=factor)
            for key, title, digits, factor in (("tau", "tau-b", 1, 100), ("error", "|judge - people|", 2, 1))
            for part in PARTS
        ),
    ]
    title = "Agreement with people where contamination is high and low"
    return Table(title, columns, rows, validity.signature, validity.notes)
