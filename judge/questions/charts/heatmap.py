"""Heat map of correlations: a row for each judge x Eval-Prompt, people and the control, a column for each criterion.

Values are in the printed unit (×100). For an undefined cell the value is None and the tooltip gives the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge.analysis.agreement.correlation_grid import CEILING, CONTROL, JUDGE
from judge.analysis.raters import Raters
from judge.questions.charts import shared

if TYPE_CHECKING:
    from judge.analysis.agreement.correlation_grid import Layout, LayoutRow
    from judge.base.estimate import Estimate


# Colour scales of charts: cividis if all values are at least 0, red to blue if some are negative. Both are
# distinguishable for colour-blind readers.

# Cividis (Nunez, Anderton and Renslow 2018) and ColorBrewer's RdBu, at equal steps.
_CIVIDIS = ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"]
_RED_BLUE = [
    "67001f",
    "b1182b",
    "d6604d",
    "f3a481",
    "fddbc7",
    "f6f7f7",
    "d1e5f0",
    "90c4dd",
    "4393c3",
    "2065ab",
    "053061",
]

# Luminance at which black and white text have the same contrast (WCAG 2.1).
_INK = 0.179


@dataclass(frozen=True, slots=True)
class Scale:
    """Colour scale: sequential from `low` to `high`, or diverging around 0 if some values are negative."""

    low: float
    high: float
    diverging: bool

    @classmethod
    def of(cls, values: Sequence[float], *, digits: int = 2) -> Scale:
        """Scale from 0 to the largest value or, if some are negative, from -x to x with x the largest absolute value.
        Values that round to 0 at `digits` decimals do not count as negative.
        """
        top = max((abs(value) for value in values), default=0.1) or 0.1
        if any(round(value, digits) < 0 for value in values):
            return cls(-top, top, diverging=True)
        return cls(0.0, top, diverging=False)

    @property
    def steps(self) -> list[str]:
        """Colours at equal steps, as `#rrggbb`; between two steps they are interpolated."""
        return [f"#{step}" for step in (_RED_BLUE if self.diverging else _CIVIDIS)]

    def colour(self, value: float) -> str:
        """Colour of a value, as `#rrggbb`."""
        steps = self.steps
        share = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        position = share * (len(steps) - 1)
        at = min(int(position), len(steps) - 2)
        first, second = _parts(steps[at][1:]), _parts(steps[at + 1][1:])
        mixed = (round(a + (b - a) * (position - at)) for a, b in zip(first, second, strict=True))
        return "#" + "".join(f"{part:02x}" for part in mixed)

    def ink(self, value: float) -> str:
        """Black or white, whichever is easier to read on the colour of `value`."""
        return "#000000" if luminance(self.colour(value)) > _INK else "#ffffff"


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[:2], 16), int(colour[2:4], 16), int(colour[4:], 16)


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2.1)."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (p / 255 for p in _parts(colour[1:]))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


NAMES = {CEILING: "one more person", CONTROL: "control, surface of the text"}
_SHORT_NAMES = {CEILING: "people", CONTROL: "control"}
_MEAN = "mean over criteria"


@dataclass(frozen=True, slots=True)
class HeatCell:
    """`value` (None = undefined) sets the colour, `shown` is the text in the cell."""

    value: float | None
    shown: str
    tip: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """Row of a heat map; `is_bar` marks a reference (people or the control). A name that consecutive rows share is
    printed once; `label` distinguishes them.
    """

    name: str
    short_name: str
    label: str
    cells: tuple[HeatCell, ...]
    is_bar: bool = False


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Specification of a heat map. The last `apart` columns (means) are drawn with a gap before them."""

    title: str
    alt: str
    columns: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    unit: str
    scale: Scale
    caption: str
    signature: str
    apart: int = 0

    def places(self, gap: float) -> list[float]:
        """Top of each row, in units of rows, with an additional `gap` where the next judge's begin."""
        return shared.places([(row.is_bar, row.name) for row in self.rows], gap)

    def begins(self, row: int) -> bool:
        current, before = self.rows[row], self.rows[row - 1]
        return not row or (current.is_bar, current.name) != (before.is_bar, before.name)


