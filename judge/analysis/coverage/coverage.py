"""Coverage as one result: repeats requested, answered and rated, and whether lost ratings differ from kept ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge.analysis.coverage import loss
from judge.analysis.coverage.counts import Counts, count
from judge.analysis.coverage.loss import LossTest
from judge.analysis.frames import signed
from judge.analysis.inputs.label_criteria import numbers, scale_of
from judge.analysis.options.signature import joined, signature_parts
from judge.analysis.options.table_options import CoverageOptions
from judge.base.estimate import Estimate
from judge.base.records import Scale
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.estimation.association import PERMUTATIONS
from judge.stats.estimation.proportions import mean_bounds

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


# Bounds of a mean rating over the possible values of missing repeats; lowest and highest points of scales.

SCALE_UNKNOWN = "the criterion's scale is in no result folder; a criteria set that is given to the import holds it"


@dataclass(frozen=True, slots=True)
class Bound:
    """Bounds of a judge's mean rating with one Eval-Prompt on one criterion, over the repeats it was asked for. The
    interval of `mean` goes from all `missing` repeats at the lowest point of the `scale` to all at the highest. `ends`
    name these for labels. `scale` is None if no result folder holds it; `mean` then has bounds only if no repeat is
    missing, since the ratings seen need not reach the ends.
    """

    run: str
    judge: str
    eval_prompt: str
    criterion: str
    mean: Estimate
    scale: tuple[float, float] | None
    missing: int
    ends: tuple[str, str] | None = None


def bounds(matrices: Sequence[RatingMatrix], scales: Mapping[str, tuple[float, float]]) -> tuple[Bound, ...]:
    """Bounds of every mean rating, over all values of missing repeats. `scales` has the ends of scales."""
    return tuple(
        _bound(matrix, i, scales.get(cell.criterion), scale_of(matrix, cell.criterion))
        for matrix in matrices
        for i, cell in enumerate(matrix.cells)
    )


def _bound(matrix: RatingMatrix, i: int, scale: tuple[float, float] | None, labels: Scale | None) -> Bound:
    ratings = matrix.repeats(i)
    # A repeat that was never planned is not missing: only asked ones are counted.
    lost = int(matrix.asked[i].sum() - matrix.valid[i].sum())
    values = np.concatenate([ratings[~np.isnan(ratings)], np.full(lost, np.nan)])
    ends = None if labels is None else (labels.labels[0], labels.labels[-1])
    mean = mean_bounds(values, *(scale or (0.0, 0.0)))
    if scale is None and lost and mean.defined:
        mean = replace(mean.without_interval(SCALE_UNKNOWN), method=None)
    return Bound(**matrix.cells[i]._asdict(), mean=mean, scale=scale, missing=lost, ends=ends)


def scales_of(table: RatingsTable) -> dict[str, tuple[float, float]]:
    """Lowest and highest point of each criterion's scale, where a result folder holds it."""
    ends: dict[str, tuple[float, float]] = {}
    for fact in table.facts:
        for criterion in fact.criteria:
            scale = getattr(criterion, "scale", None)
            if scale is not None:
                ends[str(getattr(criterion, "name", criterion))] = (float(scale.min), float(scale.max))
    return ends


@dataclass(frozen=True, slots=True)
class Coverage:
    """Repeats requested, answered and rated; tests of whether ratings are lost at random; bounds of mean ratings.
    `total` has one row, or none where no judge was asked. `tests` are of each run x judge x Eval-Prompt x criterion
    that lost a rating; their p values are not adjusted. `findings` has a sentence for each kind of loss that is
    associated with human ratings.
    """

    total: Counts
    by_eval_prompt: Counts
    by_criterion: Counts
    by_system: Counts
    tests: tuple[LossTest, ...]
    findings: tuple[str, ...]
    bounds: tuple[Bound, ...]
    options: CoverageOptions
    signature_parts: tuple[str, ...]
    tested_parts: tuple[str, ...]
    bound_parts: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """Share of requested repeats that have a rating; None when nothing was requested."""
        return self.total.rows[0].share if self.total.rows else None

    @property
    def signature(self) -> str:
        return joined(self.signature_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per judge and Eval-Prompt."""
        return signed(self.by_eval_prompt.frame, self.signature, self.notes)


def coverage(table: RatingsTable, options: CoverageOptions | None = None) -> Coverage:
    """Counts of repeats, tests of whether ratings are lost at random, and bounds of mean ratings."""
    options = options or CoverageOptions()
    matrices = build(table, drop_systems=options.drop_systems)

    def counted(*by: str) -> Counts:
        return count(table, by, drop_systems=options.drop_systems)

    def parts(*extra: str) -> tuple[str, ...]:
        return signature_parts(table, matrices, options, without=("seed",), extra=extra)

    # What goes with loss, and what a mean could be, is told of ratings that have a mean.
    averaged = numbers(table)
    of_numbers = matrices if averaged is table else build(averaged, drop_systems=options.drop_systems)
    tests = loss.loss_tests(of_numbers, np.random.default_rng(options.seed))
    return Coverage(
        total=counted("source"),
        by_eval_prompt=counted("judge", "eval_prompt"),
        by_criterion=counted("judge", "criterion"),
        by_system=counted("judge", "system"),
        tests=tests,
        findings=loss.findings(tests),
        bounds=bounds(of_numbers, scales_of(table)),
        options=options,
        signature_parts=parts(),
        tested_parts=parts(f"perm:{PERMUTATIONS}/seed{options.seed}"),
        bound_parts=parts("bounds:worst-best"),
        notes=tuple(dict.fromkeys(note for fact in averaged.facts for note in fact.notes)),
    )
