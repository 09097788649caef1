"""How far a jury can be trusted: reliability curves, and tables of errors, intervals and calibration by system.

A curve is the mean human rating against one judge's rating, before and after calibration, out of fold.

The calibration of a story's rating was fitted on other story-prompts (`nested_folds`, with several foldings). Bins have
about equal numbers of stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from judge.analysis.jury.nested_folds import run_foldings
from judge.analysis.jury.panel import member, panels
from judge.analysis.jury.result import ALPHA, Juries, criterion_cells, criterion_columns
from judge.analysis.options.signature import abbreviations, signature
from judge.analysis.options.table_options import JuryOptions, ReliabilityOptions
from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain, thousandths, titled
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.estimation import means
from judge.stats.regression import calibration as calibration_error

# Printed tables of a jury's errors and reliability, before and after calibration.


def tables(juries: Juries) -> list[Table]:
    """Errors by criterion, and mean human ratings by bins of the jury's, both before and after calibration."""
    return [_errors(juries), _bins(juries)]


def _errors(juries: Juries) -> Table:
    rows = [
        criterion_cells(held, verdict) | cells_of(calibrated, "stage", "rmse", "bias", "gap", "spread", "n")
        for held, verdict in juries.verdicts()
        for calibrated in verdict.calibrated
    ]
    columns = [
        *criterion_columns(juries),
        Column("stage", "calibration"),
        *thousandths(rmse="RMSE", bias="rating - people", gap="calibration error", spread="sd of ratings"),
        Column("n", "stories"),
    ]
    notes = [
        f"calibration: {juries.options.calibrate}, fitted on training stories out of inner fold, for held-out stories",
        "all figures in points of people's scale, over all foldings",
        "calibration error: mean distance between mean rating and people's mean over 10 bins, weighted by stories",
    ]
    return Table("Calibration of the jury, out of fold", columns, rows, juries.signature, notes)


def _bins(juries: Juries) -> Table:
    rows = [
        criterion_cells(held, verdict)
        | cells_of(
            each, "low", "high", "predicted", "people", "gap", stage=calibrated.stage, n=each.n / calibrated.foldings
        )
        for held, verdict in juries.verdicts()
        for calibrated in verdict.calibrated
        for each in calibrated.bins
    ]
    columns = [
        *criterion_columns(juries),
        *titled(stage="calibration", low="ratings from", high="to"),
        Column("n", "stories", digits=1),
        *titled(predicted="mean rating", people="people's mean", gap="rating - people"),
    ]
    notes = [f"bins of about equally many stories; stories: mean over {juries.options.foldings} foldings"]
    title = "Reliability: people's mean rating of stories with similar ratings, out of fold"
    return Table(title, columns, rows, juries.bare_signature, notes)


def effective(juries: Juries) -> Table:
    """By criterion, the number of judges with independent errors whose mean would have the members' error."""
    rows = [
        criterion_cells(held, verdict)
        | {"members": verdict.panel.members, "effective": verdict.effective, "n": verdict.effective.n}
        for held, verdict in juries.verdicts()
    ]
    columns = [
        *criterion_columns(juries),
        Column("members", "members"),
        Column("effective", "independent judges", digits=1),
        Column("n", "stories"),
    ]
    notes = [
        (
            "independent judges: number of judges with independent errors whose mean would have the same error as the "
            "mean of these members"
        ),
        (
            "people's noise, estimated from their ratings of the same story, does not count as shared error; "
            "intervals: jackknife"
        ),
    ]
    return Table("How many independent judges is this jury worth?", columns, rows, juries.bare_signature, notes)


def intervals(juries: Juries) -> Table:
    """The prediction interval of one story's human rating, and its coverage."""
    rows = [
        criterion_cells(held, verdict)
        | cells_of(interval, "reach", "coverage", "worst", "worst_coverage", n=interval.coverage.n)
        for held, verdict in juries.verdicts()
        if (interval := verdict.interval) is not None
    ]
    level = juries.options.predict or 0.0
    columns = [
        *criterion_columns(juries),
        Column("reach", "reaches ± points"),
        Column("coverage", "holds people's rating %", digits=1, factor=100),
        *titled(n="stories", worst="least for system"),
        Column("worst_coverage", "there %", digits=1, factor=100),
    ]
    notes = [
        (
            "split conformal over story-prompts: intervals that hold people's mean rating of a new story in "
            f"{100 * level:g} % or more"
        ),
        (
            "this holds on average over systems, for any distribution of errors; for a single system it may be less: "
            "see least for system"
        ),
        (
            "one fold is rated, errors are measured on the next one, and the jury is fitted on the others; over all "
            "foldings"
        ),
    ]
    return Table("How precise is one story's rating?", columns, rows, juries.bare_signature, notes)


def carry_over(juries: Juries) -> Table:
    """Whether the calibration holds for each system: the mean differs from people's by less than a margin."""
    rows = [
        criterion_cells(held, verdict)
        | {
            "system": carried.system,
            "before": carried.before.value,
            "after": carried.after.difference,
            "p": carried.adjusted,
            "equivalent": carried.after.p,
            "holds": carried.holds,
        }
        for held, verdict in juries.verdicts()
        for carried in verdict.carried
    ]
    columns = [
        *criterion_columns(juries),
        *titled(system="system", before="rating - people before", after="after [90 %]"),
        Column("p", "p, Holm", digits=3, p="two-sided"),
        Column("equivalent", "p of the margin", digits=3, p="two one-sided"),
        Column("holds", "carries over"),
    ]
    counts = {word: sum(row["holds"] == word for row in rows) for word in ("yes", "no", "not shown", "no test")}
    counted = ", ".join(f"{word} {count}" for word, count in counts.items() if count)
    margin = juries.options.carry_over or 0.0
    notes = [
        f"of {len(rows)} systems and criteria: {counted}",
        f"yes: two one-sided tests show the mean error within ±{margin:g} points",
        f"no: significant at {ALPHA:g} after Holm over the systems of a criterion",
        "all out of fold, standard errors over story-prompts",
    ]
    return Table("Does the calibration carry over to each system?", columns, rows, juries.bare_signature, notes)


@dataclass(frozen=True, slots=True)
class Point:
    """A bin of stories with similar ratings: mean rating, and mean human rating with its interval. `people.n` counts
    stories; after calibration, `stories` is their mean number over foldings."""

    rating: float
    people: Estimate
    stories: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Reliability curve of one judge x Eval-Prompt x criterion. `error_before` and `error_after` are the calibration
    errors; `n` counts stories; `reason` says why there is no curve."""

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
    and fewer where many ratings are equal, because equal ratings share a bin."""
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
            points = [_points(stage, panel.people, matrix, bins) for stage in (before, after)]
            errors = [_error(stage, panel.people, bins) for stage in (before, after)]
            n = int((~np.isnan(before[0] - panel.people)).sum())
            dataset_curves.append(
                Curve(judge, eval_prompt, panel.criterion, points[0], points[1], errors[0], errors[1], n)
            )
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
        notes=tuple(dict.fromkeys([*table.notes, *notes])),
    )


def _scale(matrix: RatingMatrix, table: RatingsTable) -> tuple[float, float]:
    ends = [end for fact in table.facts for c in fact.criteria for end in (c.scale.min, c.scale.max)]
    for values in (matrix.people, matrix.judge):
        if values.size and not np.isnan(values).all():
            ends += [float(np.nanmin(values)), float(np.nanmax(values))]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


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
    *titled(rating="judge's rating", people="people's mean"),
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