def heat_map(grid: Layout, raters: Raters | None = None) -> HeatMap:
    """Heat map of a correlation grid; without a row for people if no reader gave the reference labels."""
    raters = raters or Raters()
    shown = [row for row in grid.rows if not (row.kind == CEILING and raters.labels_note)]
    means = len(grid.criteria) > 1  # the mean over one criterion says nothing new
    unit = f"{grid.statistic} ×100"
    rows = tuple(_row(row, grid, means=means) for row in shown)
    values = [cell.value for row in rows for cell in row.cells if cell.value is not None]
    return HeatMap(
        title=f"{unit} with {raters.noun}, {grid.where}, {grid.dataset}",
        alt=f"{len(rows)} rows by {len(grid.criteria)} criteria; {grid.size}.",
        columns=(*grid.short, *(("mean",) if means else ())),
        rows=rows,
        unit=unit,
        scale=Scale.of([value for value in values if value] or [10.0], digits=0),
        caption=_caption(grid, shown, rows, raters),
        signature=grid.signature,
        apart=int(means),
    )


def named(row: LayoutRow) -> str:
    """Name of a row for tooltips: the judge and its Eval-Prompt, or the reference."""
    return NAMES.get(row.kind) or ", ".join(part for part in (row.judge, row.eval_prompt) if part)


def _row(row: LayoutRow, grid: Layout, *, means: bool) -> HeatRow:
    cells = [_cell(row, name, cell, grid.unit) for name, cell in zip(grid.criteria, row.cells, strict=True)]
    if means:
        cells.append(_cell(row, _MEAN, row.mean, grid.unit))
    if row.kind != JUDGE:
        return HeatRow(NAMES[row.kind], _SHORT_NAMES[row.kind], "", tuple(cells), is_bar=True)
    return HeatRow(row.judge, row.judge, row.eval_prompt or "", tuple(cells))


def _cell(row: LayoutRow, criterion: str, cell: Estimate, unit: str) -> HeatCell:
    tip = f"{named(row)}, {criterion}: {shared.worded(cell)}"
    if cell.value is None:
        return HeatCell(None, "", tip)
    return HeatCell(100 * cell.value, f"{round(100 * cell.value)}".replace("-", "−"), f"{tip}, n = {cell.n} {unit}")


def _caption(grid: Layout, shown: list[LayoutRow], rows: tuple[HeatRow, ...], raters: Raters) -> str:
    systems = f"{grid.systems} systems" if grid.unit != "systems" else None
    counted = ", ".join(part for part in (grid.size, systems) if part)
    text = f"{grid.statistic} ×100 with {raters.noun}, {grid.where}, {grid.dataset} ({counted})."
    text += shared.meaning(grid.short, grid.criteria) + (f" {grid.other_names}" if grid.other_names else "")
    if grid.half_width is not None:
        text += f" Half-width of the 95 % intervals, median: {100 * grid.half_width:.0f}."
    if any("−" in cell.shown for row in rows for cell in row.cells):
        text += " White is 0, red below it."
    cells = [cell for row in shown for cell in row.cells]
    if any(not cell.defined for cell in cells):
        text += f" Hatched: undefined{_why(cells)}."
    if any(cell.defined for row in shown if row.kind == CEILING for cell in row.cells):
        text += " One more person: against the mean of the others; judges: against the mean of all."
    return text + grid.apart + control_sentence(grid) + raters.sentence


def control_sentence(grid: Layout) -> str:
    """Caption sentence on the control's row; empty without."""
    if all(row.kind != CONTROL for row in grid.rows):
        return ""
    text = " The control reads only surface features of a text and is no language model"
    text += f" ({grid.control})." if grid.control else "."
    if any(row.kind == JUDGE and row.is_control for row in grid.rows):
        text += (
            " A judge named with a comma and the word control was run like any other, repeat by repeat; the row "
            "control is shown for comparison with every judge."
        )
    return text


def _why(cells: list[Estimate]) -> str:
    reasons = dict.fromkeys(cell.reason for cell in cells if not cell.defined and cell.reason)
    return f"; {'; '.join(reasons)}" if 0 < len(reasons) <= 2 else ", for the reasons in the table"
