"""Bounds of a mean rating over the possible values of missing repeats; lowest and highest points of scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judge.analysis.inputs.label_criteria import scale_of
from judge.base.estimate import Estimate
from judge.base.records import Scale
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.shares.missing_data_bounds import mean_bounds

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

SCALE_UNKNOWN = "the criterion's scale is in no result folder; a criteria set that is given to the import holds it"


@dataclass(frozen=True, slots=True)
class Bound:
    """Bounds of a judge's mean rating with one Eval-Prompt on one criterion, over the stories it was asked about.

    The interval of `mean` goes from the mean with all `missing` repeats at the lowest point of the `scale` to the mean
    with all of them at the highest point. The mean is over repeats. For labels, `ends` are the names of the lowest and
    highest code. `scale` is None if no result folder holds the criterion's scale; `mean` then has bounds only if no
    repeat is missing, since the ratings seen need not reach the ends of the scale.
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
    """Bounds of the mean rating of every judge, Eval-Prompt and criterion, over all possible values of missing repeats.

    `scales` maps a criterion to the lowest and highest point of its scale.
    """
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
    """Map from a criterion to the lowest and highest point of its scale, for criteria whose scale is in a result
    folder.
    """
    ends: dict[str, tuple[float, float]] = {}
    for fact in table.facts:
        for criterion in fact.criteria:
            scale = getattr(criterion, "scale", None)
            if scale is not None:
                ends[str(getattr(criterion, "name", criterion))] = (float(scale.min), float(scale.max))
    return ends
