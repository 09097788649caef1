"""Agreement with people: heat maps, intervals beside ceiling and control, what each judge is above. Draws, never ranks.

All numbers are `analysis.correlation`'s: this module turns estimates into cells, dots and tips.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from markupsafe import Markup

from judge.analysis import correlation
from judge.analysis.agreement import correlation_grid
from judge.analysis.agreement.correlation_grid import CEILING, CONTROL, JUDGE, Layout, LayoutRow
from judge.analysis.correlation import Correlations
from judge.analysis.correlation.margins_table import table_of
from judge.pages.charts import HeatCell, HeatMap, HeatRow, Interval, IntervalPanel, Intervals, Reference
from judge.report.blocks import figure, heading, prose, shown
from judge.report.inputs import ReportInputs
from judge.stats.estimate import Estimate

_NAMES = {CEILING: "people, one against the others", CONTROL: "control, surface of the text"}
_SHORT = {CEILING: "people", CONTROL: "control"}
_READ = (
    "Two bars stand beside every judge. The human ceiling is how far one person agrees with the mean of the others, "
    "and minus people sets the judge against the same means; the control"
)
_READ_LABELS = (
    "No person rated these stories, so there is no human ceiling: judges are compared with labels. One bar stands "
    "beside every judge: the control"
)
_READ_CONTROL = (
    " reads nothing but the surface of a text (length, repetition, vocabulary) and never saw the stories "
    "it is shown on. A judge below the control has not been shown to read the story."
)


def blocks(inputs: ReportInputs) -> list[Markup]:
    """Over all stories, beside the bars; then over system means."""
    if not inputs.has_people:
        return [prose("Nobody's ratings of these stories are known: nothing can be said about agreement with people.")]
    made = [prose((_READ_LABELS if inputs.raters.labels_note else _READ) + _READ_CONTROL)]
    result = inputs.correlations
    grids = _layouts(inputs, result)
    for number, one in enumerate(grids):
        made.append(figure(_heat_map(one, f"heat-{number}", inputs), _caption(one, inputs)))
        if sum(row.kind not in (CEILING, CONTROL) for row in one.rows) > 1 or len(one.criteria) > 1:
            made.append(figure(_intervals(one, f"dots-{number}", inputs), _dots_caption(one)))
    made += [shown(table, inputs, folded=True) for table in correlation_grid.tables(grids)]
    made.append(shown(table_of(result, inputs.margins), inputs))
    for table in correlation.tables(result):
        made.append(shown(table, inputs, folded=True, title=f"{table.title}, every row with what was lost"))
    return [*made, *_over_systems(inputs)]


def _layouts(inputs: ReportInputs, result: Correlations) -> list[Layout]:
    """The result's datasets; without the ceiling's row where no person rated the stories."""
    return [
        replace(one, rows=tuple(row for row in one.rows if row.kind != CEILING))
        if inputs.raters_of(one.dataset).labels_note
        else one
        for one in correlation_grid.layouts(result)
    ]


def _over_systems(inputs: ReportInputs) -> Iterator[Markup]:
    yield heading("Over system means")
    grids = _layouts(inputs, inputs.correlations_over_systems)
    for number, one in enumerate(grids):
        yield figure(_heat_map(one, f"heat-systems-{number}", inputs), _caption(one, inputs))
    for table in correlation_grid.tables(grids):
        yield shown(table, inputs, folded=True)


def worded(estimate: Estimate, *, factor: float = 100, digits: int = 1) -> str:
    """`28.3 [25.1, 31.4]`, or the reason why there is no number."""
    if estimate.value is None:
        return estimate.reason or "undefined"
    text = f"{factor * estimate.value:.{digits}f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" [{factor * estimate.low:.{digits}f}, {factor * estimate.high:.{digits}f}]"
    return text.replace("-", "−") if text.startswith("-") or "[-" in text or ", -" in text else text


def _name(row: LayoutRow) -> tuple[str, str]:
    return (_NAMES[row.kind], "") if row.kind in _NAMES else (row.judge, row.eval_prompt or "")


def _label(row: LayoutRow) -> str:
    return ", ".join(part for part in _name(row) if part)


def _heat_map(one: Layout, identity: str, inputs: ReportInputs) -> Markup:
    means = len(one.criteria) > 1
    rows = []
    for row in one.rows:
        cells = [_cell(row, name, cell, one.unit) for name, cell in zip(one.criteria, row.cells, strict=True)]
        if means:
            cells.append(_cell(row, "mean over criteria", row.mean, one.unit))
        group = _SHORT.get(row.kind, row.judge)
        rows.append(HeatRow(group, "" if row.kind in _SHORT else row.eval_prompt or "", cells))
    return HeatMap(
        identity=identity,
        title=f"{one.statistic} ×100 with {inputs.raters_of(one.dataset).them}, {one.where}, {one.dataset}",
        description=f"{len(one.rows)} rows by {len(one.criteria)} criteria; {one.size}. A table follows.",
        columns=[*one.short, *(["mean"] if means else [])],
        rows=rows,
        unit=f"{one.statistic} ×100",
        apart=int(means),
    ).svg()


def _cell(row: LayoutRow, criterion: str, cell: Estimate, unit: str) -> HeatCell:
    counted = f", n = {cell.n} {unit}" if cell.defined else ""
    shown_ = f"{round(100 * cell.value)}".replace("-", "−") if cell.value is not None else ""
    return HeatCell(cell.value, shown_, f"{_label(row)}, {criterion}: {worded(cell)}{counted}")


def _intervals(one: Layout, identity: str, inputs: ReportInputs) -> Markup:
    judges = [row for row in one.rows if row.kind not in (CEILING, CONTROL)]
    panels = [
        IntervalPanel(
            name, [_dot(row, name, row.cells[k], one) for row in judges], list(_references(one.rows, name, k))
        )
        for k, name in enumerate(one.criteria)
    ]
    if len(one.criteria) > 1:
        bars = [replace(row, cells=(row.mean,)) for row in one.rows if row.kind in (CEILING, CONTROL)]
        dots = [_dot(row, "mean over criteria", row.mean, one) for row in judges]
        panels.append(IntervalPanel("mean", dots, list(_references(bars, "mean over criteria", 0))))
    dashed = [(_NAMES[kind], kind == CONTROL) for kind in (CEILING, CONTROL) if _has(one.rows, kind)]
    return Intervals(
        identity=identity,
        title=f"{one.statistic} ×100 with {inputs.raters_of(one.dataset).them}, with intervals, {one.dataset}",
        description=f"{len(judges)} rows in {len(panels)} panels; {one.size}. A table follows.",
        rows=[_label(row) for row in judges],
        panels=panels,
        unit=f"{one.statistic} ×100",
        factor=100,
        legend=dashed,
    ).svg()


def _dot(row: LayoutRow, criterion: str, cell: Estimate, one: Layout) -> Interval:
    judges = list(dict.fromkeys(r.judge for r in one.rows if r.kind not in (CEILING, CONTROL)))
    tip = f"{_label(row)}, {criterion}: {worded(cell)}"
    return Interval(cell.value, cell.low, cell.high, tip, kind=judges.index(row.judge) % 7 + 1)


def _references(rows: Sequence[LayoutRow], criterion: str, k: int) -> Iterator[Reference]:
    for row in rows:
        if row.kind not in (CEILING, CONTROL):
            continue
        cell = row.cells[k]
        if cell.value is not None:
            yield Reference(cell.value, f"{_NAMES[row.kind]}, {criterion}: {worded(cell)}", row.kind == CONTROL)


def _has(rows: Sequence[LayoutRow], kind: str) -> bool:
    return any(cell.defined for row in rows if row.kind == kind for cell in row.cells)


def _caption(one: Layout, inputs: ReportInputs) -> str:
    names = ", ".join(f"{a} {b}" for a, b in zip(one.short, one.criteria, strict=True) if a != b)
    raters = inputs.raters_of(one.dataset)
    text = f"{one.statistic} ×100 with {raters.them}, {one.where}, {one.dataset}; {_size(one)}."
    if names:
        text += f" {names}."
    if one.half_width is not None:
        text += f" Half-width of the 95 % intervals, median: {100 * one.half_width:.0f}; each cell's stands in its tip."
    kinds = {row.kind for row in one.rows}
    if CEILING in kinds:
        text += " People: one against the mean of the others; judges: against the mean of all."
    if CONTROL in kinds:
        made = f", {one.control}" if one.control else ""
        text += f" Control: the surface of the text alone{made}; no language model."
    if CONTROL in kinds and any(row.kind == JUDGE and row.is_control for row in one.rows):
        text += (
            " A judge named with a comma and the word control was asked like any other, repeat by repeat; the row "
            "control is what stands beside every judge."
        )
    text += one.apart
    if raters.labels_note:
        text += f" No person rated these stories: {raters.labels_note}."
    if any(not cell.defined for cell in one.cells):
        text += " Hatched: undefined, the tip says why."
    return text


def _size(one: Layout) -> str:
    counts_systems = one.unit == "systems" and any(cell.defined for cell in one.cells)
    return one.size if counts_systems else f"{one.size}, {one.systems} systems"


def _dots_caption(one: Layout) -> str:
    where = f"{one.where}, {one.dataset}; {one.size}"
    lines = [name for kind, name in _NAMES.items() if _has(one.rows, kind)]
    beside = f" Lines: {' (full) and '.join(lines)}{' (dashed)' if _has(one.rows, CONTROL) else ''}." if lines else ""
    return f"The same numbers with their 95 % intervals, {where}.{beside}"
