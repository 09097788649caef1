"""Correlations in the layout of the HANNA judge study: judge x Eval-Prompt in rows, criteria in columns.

One more person and the control judge are rows too. A cell is an `Estimate` of `analysis.correlation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from judge.analysis import correlation
from judge.analysis.correlation import CorrelatedDataset, CorrelationRow, Correlations
from judge.analysis.correlation.correlations import ALL
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE, MEAN, ControlSource, Kind
from judge.analysis.inputs.candidates import match
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain

__all__ = ["CEILING", "CONTROL", "JUDGE", "MEAN", "Layout", "LayoutRow", "layouts", "tables"]

_ORDER: dict[Kind, int] = {CEILING: 0, JUDGE: 1, CONTROL: 2}
_ABSENT = Estimate.undefined("not asked, or not rated, on this criterion")
# Shares of the stories by which rows may differ before a caption says so.
_APART = 0.02

_NO_MEAN = Estimate.undefined("no mean over criteria")
_CONTROL_WORDS = {
    ControlSource.OUT_OF_FOLD: "out of fold",
    ControlSource.SHIPPED: "the shipped model, fitted on other stories",
}


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """The correlations of one rater with people, one per criterion, and their mean. `name` is as requested; `run` is
    given only where the judge occurs in several; `is_control` marks a judge that is no language model."""

    kind: Kind
    name: str
    eval_prompt: str | None
    cells: tuple[Estimate, ...]
    mean: Estimate
    run: str | None = None
    is_control: bool = False

    @property
    def key(self) -> tuple[str | None, ...]:
        """Identifier of a row in other panels' grids; without name for the ceiling, since it differs between panels."""
        return (self.kind, None if self.kind == CEILING else self.name, self.eval_prompt, self.run)

    @property
    def name_and_run(self) -> str:
        return f"{self.name} ({self.run})" if self.run else self.name

    @property
    def judge(self) -> str:
        """The judge's name as printed, with a mark if it is a control judge, and the run where there are several."""
        named = f"{self.name}, control" if self.is_control else self.name
        return f"{named} ({self.run})" if self.run else named


@dataclass(frozen=True, slots=True)
class Layout:
    """One dataset's correlation grid, with judges in rows and criteria in columns. `statistic` and `where` describe a
    cell ("Kendall's tau-b", "over all stories"); `unit` names what its n counts; `systems` is the largest number of
    systems behind a row. `other_names` is a sentence on criteria compared with a human criterion of another name.
    `panels` maps each panel of raters to the same rows computed with its ratings only."""

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
    control_sources: tuple[ControlSource, ...] = ()
    other_names: str = ""
    panels: Mapping[str, tuple[LayoutRow, ...]] = field(default_factory=dict)

    @property
    def by_people(self) -> list[tuple[str, LayoutRow]]:
        """Rows with the name of their panel. Each row of all people (`ALL`) is followed by the same row of each panel;
        rows that exist for a panel only come last."""
        of_panels = {name: {row.key: row for row in rows} for name, rows in self.panels.items()}
        named_rows: list[tuple[str, LayoutRow]] = []
        for row in self.rows:
            named_rows.append((ALL, row))
            named_rows += [(name, rows.pop(row.key)) for name, rows in of_panels.items() if row.key in rows]
        return [*named_rows, *((name, row) for name, rows in of_panels.items() for row in rows.values())]

    @property
    def cells(self) -> list[Estimate]:
        """All estimates, row by row."""
        return [cell for row in self.rows for cell in row.cells]

    @property
    def size(self) -> str:
        """Number of stories (or other units) behind a cell, e.g. ``n = 960 stories``; a range where cells differ."""
        counts = [cell.n for cell in self.cells if cell.defined]
        if not counts:
            return "no cell is defined"
        low, high = min(counts), max(counts)
        return f"n = {low} {self.unit}" if low == high else f"n = {low} to {high} {self.unit}"

    @property
    def apart(self) -> str:
        """Warning that the judges rated different stories; empty if about equally many, or if n counts no stories."""
        if self.unit != "stories":
            return ""
        judges = [row for row in self.rows if row.kind == JUDGE]
        for k in range(len(self.criteria)):
            counts = [row.cells[k].n for row in judges if row.cells[k].defined]
            if counts and max(counts) - min(counts) > _APART * max(counts):
                return " Rows rest on different stories: the highest row need not be the closest to people."
        return ""

    @property
    def control(self) -> str:
        """How the control judge's ratings were obtained, e.g. ``out of fold``; empty if it has no ratings."""
        source_words = (_CONTROL_WORDS.get(source) for source in self.control_sources)
        return " or ".join(words for words in source_words if words)

    @property
    def half_width(self) -> float | None:
        """Median half-width of the intervals in the grid; None if no cell has an interval."""
        widths = [(c.high - c.low) / 2 for c in self.cells if c.low is not None and c.high is not None]
        return float(np.median(widths)) if widths else None


