"""Correlations with people as dots and whiskers, human ceiling and control behind them. Never computes one."""

from __future__ import annotations

from judge.analysis.agreement.correlation_grid import CEILING, CONTROL, JUDGE, Layout, LayoutRow
from judge.figures import panels
from judge.figures.forest import Band, Forest, Line
from judge.figures.series import CONTROL as CONTROL_SIGN
from judge.figures.series import JUDGE as JUDGE_SIGN
from judge.figures.series import Sign
from judge.stats.estimate import Estimate


def forest(layout: Layout) -> Forest:
    """The published layout's cells with their intervals."""
    several = len(layout.criteria) > 1
    names = (*layout.criteria, *(("mean",) if several else ()))
    short = (*layout.short, *(("mean",) if several else ()))
    lines = tuple(
        Line(
            row.name_and_run,
            row.eval_prompt or "",
            tuple((one,) for one in _cells(row, several)),
            _sign(row),
        )
        for row in layout.rows
        if row.kind == JUDGE
    )
    bands = tuple(
        Band(name, _cells(row, several), hatched=kind == CONTROL)
        for kind, name in ((CEILING, "people, one against the rest"), (CONTROL, "control, on the surface of a text"))
        for row in layout.rows
        if row.kind == kind
    )
    return Forest(
        panels=names,
        short=short,
        lines=lines,
        series=(("judge", JUDGE_SIGN),),
        bands=bands,
        axis=f"{layout.statistic} ×100",
        caption=_caption(layout, bands),
        signature=layout.signature,
        factor=100,
    )


def _cells(row: LayoutRow, several: bool) -> tuple[Estimate, ...]:
    return (*row.cells, row.mean) if several else row.cells


def _sign(row: LayoutRow) -> Sign | None:
    return CONTROL_SIGN if row.is_control else None


def _caption(layout: Layout, bands: tuple[Band, ...]) -> str:
    counts = [cell.n for row in layout.rows if row.kind == JUDGE for cell in row.cells if cell.defined]
    systems = "" if layout.unit == "systems" else f", {layout.systems} systems"
    size = panels.counted(counts, layout.unit)
    text = f"{layout.statistic} with people, {layout.where}, {layout.dataset} ({size}{systems}); 95 % intervals."
    for band in bands:
        reasons = list(dict.fromkeys(one.reason for one in band.estimates if not one.defined and one.reason))
        if reasons and not band.defined:
            text += f" {reasons[0][:1].upper()}{reasons[0][1:]}."
    if any(row.kind == JUDGE and _sign(row) for row in layout.rows):
        text += " Squares: a control, no language model."
    if any(not band.hatched and band.defined for band in bands):
        text += " People: one against the mean of the others; judges: against the mean of all."
    text += layout.apart
    if any(band.hatched and band.defined for band in bands):
        text += f" The control's line: {layout.control}."
    return text + undefined(tuple(cell for row in layout.rows if row.kind == JUDGE for cell in row.cells))


def undefined(cells: tuple[Estimate, ...]) -> str:
    """A sentence that says why cells are undefined, or nothing."""
    reasons = list(dict.fromkeys(cell.reason for cell in cells if not cell.defined and cell.reason))
    if not reasons:
        return ""
    why = f" ({'; '.join(reasons)})" if len(reasons) < 3 else ", for the reasons in the table"
    return f" Some values do not exist{why}."
