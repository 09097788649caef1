"""Tables of a certificate for printing: first the conditions, then the values reached."""

from __future__ import annotations

from judge.analysis.agreement.alternative_annotator import AltTestRow
from judge.analysis.agreement.replacement_verdict import is_below, passes
from judge.analysis.correlation.margins import CEILING, CONTROL
from judge.base.printing.tables import Column, Table
from judge.questions.certificate.certify import Certificate, CertifiedRow, Held

# Rows that fail a condition, on a screen; six criteria by four Eval-Prompts may fail each.
_SHOWN = 4


def certificate_tables(certificate: Certificate, *, brief: bool = False) -> list[Table]:
    """Whether each condition holds, and the values reached; `brief` names only the first failures."""
    whose = f"{certificate.fact.judge} on {certificate.matrix.dataset}"
    verdict = "holds" if certificate.holds else "does not hold"
    columns = [Column("condition", "condition"), Column("holds", "holds"), Column("failed", "fails at", wrap=90)]
    rows = [
        {
            "condition": condition.condition,
            "holds": condition.holds,
            "failed": _failed(condition, _SHOWN if brief else len(condition.failed)) or None,
        }
        for condition in certificate.conditions
    ]
    means = [f"{condition.condition}: {condition.meaning}" for condition in certificate.conditions]
    means += certificate.left_out.notes
    conditions = Table(f"The certificate of {whose} {verdict}", columns, rows, certificate.signature, means)
    numbers = [
        Column("eval_prompt", "eval prompt"),
        Column("criterion", "criterion"),
        Column("stories", "stories"),
        Column("tau", "tau x100", digits=1, factor=100),
        Column("person", "one more person", digits=1, factor=100),
        Column("control", "control", digits=1, factor=100),
        Column("icc", "ICC(1,1)"),
        Column("coverage", "rated %", digits=1, factor=100),
        Column("replaces", "may replace"),
        Column("wrong", "goes wrong", wrap=60),
    ]
    return [
        conditions,
        Table("What it reached", numbers, [_row(row) for row in certificate.rows], "", certificate.notes),
    ]


def _failed(condition: Held, most: int) -> str:
    more = f"; and {len(condition.failed) - most} more" if len(condition.failed) > most else ""
    return "; ".join(condition.failed[:most]) + more


def _row(row: CertifiedRow) -> dict[str, object]:
    test = row.replacement
    has_rate = test is not None and test.winning_rate.defined
    return {
        "eval_prompt": row.margin.eval_prompt,
        "criterion": row.margin.criteria[0],
        "stories": row.margin.stories,
        "tau": row.margin.value,
        "person": row.margin.bars[CEILING],
        "control": row.margin.bars[CONTROL],
        "icc": row.icc,
        "coverage": row.coverage,
        "replaces": _replaces(test, informed=row.informed) if test is not None and has_rate else None,
        "wrong": ". ".join(filter(None, (row.faults.verdict.text, row.faults.words()))),
    }


def _replaces(test: AltTestRow, *, informed: bool) -> str:
    if is_below(test):
        return "no"
    return "yes" if passes(test) and informed else "cannot tell"
