"""How far judges agree with themselves over repeats, people with each other beside them. Draws; never computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from judge.analysis.options.table_options import ConsistencyOptions
from judge.analysis.reliability import consistency
from judge.analysis.reliability.consistency import PEOPLE
from judge.pages.charts import Interval, IntervalPanel, Intervals
from judge.printing.tables import Table
from judge.report.blocks import figure, prose, shown, spread
from judge.report.inputs import ReportInputs
from judge.report.sections.agreement import worded
from judge.stats.estimate import Estimate

_FORM = "ICC(1,1)"


def blocks(inputs: ReportInputs) -> list[Markup]:
    """A picture of ICC(1,1) where any is defined, and the table."""
    (table,) = consistency.tables(inputs.table, ConsistencyOptions(drop_systems=inputs.options.drop_systems))
    judged = [row for row in table.rows if row["judge"] != PEOPLE]
    made = []
    if any(_icc(row).defined for row in judged):
        made.append(figure(_picture(table.rows), _caption(table)))
        made.append(prose("High consistency is not validity: a judge that always says 3 is consistent."))
    else:
        reasons = dict.fromkeys(_icc(row).reason or "undefined" for row in judged)
        made.append(prose(f"Consistency over repeats: {'; '.join(reasons) or 'no judge was asked'}."))
    return [*made, shown(table, inputs)]


def _icc(row: Mapping[str, Any]) -> Estimate:
    found = row.get(_FORM)
    return found if isinstance(found, Estimate) else Estimate.undefined("undefined")


def _who(row: Mapping[str, Any]) -> str:
    return ", ".join(str(part) for part in (row["judge"], row["eval_prompt"]) if part)


def _with_people(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether people's agreement with each other stands beside the judges'."""
    return any(row["judge"] == PEOPLE for row in rows)


def _picture(rows: Sequence[Mapping[str, Any]]) -> Markup:
    names = list(dict.fromkeys(map(_who, rows)))
    criteria = list(dict.fromkeys(str(row["criterion"]) for row in rows))
    known = {(_who(row), str(row["criterion"])): row for row in rows}
    judges = list(dict.fromkeys(str(row["judge"]) for row in rows if row["judge"] != PEOPLE))

    def dot(name: str, criterion: str) -> Interval:
        row = known.get((name, criterion))
        found = _icc(row) if row else Estimate.undefined("not asked")
        tip = f"{name}, {criterion}: {worded(found, factor=1, digits=2)}"
        kind = judges.index(str(row["judge"])) % 7 + 1 if row and row["judge"] in judges else 8
        return Interval(found.value, found.low, found.high, tip, kind=kind)

    of_raters = " (judges) and of raters (people)" if _with_people(rows) else ""
    return Intervals(
        identity="consistency-dots",
        title=f"{_FORM} of repeats{of_raters}, with 95 % intervals",
        description=f"{len(names)} rows in {len(criteria)} panels, one a criterion. A table follows.",
        rows=names,
        panels=[IntervalPanel(name, [dot(one, name) for one in names]) for name in criteria],
        unit=_FORM,
    ).svg()


def _caption(table: Table) -> str:
    counts = [int(row["n"]) for row in table.rows if row["judge"] != PEOPLE]
    counted = f"{spread('n =', counts)} complete stories" if counts else "no judge"
    people = " (for people, one rater with another)" if _with_people(table.rows) else ""
    return f"{_FORM}: one repeat with another{people}, with F intervals, 95 %; {counted}."