def layouts(result: Correlations) -> list[Layout]:
    """Correlation grids, one for each dataset that has correlations."""
    return [_layout(result, dataset) for dataset in result.datasets if dataset.rows]


def tables(grids: Sequence[Layout]) -> list[Table]:
    return [_table(layout, several=len(grids) > 1) for layout in grids]


def _layout(result: Correlations, dataset: CorrelatedDataset) -> Layout:
    # The ceiling of a human criterion is repeated under every judge criterion compared with it.
    against = _against(dataset)
    rated = dict.fromkeys(row.subject.criterion for row in dataset.rows if row.kind != MEAN)
    criteria = tuple(against) or tuple(rated)
    rows = _rows(dataset.rows, criteria, against)
    return Layout(
        dataset=dataset.name,
        statistic=result.statistic,
        where=result.over,
        unit=result.unit,
        criteria=criteria,
        short=tuple(result.abbreviations.get(name, name) for name in criteria),
        rows=tuple(sorted(rows, key=lambda row: _ORDER[row.kind])),
        systems=max((row.systems for row in dataset.rows), default=0),
        signature=result.signature,
        notes=correlation.notes(result),
        control_sources=tuple(dict.fromkeys(control.source for control in dataset.control.values())),
        other_names=match(dataset.matrix, result.options.against).sentence,
        panels={
            name: tuple(_rows(panel_dataset.rows, criteria, _against(panel_dataset)))
            for name, panel in result.panels.items()
            for panel_dataset in panel.datasets
            if panel_dataset.name == dataset.name
        },
    )


def _against(dataset: CorrelatedDataset) -> dict[str, str | None]:
    return {row.subject.criterion: row.subject.against for row in dataset.rows if row.kind == JUDGE}


# Judge, run and Eval-Prompt of a row.
_Key = tuple[str, str | None, str | None]


def _rows(
    rows: Sequence[CorrelationRow], criteria: Sequence[str], against: Mapping[str, str | None]
) -> list[LayoutRow]:
    """Rows of the grid, those of one judge adjacent; a run is named where a judge occurs in several."""
    first: dict[_Key, CorrelationRow] = {}
    cells: dict[_Key, dict[str, Estimate]] = {}
    means: dict[_Key, Estimate] = {}
    runs: dict[str, dict[str | None, None]] = {}
    for row in rows:
        subject = row.subject
        key = (subject.judge, subject.run, subject.eval_prompt)
        if row.kind == MEAN:
            means[key] = row.estimate
            continue
        first.setdefault(key, row)
        cells.setdefault(key, {})[subject.criterion] = row.estimate
        if row.kind == JUDGE:
            runs.setdefault(subject.judge, {})[subject.run] = None
    order = {
        (judge, run): (at, i) for at, (judge, own_runs) in enumerate(runs.items()) for i, run in enumerate(own_runs)
    }
    grid = []
    for key in sorted(first, key=lambda key: order.get((key[0], key[1]), (-1, -1))):
        judge, run, eval_prompt = key
        row = first[key]
        names = criteria if row.kind == JUDGE else [str(against.get(name, name)) for name in criteria]
        values = tuple(cells[key].get(name, _ABSENT) for name in names)
        mean = means.get(key, values[0] if len(values) == 1 else _NO_MEAN)
        named = run if len(runs.get(judge, ())) > 1 else None
        grid.append(LayoutRow(row.kind, judge, eval_prompt, values, mean, named, row.is_control))
    return grid


def _table(layout: Layout, *, several: bool) -> Table:
    columns = plain("judge", "eval_prompt")
    columns += [Column("people", "people")] if layout.panels else []
    columns += [
        Column(name, short, digits=1, factor=100) for name, short in zip(layout.criteria, layout.short, strict=True)
    ]
    if len(layout.criteria) > 1:
        columns.append(Column("mean", "mean", digits=1, factor=100))
    rows = [
        cells_of(row, "kind", "judge", "eval_prompt", "mean")
        | dict(zip(layout.criteria, row.cells, strict=True))
        | ({"people": people} if layout.panels else {})
        for people, row in layout.by_people
    ]
    title = f"{layout.statistic} x100 with people, {layout.where}, {layout.size}"
    if several:
        title = f"{layout.dataset}: {title}"
    notes = (
        *layout.notes,
        "all rows use the same resamples of stories: judge compare gives intervals of their differences",
    )
    return Table(title, columns, rows, layout.signature, notes)
