"""Audit chart: error rates and agreement with intervals; a row for each error, a panel for each way of counting."""

from __future__ import annotations

from collections.abc import Sequence

from judge.base.estimate import Estimate
from judge.explanations.audit.results.report import AuditReport, ErrorFound
from judge.questions.charts import shared
from judge.questions.charts.forest import Forest, Line
from judge.questions.charts.shared import JUDGE

_SHARES = {"mean": "mean", "majority": "majority", "any": "any", "final": "adjudicated"}
_HOW = {
    "mean": "mean: share of an item's annotators",
    "majority": "majority: more than half of them",
    "any": "any: one or more",
    "final": "adjudicated: as settled",
}


def forest(report: AuditReport) -> Forest:
    """Rates of each error in each way of counting, and agreement between annotators (AC1)."""
    annotators = len(report.answered.annotators)
    shares = [key for key in _SHARES if key != "final" or report.answered.settled]
    names = (*(_SHARES[key] for key in shares), "AC1")
    lines = tuple(
        Line(
            "",
            error.category.label,
            tuple((number,) for number in [*_rates(error, shares), error.agreement.ac1.estimate]),
        )
        for error in report.errors
    )
    counts = [
        rate.n for line in lines for cell in line.cells[:-1] for rate in cell if rate is not None and rate.defined
    ]
    pairs = [error.agreement.ac1.estimate.n for error in report.errors if error.agreement.ac1.estimate.defined]
    caption = (
        f"Errors in explanations as {annotators} annotators saw them ({shared.counted(counts, 'explanations')}), in %: "
        f"{'; '.join(_HOW[key] for key in shares)}. AC1: their agreement beyond chance, in hundredths "
        f"({shared.counted(pairs, 'explanations')} with two annotators or more). 95 % intervals."
    )
    cells = [estimate for line in lines for cell in line.cells for estimate in cell if estimate is not None]
    return Forest(
        title="Errors in explanations, and annotators' agreement",
        panels=names,
        short=names,
        lines=lines,
        series=(("annotators", JUDGE),),
        bands=(),
        axis=(*("% of explanations" for _ in shares), "AC1 ×100"),
        caption=caption + shared.undefined(cells),
        signature=report.rates_signature,
        factor=100,
        counted="explanations",
    )


def _rates(error: ErrorFound, shares: Sequence[str]) -> list[Estimate]:
    return [getattr(error.rates, key) for key in shares]
