"""Differences between sliding sets of stories (OpenMEVA), as published and honestly. Never prints the one alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge.analysis.inputs.bars import Predict, Remarks
from judge.analysis.inputs.candidates import Candidate, comparable, first_columns
from judge.analysis.options.agreement_options import DriftOptions
from judge.analysis.options.signature import signature
from judge.printing.tables import Column, Table, flat_row
from judge.rating_matrix import RatingMatrix, build
from judge.stats.correlation.sliding_sets import WAYS, resampled, sliding_sets
from judge.stats.estimate import Estimate
from judge.stats.resampling import bootstrap

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

_MIN_UNITS = 5
_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against")
_COUNTS = ("sets", "inclusive", "disjoint", "tied", "window", "stride")
_NUMBERS = tuple(Column(name, name) for name in (*(f"{way}_{what}" for way in WAYS for what in ("r2", "r")), *_COUNTS))


def sets(table: RatingsTable, options: DriftOptions | None = None, *, predict: Predict | None = None) -> pd.DataFrame:
    """Correlation of differences between sliding sets of stories, for each judge cell and the control.

    Returns
    -------
    DataFrame
        `dataset, kind, run, judge, eval_prompt, criterion, against`; for each way (published, unordered, apart,
        stories) `{way}_r2` with `_n` (pairs of sets, or stories) and where there is one `_low, _high, _reason`, and
        `{way}_r`, signed; `sets, inclusive, disjoint` (numbers of sets), `tied` (stories that share people's score with
        another, so that their ids settled the order), `window, stride`.
    """
    options = options or DriftOptions()
    rows, _ = _rows(build(table, drop_systems=options.drop_systems), options, predict)
    return pd.DataFrame([{key: row[key] for key in _ABOUT} | flat_row(row, _NUMBERS) for row in rows])


def tables(table: RatingsTable, options: DriftOptions | None = None, *, predict: Predict | None = None) -> list[Table]:
    """The table as printed."""
    options = options or DriftOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    rows, remarks = _rows(matrices, options, predict)
    columns = [
        *first_columns(rows),
        Column("published_r2", "r² as published"),
        Column("published_pairs", "pairs"),
        Column("unordered_r2", "r² unordered"),
        Column("unordered_pairs", "pairs"),
        Column("apart_r2", "r² not overlapping"),
        Column("apart_pairs", "pairs"),
        Column("stories_r2", "r² of stories"),
        Column("stories_pairs", "stories"),
        Column("sign", "sign of r"),
    ]
    facts = [note for fact in table.facts for note in fact.notes]
    notes = tuple(dict.fromkeys([*facts, *remarks.notes, *_explained(rows, options)]))
    line = signature(table, matrices, options, extra=["r:pearson", *remarks.signature_parts])
    return [Table("Sliding sets: differences between sets of stories", columns, rows, line, notes)]


def _explained(rows: list[dict[str, Any]], options: DriftOptions) -> list[str]:
    notes = [
        f"sets: {options.window} stories each, {options.stride} apart, in order of people's scores, ties by story id"
    ]
    for row in rows:
        if row["published_r2"].defined:
            notes.append(
                f"{row['dataset']}: as published {row['sets']} sets and every ordered pair of them, also of a set with "
                f"itself, which equals the r² of the {row['sets']} means; counting both ends {row['inclusive']} sets "
                f"(unordered pairs), of which {row['disjoint']} share no story"
            )
    notes.append(
        "sets are sorted by people's scores and share stories, so their r² is high for almost any judge, and no p "
        "value goes with it: read r² of stories"
    )
    return list(dict.fromkeys(notes))


def _rows(
    matrices: tuple[RatingMatrix, ...], options: DriftOptions, predict: Predict | None
) -> tuple[list[dict[str, Any]], Remarks]:
    found, remarks = comparable(matrices, options.against, predict if options.control else None)
    drawn = {matrix.dataset: _draw(matrix, options, remarks) for matrix in matrices}
    return [_row(matrix, one, options, drawn[matrix.dataset]) for matrix, one in found], remarks


def _row(
    matrix: RatingMatrix, one: Candidate, options: DriftOptions, resamples: bootstrap.Resamples | None
) -> dict[str, Any]:
    order = np.argsort(matrix.stories["story"].astype(str).to_numpy(), kind="stable")
    x, y = (side[order] for side in one.sides)
    sizes = {"window": options.window, "stride": options.stride}
    result = sliding_sets(x, y, **sizes)
    row: dict[str, Any] = {**one.labels, "kind": one.kind, "sets": result.sets, "inclusive": result.inclusive}
    row |= {"disjoint": result.disjoint, "tied": result.tied, **sizes}
    values = None
    if resamples is not None and result.published.defined:
        values = resamples.of(order).values(resampled(x, y, **sizes))
    signs = set()
    for k, way in enumerate(WAYS):
        r: Estimate = getattr(result, way)
        squared = r
        if r.value is not None:
            signs.add("+" if r.value > 0 else "-")
            squared = replace(r, value=r.value**2)
        if values is not None and resamples is not None:
            squared = resamples.interval(squared, values[:, k] ** 2)
        row |= {f"{way}_r2": squared, f"{way}_r": r.value, f"{way}_pairs": r.n}
    return row | {"sign": signs.pop() if len(signs) == 1 else "mixed" if signs else None}


def _draw(matrix: RatingMatrix, options: DriftOptions, remarks: Remarks) -> bootstrap.Resamples | None:
    if options.ci == "none":
        return None
    unit = matrix.story_prompt if options.ci == "boot-inputs" else np.arange(matrix.n)
    name = "story-prompts" if options.ci == "boot-inputs" else "stories"
    if np.unique(unit).size < _MIN_UNITS:
        remarks.notes[f"{matrix.dataset}: no intervals, fewer than {_MIN_UNITS} {name}"] = None
        return None
    words = f"intervals: expanded percentile, {options.resamples} resamples of {name}, each sorted and slid anew"
    remarks.notes[words] = None
    return bootstrap.draw(unit, options.resamples, np.random.default_rng(options.seed), options.ci)
