"""Correlation chart: correlations with people, with intervals, and lines for the human ceiling and the control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge.analysis.agreement.correlation_grid import CEILING, CONTROL, JUDGE
from judge.analysis.raters import Raters
from judge.questions.charts import shared
from judge.questions.charts.forest import Band, Forest, Line
from judge.questions.charts.heatmap import NAMES
from judge.questions.charts.shared import CONTROL as CONTROL_SIGN
from judge.questions.charts.shared import JUDGE as JUDGE_SIGN
from judge.questions.charts.shared import Sign

if TYPE_CHECKING:
    from judge.analysis.agreement.correlation_grid import Layout, LayoutRow
    from judge.base.estimate import Estimate


def forest(grid: Layout, raters: Raters | None = None) -> Forest:
    """Forest chart of a correlation grid; without human ceiling if no reader gave the reference labels."""
    raters = raters or Raters()
    several = len(grid.criteria) > 1
    bands = tuple(
        Band(NAMES[kind], _cells(row, several=several), hatched=kind == CONTROL)
        for kind in (CEILING, CONTROL)
        for row in grid.rows
        if row.kind == kind and not (kind == CEILING and raters.labels_note)
    )
    return Forest(
        title=f"{grid.statistic} ×100 with {raters.noun}, with 95 % intervals, {grid.where}, {grid.dataset}",
        panels=(*grid.criteria, *(("mean",) if several else ())),
        short=(*grid.short, *(("mean",) if several else ())),
        lines=tuple(
            Line(
                row.name_and_run,
                row.eval_prompt or "",
                tuple((estimate,) for estimate in _cells(row, several=several)),
                _sign(row),
            )
            for row in grid.rows
            if row.kind == JUDGE
        ),
        series=(("judge", JUDGE_SIGN),),
        bands=bands,
        axis=f"{grid.statistic} ×100",
        caption=_caption(grid, bands, raters),
        signature=grid.signature,
        factor=100,
        counted=grid.unit,
        from_zero=True,
    )


def _cells(row: LayoutRow, *, several: bool) -> tuple[Estimate, ...]:
    return (*row.cells, row.mean) if several else row.cells


def _sign(row: LayoutRow) -> Sign | None:
    return CONTROL_SIGN if row.is_control else None


def _caption(grid: Layout, bands: tuple[Band, ...], raters: Raters) -> str:
    judged = [row for row in grid.rows if row.kind == JUDGE]
    counts = [cell.n for row in judged for cell in row.cells if cell.defined]
    systems = "" if grid.unit == "systems" else f", {grid.systems} systems"
    size = shared.counted(counts, grid.unit)
    text = f"{grid.statistic} with {raters.noun}, {grid.where}, {grid.dataset} ({size}{systems}); 95 % intervals."
    for band in bands:
        reasons = list(
            dict.fromkeys(estimate.reason for estimate in band.estimates if not estimate.defined and estimate.reason)
        )
        if reasons and not band.defined:
            text += f" {reasons[0][:1].upper()}{reasons[0][1:]}."
    if any(_sign(row) for row in judged):
        text += " Squares: a control, no language model."
    if any(not band.hatched and band.defined for band in bands):
        text += " People: one against the mean of the others; judges: against the mean of all."
    text += f" {grid.other_names}" if grid.other_names else ""
    text += grid.apart
    if any(band.hatched and band.defined for band in bands):
        text += f" The control's line: {grid.control}."
    return text + shared.undefined([cell for row in judged for cell in row.cells]) + raters.sentence
