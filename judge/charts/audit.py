"""An audit's error rates and agreement as dots and whiskers: a row for each error, a panel for each way to count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge.charts import words
from judge.charts.forest import Forest, Line
from judge.charts.signs import JUDGE
from judge.errors import SpecError
from judge.printing.tables import Table
from judge.stats.estimate import Estimate

RATES, AGREEMENT = "Error rates", "Agreement between annotators"
_SHARES = {"mean": "mean", "majority": "majority", "any": "any", "final": "adjudicated"}
_HOW = {
    "mean": "mean: share of an item's annotators",
    "majority": "majority: more than half of them",
    "any": "any: one or more",
    "final": "adjudicated: as settled",
}


def forest(tables: Sequence[Table], *, annotators: int) -> Forest:
    """From the tables of an audit's report, of which two are drawn. Raises SpecError where they are not among them."""
    found = {table.title: table for table in tables}
    if RATES not in found or AGREEMENT not in found:
        raise SpecError("the audit's report has no error rates to draw")
    rates, agreed = found[RATES], found[AGREEMENT]
    ac1 = {str(row["category"]): row["ac1"] for row in agreed.rows}
    shares = [key for key in _SHARES if any(column.key == key for column in rates.columns)]
    names = (*(_SHARES[key] for key in shares), "AC1")
    lines = tuple(
        Line("", str(row["category"]), tuple((one,) for one in [*_estimates(row, shares), ac1[str(row["category"])]]))
        for row in rates.rows
    )
    counts = [one.n for line in lines for cell in line.cells[:-1] for one in cell if one is not None and one.defined]
    pairs = [one.n for one in ac1.values() if one.defined]
    caption = (
        f"Errors in explanations as {annotators} annotators saw them ({words.counted(counts, 'explanations')}), in %: "
        f"{'; '.join(_HOW[key] for key in shares)}. AC1: their agreement beyond chance, in hundredths "
        f"({words.counted(pairs, 'explanations')} with two annotators or more). 95 % intervals."
    )
    cells = [one for line in lines for cell in line.cells for one in cell if one is not None]
    return Forest(
        title="Errors in explanations, and annotators' agreement",
        panels=names,
        short=names,
        lines=lines,
        series=(("annotators", JUDGE),),
        bands=(),
        axis=(*("% of explanations" for _ in shares), "AC1 ×100"),
        caption=caption + words.undefined(cells),
        signature=rates.signature,
        factor=100,
        counted="explanations",
    )


def _estimates(row: Mapping[str, Any], keys: Sequence[str]) -> list[Estimate]:
    missing = Estimate.undefined("not counted")
    return [row[key] if isinstance(row.get(key), Estimate) else missing for key in keys]
