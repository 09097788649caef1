"""The published layout: judge x Eval-Prompt by criterion, with ceiling and control as rows. Never computes.

It is the correlation table turned on its side (the HANNA judge study prints its correlations so): what stands in a cell
is an `Estimate` of `analysis.correlation`, with its interval or its reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge.analysis import correlation
from judge.analysis.options.signature import abbreviations
from judge.analysis.options.table_options import CorrelationOptions
from judge.printing.tables import Column, Table
from judge.stats.estimate import Estimate

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

Row = Mapping[str, Any]

CEILING, CONTROL, JUDGE, MEAN = "ceiling", "control", "judge", "mean"
_ORDER = {CEILING: 0, JUDGE: 1, CONTROL: 2}
_ABSENT = Estimate.undefined("not asked, or not rated, on this criterion")
_APART = 0.02
"""Shares of the stories by which rows may differ before a caption says so."""

_NO_MEAN = Estimate.undefined("no mean over criteria")


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """One row: kind (ceiling, judge, control), whose it is, one estimate a criterion, and their mean."""

    kind: str
    judge: str
    eval_prompt: str | None
    cells: tuple[Estimate, ...]
    mean: Estimate


@dataclass(frozen=True, slots=True)
class Layout:
    """One dataset's cells.

    `statistic` and `where` say what a cell is (e.g. "Kendall's tau-b" and "over all stories"), `unit` what its n
    counts, `criteria` and `short` name the columns.
    """

    dataset: str
    statistic: str
    where: str
    unit: str
    criteria: tuple[str, ...]
    short: tuple[str, ...]
    rows: tuple[LayoutRow, ...]
    systems: int
    signature: str
    notes: tuple[str, ...]

    @property
    def cells(self) -> list[Estimate]:
        """All cells, row by row."""
        return [cell for row in self.rows for cell in row.cells]

    @property
    def size(self) -> str:
        """n in words, e.g. ``n = 960 stories``, or its range where cells differ."""
        counts = [cell.n for cell in self.cells if cell.defined]
        if not counts:
            return "no cell is defined"
        low, high = min(counts), max(counts)
        return f"n = {low} {self.unit}" if low == high else f"n = {low} to {high} {self.unit}"

    @property
    def apart(self) -> str:
        """A sentence for captions where judges rated different shares of the stories; else nothing."""
        if self.unit != "stories":
            return ""
        judges = [row for row in self.rows if row.kind == JUDGE]
        for k in range(len(self.criteria)):
            counts = [row.cells[k].n for row in judges if row.cells[k].defined]
            if counts and max(counts) - min(counts) > _APART * max(counts):
                return " Rows are not of the same stories: the highest need not be the closest to people."
        return ""

    @property
    def control(self) -> str:
        """How the control was made, e.g. ``out of fold``, as captions say it; empty where it rates nothing."""
        name = next((row.judge for row in self.rows if row.kind == CONTROL), "")
        made = name.partition("(")[2].rstrip(")")
        return made.replace("shipped model", "the shipped model, fitted on other stories")

    @property
    def half_width(self) -> float | None:
        """Median half-width of the cells' intervals; None where none has one."""
        widths = [(c.high - c.low) / 2 for c in self.cells if c.low is not None and c.high is not None]
        return float(np.median(widths)) if widths else None


def layouts(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: correlation.Predict | None = None
) -> list[Layout]:
    """One layout for each dataset of a ratings table; options and `predict` as for `correlation.tables`."""
    options = options or CorrelationOptions()
    (found,) = correlation.tables(table, options, predict=predict)
    return layouts_of(table, found)


def layouts_of(table: RatingsTable, found: Table) -> list[Layout]:
    """The same of a correlation table that is at hand already."""
    groups: dict[str, list[Row]] = {}
    for row in found.rows:
        groups.setdefault(str(row["dataset"]), []).append(row)
    short = abbreviations(table)
    controls = {fact.judge for fact in table.facts if fact.control}
    return [_layout(dataset, rows, found, short, controls) for dataset, rows in groups.items()]


