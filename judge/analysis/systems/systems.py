"""Systems as people and judges rate them: one value with frames of means and ranks, differences and separation.

Never names a winner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge.analysis.frames import signed
from judge.analysis.inputs.label_criteria import numbers, scale_of
from judge.analysis.options.signature import joined, signature_parts
from judge.analysis.options.table_options import SystemsOptions
from judge.analysis.systems.separation import Separation, separation_of
from judge.analysis.systems.standings import AVERAGE, Standing, standings
from judge.rating_matrix import RatingMatrix, build

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criterion", "system", "mean", "low", "high", "stories"),
    *("story_prompts", "ratings", "unrated", "rank", "rank_low", "rank_high", "best", "set_low", "set_high", "group"),
    *("method", "reason"),
]
"""Columns of `Systems.frame`, in order."""

DIFFERENCE_COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criterion", "system", "against", "difference", "low", "high", "n"),
    *("t", "p", "tail", "p_adjusted", "family", "test", "reason"),
]
"""Columns of `Systems.differences`, in order."""


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """Ratings of every system by people and by every judge x Eval-Prompt, on each criterion, then on average.

    Means of labels are of codes: of two labels the share of the second.
    `signature_parts` are those of means and ranks, `difference_parts` those of the pairs; `notes` hold for all.
    `labelled` are datasets whose ratings beside the judges' no reader gave.
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
        """On a scale of two labels, the label whose share the mean is; for an average, only where all criteria have
        that label.
        """
        names = standing.source.criteria if standing.criterion == AVERAGE else (standing.criterion,)
        scales = [scale_of(standing.source.matrix, name) for name in names]
        words = {None if scale is None or scale.positive_code is None else scale.labels[1] for scale in scales}
        return words.pop() if len(words) == 1 else None

    @property
    def signature(self) -> str:
        """The line under tables and figures of means and ranks."""
        return joined(self.signature_parts)

    @property
    def difference_signature(self) -> str:
        """The line under tables of differences."""
        return joined(self.difference_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """Long table with `COLUMNS`: one row for each system and criterion. `judge` is "people" for people.

        `rank_low` to `rank_high` is the spread of the rank over resamples, `best` the share of resamples with the
        highest mean, `set_low` to `set_high` the ranks that tested differences leave possible; systems that share a
        letter of `group` were not told apart. `unrated` counts stories that were asked about and have no rating.
        """
        frame = pd.DataFrame([row for standing in self.standings for row in _means(standing)], columns=COLUMNS)
        return signed(frame, self.signature, self.notes)

    @property
    def differences(self) -> pd.DataFrame:
        """Long table with `DIFFERENCE_COLUMNS`: one row for each pair of systems, on the story-prompts that both have.

        `difference` is the mean of system minus against over `n` story-prompts; the interval is for one pair;
        `p_adjusted` is Holm's over the `family` tests that `options.holm_over` declares.
        """
        rows = [row for standing in self.standings for row in _pairs(standing)]
        return signed(pd.DataFrame(rows, columns=DIFFERENCE_COLUMNS), self.difference_signature, self.notes)


def systems(table: RatingsTable, options: SystemsOptions | None = None) -> Systems:
    """Means, ranks, differences and groups of systems, and which of them judges tell apart as people do."""
    options = options or SystemsOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    return Systems(
        standings=tuple(standings(matrices, options)),
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
