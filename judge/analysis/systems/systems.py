"""Compares systems by human ratings and by judges' ratings: means, ranks, differences. No winner is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge.analysis.coverage.coverage import scales_of
from judge.analysis.frames import signed
from judge.analysis.inputs.label_criteria import numbers, scale_of
from judge.analysis.options.signature import joined, signature_parts
from judge.analysis.options.table_options import SystemsOptions
from judge.analysis.systems.separation import AVERAGE, Separation, Standing, separation_of, standings
from judge.ratings.rating_matrix import RatingMatrix, build

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

# Columns of `Systems.frame`, in order.
COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criterion", "system", "mean", "low", "high", "stories"),
    *("story_prompts", "ratings", "unrated", "rank", "rank_low", "rank_high", "best", "set_low", "set_high", "group"),
    *("method", "reason"),
]

# Columns of `Systems.differences`, in order.
DIFFERENCE_COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criterion", "system", "against", "difference", "low", "high", "n"),
    *("t", "p", "tail", "p_adjusted", "family", "test", "reason"),
]


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """Ratings of every system by people and by every judge x Eval-Prompt, on each criterion, then on average. Labels
    are averaged as codes: with two, the mean is the share of the second. `signature_parts` describe the means and
    ranks, `difference_parts` the pairwise differences. `labelled` datasets have reference labels that no reader gave.
    """

    standings: tuple[Standing, ...]
    separation: Separation
    options: SystemsOptions
    matrices: tuple[RatingMatrix, ...] = field(repr=False)
    signature_parts: tuple[str, ...]
    difference_parts: tuple[str, ...]
    notes: tuple[str, ...]
    labelled: frozenset[str] = frozenset()

    def share_of(self, standing: Standing) -> str | None:
        """The second of two labels: the means are then shares of stories with it. None on other scales, and for an
        average over criteria whose labels differ.
        """
        names = standing.source.criteria if standing.criterion == AVERAGE else (standing.criterion,)
        scales = [scale_of(standing.source.matrix, name) for name in names]
        words = {None if scale is None or scale.positive_code is None else scale.labels[1] for scale in scales}
        return words.pop() if len(words) == 1 else None

    @property
    def signature(self) -> str:
        """Signature line of tables and figures of means and ranks."""
        return joined(self.signature_parts)

    @property
    def difference_signature(self) -> str:
        """Signature line of tables of differences."""
        return joined(self.difference_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each system, criterion and source (`judge` is "people" for people).

        `rank_low` to `rank_high` is the interval of the rank over resamples, and `best` the share of resamples in which
        the system has the highest mean. `set_low` to `set_high` are the ranks consistent with the tested differences.
        Systems that share a letter of `group` do not differ significantly. `unrated` counts stories without a rating
        although the source was asked about them.
        """
        frame = pd.DataFrame([row for standing in self.standings for row in _means(standing)], columns=COLUMNS)
        return signed(frame, self.signature, self.notes)

    @property
    def differences(self) -> pd.DataFrame:
        """One row for each pair of systems: `difference` is the mean of `system` minus `against` over the `n`
        story-prompts that both have, with an interval for this pair alone. `p_adjusted` is by Holm's method over the
        `family` of `options.holm_over`.
        """
        rows = [row for standing in self.standings for row in _pairs(standing)]
        return signed(pd.DataFrame(rows, columns=DIFFERENCE_COLUMNS), self.difference_signature, self.notes)


def systems(table: RatingsTable, options: SystemsOptions | None = None) -> Systems:
    """Means, ranks, differences and groups of systems, and significant differences that judges share with people."""
    options = options or SystemsOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    return Systems(
        standings=tuple(standings(matrices, options, scales_of(table))),
        separation=separation_of(table, matrices, options),
        options=options,
        matrices=matrices,
        signature_parts=signature_parts(table, matrices, options),
        difference_parts=signature_parts(table, matrices, options, intervals="paired-t"),
        notes=tuple(dict.fromkeys([*(note for fact in table.facts for note in fact.notes)])),
        labelled=frozenset(fact.dataset for fact in table.facts if fact.labels_note),
    )


def _means(standing: Standing) -> Iterator[tuple[object, ...]]:
    for s, name in enumerate(standing.source.matrix.systems):
        mean, rank = standing.mean[s], standing.rank[s]
        reasons = dict.fromkeys(reason for reason in (mean.reason, rank.reason) if reason)
        sets = standing.sets[s] if rank.defined else (None, None)
        yield (
            *(standing.source.matrix.dataset, *standing.source.labels().values(), standing.criterion, name),
            *(
                mean.value,
                mean.low,
                mean.high,
                standing.stories[s],
                standing.story_prompts[s],
                standing.ratings[s],
                standing.unrated[s],
            ),
            *(rank.value, rank.low, rank.high, None if np.isnan(standing.best[s]) else float(standing.best[s]), *sets),
            *(standing.groups[s], mean.method, "; ".join(reasons) or None),
        )


def _pairs(standing: Standing) -> Iterator[tuple[object, ...]]:
    names = standing.source.matrix.systems
    for pair in standing.differences:
        estimate = pair.estimate
        yield (
            *(standing.source.matrix.dataset, *standing.source.labels().values(), standing.criterion),
            *(names[pair.first], names[pair.second], estimate.value, estimate.low, estimate.high, estimate.n, pair.t),
            *(
                pair.p,
                None if pair.p is None else "two-sided",
                pair.p_adjusted,
                standing.family,
                pair.test,
                estimate.reason,
            ),
        )
