"""Section on agreement of judges with themselves over repeats. Agreement between people is shown for comparison."""

from __future__ import annotations

from markupsafe import Markup

from judge.analysis.options.signature import abbreviations
from judge.analysis.reliability import consistency_tables
from judge.questions.charts import consistency as chart
from judge.show.pages import charts
from judge.show.report.blocks import figure, prose, shown
from judge.show.report.inputs import ReportInputs

_FORM = "ICC(1,1)"


def blocks(inputs: ReportInputs) -> list[Markup]:
    """Agreement of judges with themselves, and a chart of ICC(1,1) if any value is defined."""
    result = inputs.consistency
    judged = [estimate for cell in result.judged if (estimate := cell.estimate(_FORM))]
    parts = []
    if any(estimate.defined for estimate in judged):
        dots = chart.forest(
            result,
            _FORM,
            dataset=", ".join(matrix.dataset for matrix in inputs.matrices),
            short=abbreviations(inputs.table),
            controls={fact.judge for fact in inputs.table.facts if fact.control},
            signature=result.signature,
            raters=inputs.raters,
        )
        parts.append(figure(charts.forest(dots, "consistency-dots"), dots.caption))
        parts.append(prose("High consistency is not validity: a judge that always answers 3 is consistent."))
    else:
        reasons = dict.fromkeys(estimate.reason or "undefined" for estimate in judged)
        parts.append(prose(f"Consistency over repeats: {'; '.join(reasons) or 'no judge was run'}."))
    return [*parts, *(shown(table, inputs) for table in consistency_tables.tables(result))]
