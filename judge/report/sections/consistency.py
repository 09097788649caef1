"""How far judges agree with themselves over repeats, people with each other beside them. Draws; never computes."""

from __future__ import annotations

from markupsafe import Markup

from judge.analysis.options.signature import abbreviations
from judge.analysis.options.table_options import ConsistencyOptions
from judge.analysis.reliability import consistency
from judge.analysis.reliability.consistency import PEOPLE
from judge.charts import consistency as chart
from judge.pages import charts
from judge.report.blocks import figure, prose, shown
from judge.report.inputs import ReportInputs

_FORM = "ICC(1,1)"


def blocks(inputs: ReportInputs) -> list[Markup]:
    """A picture of ICC(1,1) where any is defined, and the table."""
    (table,) = consistency.tables(inputs.table, ConsistencyOptions(drop_systems=inputs.options.drop_systems))
    judged = [row for row in table.rows if row["judge"] != PEOPLE]
    made = []
    if any(row[_FORM].defined for row in judged):
        found = chart.forest(
            table.rows,
            _FORM,
            dataset=", ".join(matrix.dataset for matrix in inputs.matrices),
            short=abbreviations(inputs.table),
            controls={fact.judge for fact in inputs.table.facts if fact.control},
            signature=table.signature,
            raters=inputs.raters,
        )
        made.append(figure(charts.forest(found, "consistency-dots"), found.caption))
        made.append(prose("High consistency is not validity: a judge that always says 3 is consistent."))
    else:
        reasons = dict.fromkeys(row[_FORM].reason or "undefined" for row in judged)
        made.append(prose(f"Consistency over repeats: {'; '.join(reasons) or 'no judge was asked'}."))
    return [*made, shown(table, inputs)]
