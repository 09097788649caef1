"""Corrected correlations with intervals over story-prompts, all from the same resamples.

The ten systems are treated as fixed. For a generalisation to other systems use `judge correlate` with the interval
``boot-both``, which resamples systems too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge.base.estimate import Estimate
from judge.reproduce.cell import Place
from judge.reproduce.recipe import OURS
from judge.reproduce.tables.correlations import Level, layout, numbers, pairs, sides
from judge.reproduce.tables.scores import JUDGED, MEASURES, NAMES, Floats, Scores
from judge.stats.resampling import bootstrap, resampled_correlation

METHOD = "95 % over resampled story-prompts"


def estimates(scores: Scores, level: Level, resamples: int, seed: int) -> dict[Place, Estimate]:
    """Correlations x100 for the cells of HANNA's correlation tables at one level (overall or system), by this program's
    corrected method instead of the study's method.

    The keys are (table, row, column). Each correlation has a percentile interval over story-prompts, unless `resamples`
    is 0.
    """

    def count(column: str, short: str) -> int:
        return min(sides(*pair, level=level)[0].size for pair in pairs(scores, column, short, OURS))

    def fewest(cells: Sequence[int]) -> int:
        return min(cells)

    counts = layout(level, count, fewest)
    estimates_by_place: dict[Place, Estimate] = {}
    for place, value in numbers(scores, level, OURS).items():
        undefined = Estimate.undefined("undefined for a criterion", n=counts[place])
        estimates_by_place[place] = undefined if value is None else Estimate(value, n=counts[place])
    if not resamples:
        return estimates_by_place
    systems, prompts = scores.people("RE", OURS).shape
    unit = np.tile(np.arange(prompts), systems)
    drawn = bootstrap.draw(unit, resamples, np.random.default_rng(seed), "boot-inputs")
    many: dict[tuple[str, str], Floats] = {}
    for short in NAMES:
        columns = (*JUDGED, *MEASURES)
        rows = np.stack([scores.side(column, short, OURS) for column in columns])
        taus = resampled_tau(rows, scores.people(short, OURS), level, drawn)
        many |= {(column, short): row for column, row in zip(columns, taus, strict=True)}

    def resampled(column: str, short: str) -> Floats:
        if (column, short) in many:
            return many[column, short]
        return _mean([resampled_tau(x[None], y, level, drawn)[0] for x, y in pairs(scores, column, short, OURS)])

    values = layout(level, resampled, _mean)
    return {
        place: bootstrap.percentile(estimate, values[place], METHOD) for place, estimate in estimates_by_place.items()
    }


def resampled_tau(rows: Floats, people: Floats, level: Level, drawn: bootstrap.Resamples) -> Floats:
    """100 x tau-b of each judge with the mean human ratings in each resample, shape (judges, resamples).

    `rows` are the judges' ratings, shape (judges, systems, story-prompts), and `people` the mean human ratings.
    """
    system = np.repeat(np.arange(people.shape[0]), people.shape[1])
    flat, y = rows.reshape(rows.shape[0], -1), people.reshape(-1)
    if level == "overall":
        return 100 * resampled_correlation.values(drawn, flat, y)
    return 100 * resampled_correlation.values(drawn, flat, y, grouping="means", group=system)


def _mean(values: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean(values, axis=0), dtype=np.float64)
