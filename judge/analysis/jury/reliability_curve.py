"""Reliability curves: mean human rating against one judge's rating, before and after calibration, out of fold.

The calibration of a story's rating was fitted on other story-prompts (`nested_folds`, with several foldings). Bins have
about equal numbers of stories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from judge.analysis.jury.nested_folds import run_foldings
from judge.analysis.jury.panel import Panel, member, panels
from judge.analysis.options.signature import abbreviations, signature
from judge.analysis.options.table_options import JuryOptions, ReliabilityOptions
from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.estimation import means
from judge.stats.regression import calibration as calibration_error


@dataclass(frozen=True, slots=True)
class Point:
    """A bin of stories with similar ratings: mean rating, and mean human rating with its interval. `people.n` counts
    stories; after calibration, `stories` is their mean number over foldings.
    """

    rating: float
    people: Estimate
    stories: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Reliability curve of one judge x Eval-Prompt x criterion. `error_before` and `error_after` are the calibration
    errors; `n` counts stories; `reason` says why there is no curve.
    """

    judge: str
    eval_prompt: str
    criterion: str
    before: tuple[Point, ...]
    after: tuple[Point, ...]
    error_before: Estimate
    error_after: Estimate
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Curves:
    """One dataset's reliability curves. `scale` has the ends of the criteria's scale, or of the ratings."""

    dataset: str
    curves: tuple[Curve, ...]
    criteria: tuple[str, ...]
    short: tuple[str, ...]
    scale: tuple[float, float]
    calibrate: str
    signature: str
    notes: tuple[str, ...]


def curves(table: RatingsTable, options: ReliabilityOptions) -> list[Curves]:
    """Reliability curves of every judge x Eval-Prompt x criterion, dataset by dataset. There are at most `bins` bins,
    and fewer where many ratings are equal, because equal ratings share a bin.
    """
    alone = options.jury
    return [_dataset(matrix, table, alone, options.bins) for matrix in build(table, drop_systems=options.drop_systems)]


def _dataset(matrix: RatingMatrix, table: RatingsTable, options: JuryOptions, bins: int) -> Curves:
    dataset_curves: list[Curve] = []
    notes: dict[str, None] = {}
    for name in dict.fromkeys(member(cell) for cell in matrix.cells):
        alone = panels(matrix, replace(options, members=(name,)))
        judge, eval_prompt = next((cell.judge, cell.eval_prompt) for cell in matrix.cells if member(cell) == name)
        able = [panel for panel in alone.panels if panel.reason is None]
        for panel in alone.panels:
            if panel.reason is not None:
                nothing = Estimate.undefined(panel.reason)
                dataset_curves.append(
                    Curve(judge, eval_prompt, panel.criterion, (), (), nothing, nothing, 0, panel.reason)
                )
        foldings_by_panel = run_foldings(able, options) if able else []
        for panel, foldings in zip(able, foldings_by_panel, strict=True):
            before, after = [foldings[0].uncalibrated], [each.jury for each in foldings]
            notes |= dict.fromkeys(f"{name}, {panel.criterion}: {why}" for each in foldings for why in each.reasons)
            dataset_curves.append(_curve((judge, eval_prompt), panel, before, after, matrix, bins))
    short = abbreviations(table)
    criteria = tuple(dict.fromkeys(curve.criterion for curve in dataset_curves))
    return Curves(
        dataset=matrix.dataset,
        curves=tuple(dataset_curves),
        criteria=criteria,
        short=tuple(short.get(name, name) for name in criteria),
        scale=_scale(matrix, table),
        calibrate=options.calibrate,
        signature=signature(table, [matrix], options, extra=(f"bins:{bins}",)),
        notes=tuple(dict.fromkeys([*(note for fact in table.facts for note in fact.notes), *notes])),
    )


def _scale(matrix: RatingMatrix, table: RatingsTable) -> tuple[float, float]:
    ends = [end for fact in table.facts for c in fact.criteria for end in (c.scale.min, c.scale.max)]
    for values in (matrix.people, matrix.judge):
        if values.size and not np.isnan(values).all():
            ends += [float(np.nanmin(values)), float(np.nanmax(values))]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def _curve(
    who: tuple[str, str],
    panel: Panel,
    before: Sequence[Floats],
    after: Sequence[Floats],
    matrix: RatingMatrix,
    bins: int,
) -> Curve:
    points = [_points(stage, panel.people, matrix, bins) for stage in (before, after)]
    errors = [_error(stage, panel.people, bins) for stage in (before, after)]
    n = int((~np.isnan(before[0] - panel.people)).sum())
    return Curve(*who, panel.criterion, points[0], points[1], errors[0], errors[1], n)


def _points(stage: Sequence[Floats], people: Floats, matrix: RatingMatrix, bins: int) -> tuple[Point, ...]:
    rated, truth = np.concatenate(stage), np.tile(people, len(stage))
    prompt, story = np.tile(matrix.story_prompt, len(stage)), np.tile(np.arange(matrix.n), len(stage))
    defined = ~np.isnan(truth)
    points = []
    for bin_part in calibration_error.reliability_bins(rated, truth, bins):
        inside = defined & (rated >= bin_part.low) & (rated <= bin_part.high)
        # A story may lie in a bin once for each folding: it stays one story, in one cluster.
        mean = means.clustered(truth[inside], prompt[inside])
        points.append(
            Point(bin_part.predicted, replace(mean, n=int(np.unique(story[inside]).size)), bin_part.n / len(stage))
        )
    return tuple(points)


def _error(stage: Sequence[Floats], people: Floats, bins: int) -> Estimate:
    return calibration_error.calibration_error(
        calibration_error.reliability_bins(np.concatenate(stage), np.tile(people, len(stage)), bins)
    )


# Printed table of reliability curves: people's mean rating in each bin of stories, before and after calibration.

COLUMNS = (
    *plain("criterion", "judge", "eval_prompt", "calibrated"),
    Column("rating", "judge's rating"),
    Column("people", "people's mean"),
    Column("stories", "stories", digits=0),
    Column("error", "calibration error", digits=3),
)


def table(curves: Curves) -> Table:
    """One row per bin; the calibration error stands in each row of its curve."""
    rows = [
        {**cells_of(curve, "criterion", "judge", "eval_prompt"), "calibrated": calibrated}
        | {"rating": point.rating, "people": point.people, "stories": float(point.stories), "error": error}
        for curve in curves.curves
        for calibrated, points, error in (
            (False, curve.before, curve.error_before),
            (True, curve.after, curve.error_after),
        )
        for point in points
    ]
    why = {f"{curve.criterion}, {curve.judge}: {curve.reason}": None for curve in curves.curves if curve.reason}
    return Table(f"Calibration, {curves.dataset}", COLUMNS, rows, curves.signature, (*curves.notes, *why))