def tables(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: correlation.Predict | None = None
) -> list[Table]:
    """The layouts as printed."""
    return tables_of(layouts(table, options, predict=predict))


def tables_of(made: Sequence[Layout]) -> list[Table]:
    """Layouts that are at hand already, as printed."""
    return [_table(layout, several=len(made) > 1) for layout in made]


def _layout(
    dataset: str, rows: Sequence[Row], found: Table, short: Mapping[str, str], controls: Collection[str]
) -> Layout:
    against = {str(row["criterion"]): row["against"] for row in rows if row["kind"] == JUDGE}
    criteria = tuple(against) or tuple(dict.fromkeys(str(row["criterion"]) for row in rows if row["kind"] != MEAN))
    runs: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["kind"] == JUDGE:
            runs.setdefault(str(row["judge"]), {})[str(row["run"])] = None
    made = sorted(_rows(rows, criteria, against, runs, controls), key=lambda row: _ORDER[row.kind])
    title = next(column.title for column in found.columns if column.key == "value")
    return Layout(
        dataset=dataset,
        statistic=title.removesuffix(" x100"),
        where=found.title.partition(" with people, ")[2],
        unit=next(column.title for column in found.columns if column.key == "n"),
        criteria=criteria,
        short=tuple(short.get(name, name) for name in criteria),
        rows=tuple(made),
        systems=max((int(row["systems"]) for row in rows), default=0),
        signature=found.signature,
        notes=tuple(found.notes),
    )


def _rows(
    rows: Sequence[Row],
    criteria: Sequence[str],
    against: Mapping[str, Any],
    runs: Mapping[str, Mapping[str, None]],
    controls: Collection[str],
) -> list[LayoutRow]:
    """A row for each of ceiling, judge cells and control; runs are named, and stay together, where a judge has several.

    What people rated stands under every criterion that was compared with it. A control judge is labelled as one.
    """
    kinds: dict[tuple[str | None, ...], str] = {}
    cells: dict[tuple[str | None, ...], dict[str, Estimate]] = {}
    for row in rows:
        where = (row["judge"], row["run"], row["eval_prompt"])
        if row["kind"] != MEAN:
            kinds[where] = row["kind"]
        cells.setdefault(where, {})[MEAN if row["kind"] == MEAN else str(row["criterion"])] = row["value"]
    judges = list(runs)
    order = {(judge, run): (judges.index(judge), i) for judge in runs for i, run in enumerate(runs[judge])}
    made = []
    for key in sorted(kinds, key=lambda one: order.get((str(one[0]), str(one[1])), (-1, -1))):
        judge, eval_prompt = key[0], key[2]
        values = [
            cells[key].get(name if kinds[key] == JUDGE else str(against.get(name, name)), _ABSENT) for name in criteria
        ]
        named = f"{judge}, control" if judge in controls else str(judge)
        if len(runs.get(str(judge), ())) > 1:
            named += f" ({key[1]})"
        mean = cells[key].get(MEAN, values[0] if len(values) == 1 else _NO_MEAN)
        made.append(LayoutRow(kinds[key], named, eval_prompt, tuple(values), mean))
    return made


def _table(layout: Layout, *, several: bool) -> Table:
    columns = [Column("judge", "judge"), Column("eval_prompt", "eval prompt")]
    columns += [
        Column(name, short, digits=1, factor=100) for name, short in zip(layout.criteria, layout.short, strict=True)
    ]
    if len(layout.criteria) > 1:
        columns.append(Column("mean", "mean", digits=1, factor=100))
    rows = [
        {"kind": row.kind, "judge": row.judge, "eval_prompt": row.eval_prompt, "mean": row.mean}
        | dict(zip(layout.criteria, row.cells, strict=True))
        for row in layout.rows
    ]
    title = f"{layout.statistic} x100 with people, {layout.where}, {layout.size}"
    if several:
        title = f"{layout.dataset}: {title}"
    notes = (*layout.notes, "rows share resamples of stories: judge compare gives intervals of their differences")
    return Table(title, columns, rows, layout.signature, notes)
