"""Correlations of differences between sliding sets of stories, as OpenMEVA published them and in corrected versions.

Stories are sorted by their human scores. A sliding set is a fixed number of neighbouring stories in this order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judge.analysis.inputs.bars import Predict
from judge.analysis.inputs.candidates import Candidate, Subject, cells, comparable, first_columns
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.resamples import drawn_with_note
from judge.analysis.options.agreement_options import DriftOptions
from judge.analysis.options.signature import Signed, signature_parts
from judge.base.estimate import Estimate
from judge.base.printing.tables import Table, cells_of, titled
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.correlation.sliding_sets import WAYS, resampled, sliding_sets
from judge.stats.resampling import bootstrap

_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against")
_COUNTS = ("sets", "inclusive", "disjoint", "tied", "window", "stride")
_NUMBERS = (*(f"{way}_{what}" for way in WAYS for what in ("r2", "r")), *_COUNTS)


@dataclass(frozen=True, slots=True)
class Way:
    """Correlation between a judge and people in the differences of mean ratings, for one way to choose the pairs of
    sets. `n` counts pairs of sets, or stories where no sets are used."""

    r: Estimate
    r2: Estimate


@dataclass(frozen=True, slots=True)
class SlidingRow:
    """Correlation of one judge (or the control judge) with people in the differences between sliding sets.

    `sets` leaves out the last set, as published; `inclusive` counts it; `disjoint` is the largest number of sets that
    share no story. `tied` stories have another's human score and are in the order of their ids. `window` stories are in
    a set, `stride` between the starts of two. `ways`: ``published`` (ordered pairs of sets, also of a set with itself),
    ``unordered`` (pairs of different sets), ``apart`` (sets that share no story), ``stories`` (no sets)."""

    subject: Subject
    sets: int
    inclusive: int
    disjoint: int
    tied: int
    window: int
    stride: int
    ways: Mapping[str, Way]

    @property
    def sign(self) -> str | None:
        """Sign of r: ``+``, ``-``, or ``mixed`` where the ways differ, undefined ones aside; None if all are."""
        signs = {"+" if way.r.value > 0 else "-" for way in self.ways.values() if way.r.value is not None}
        return signs.pop() if len(signs) == 1 else "mixed" if signs else None


@dataclass(frozen=True, slots=True, eq=False)
class SlidingSetsTable(Signed):
    """Correlations of every judge and of the control judge with people, computed over sliding sets of stories."""

    rows: tuple[SlidingRow, ...]
    options: DriftOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each judge, Eval-Prompt and criterion, and for the control judge. For each way there are
        `{way}_r2`, with `_n` and, where they apply, `_low`, `_high` and `_reason`, and the signed `{way}_r`."""
        return self.wide([sliding_cells(row) for row in self.rows], _ABOUT, _NUMBERS)


def sets(
    table: RatingsTable, options: DriftOptions | None = None, *, predict: Predict | None = None
) -> SlidingSetsTable:
    """Correlations of judges and control with people in the differences of mean ratings between sliding sets."""
    options = options or DriftOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    matrix_candidates, remarks = comparable(matrices, options.against, predict if options.control else None)
    drawn = {m.dataset: drawn_with_note(m, options, remarks, how="each sorted and slid anew") for m in matrices}
    rows = tuple(_row(matrix, candidate, options, drawn[matrix.dataset]) for matrix, candidate in matrix_candidates)
    parts = signature_parts(table, matrices, options, extra=["r:pearson", *remarks.signature_parts])
    return SlidingSetsTable(rows, options, signature_parts=parts, notes=(*table.notes, *remarks.notes))


def sliding_cells(row: SlidingRow) -> dict[str, Any]:
    """Values of one row by column name, for frames and printed tables."""
    row_cells = cells(row) | {"sign": row.sign}
    for name, way in row.ways.items():
        row_cells |= {f"{name}_r2": way.r2, f"{name}_r": way.r.value, f"{name}_pairs": way.r.n}
    return row_cells


def _row(
    matrix: RatingMatrix, candidate: Candidate, options: DriftOptions, resamples: bootstrap.Resamples | None
) -> SlidingRow:
    order = np.argsort(matrix.stories["story"].astype(str).to_numpy(), kind="stable")
    x, y = (side[order] for side in candidate.sides)
    sizes = {"window": options.window, "stride": options.stride}
    result = sliding_sets(x, y, **sizes)
    values = None
    if resamples is not None and result.published.defined:
        values = resamples.of(order).values(resampled(x, y, **sizes))
    ways = {}
    for k, name in enumerate(WAYS):
        r: Estimate = getattr(result, name)
        squared = r if r.value is None else replace(r, value=r.value**2)
        if values is not None and resamples is not None:
            squared = resamples.interval(squared, values[:, k] ** 2)
        ways[name] = Way(r, squared)
    counts = cells_of(result, "sets", "inclusive", "disjoint", "tied")
    return SlidingRow(candidate.subject, **counts, **sizes, ways=ways)


# Printed table of correlations over sliding sets of stories.


def tables(result: SlidingSetsTable) -> list[Table]:
    rows = [sliding_cells(row) for row in result.rows]
    columns = [
        *first_columns(rows),
        *titled(
            published_r2="r² as published",
            published_pairs="pairs",
            unordered_r2="r² unordered",
            unordered_pairs="pairs",
            apart_r2="r² not overlapping",
            apart_pairs="pairs",
            stories_r2="r² of stories",
            stories_pairs="stories",
            sign="sign of r",
        ),
    ]
    notes = tuple(dict.fromkeys([*result.notes, *_explained(result)]))
    return [Table("Sliding sets: differences between sets of stories", columns, rows, result.signature, notes)]


def _explained(result: SlidingSetsTable) -> list[str]:
    options = result.options
    notes = [
        f"sets: {options.window} stories each, {options.stride} apart, in order of people's scores, ties by story id"
    ]
    for row in result.rows:
        if row.ways["published"].r2.defined:
            notes.append(
                f"{row.subject.dataset}: as published {row.sets} sets and every ordered pair of them, also of a set "
                f"with itself, which equals the r² of the {row.sets} means; counting both ends {row.inclusive} sets "
                f"(unordered pairs), of which {row.disjoint} share no story"
            )
    notes.append(
        "sets are sorted by people's scores and share stories, so their r² is high for almost any judge and has "
        "no p value: use r² of stories"
    )
    return list(dict.fromkeys(notes))
