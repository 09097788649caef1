"""Tests whether judges find the same differences between systems as human raters, by counting pairs of systems.

The difference of every pair of systems is tested twice on the same stories, with human ratings and with the judge's,
because a correlation over ten system means says little about any two systems. The pairs are counted by result:
significant in both, in both with opposite signs, only with human ratings, or only with the judge's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge.analysis.frames import signed
from judge.analysis.inputs.rating_sources import Source, common_criteria, sources
from judge.analysis.options.signature import joined, signature_parts
from judge.analysis.options.table_options import SystemsOptions
from judge.analysis.systems.standings import average, pairs_of
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.estimation import means, paired_differences

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criteria", "stories", "level", "people", "same", "silent"),
    *("reversed", "alone", "pairs", "level_low", "level_high"),
]
"""Columns of `Separation.frame`, in order."""


@dataclass(frozen=True, slots=True)
class Separated:
    """Counts of pairs of systems that differ significantly by the ratings of one judge with one Eval-Prompt, and by
    human ratings.

    Ratings are averaged over the criteria that both the judge and human raters rated.

    Attributes
    ----------
    criteria, stories : int
        Number of criteria and of stories that both the judge and human raters rated.
    level : Estimate
        The judge's mean rating minus the human mean, clustered by story-prompt.
    people : int
        Pairs of systems that differ significantly by human ratings (Holm, 5 %).
    same, silent, reversed : int
        How many of these pairs differ by the judge's ratings significantly in the same direction, not
        significantly, and significantly in the opposite direction.
    alone : int
        Pairs that differ significantly only by the judge's ratings.
    pairs : int
        All pairs of systems.
    """

    dataset: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criteria: int
    stories: int
    level: Estimate
    people: int
    same: int
    silent: int
    reversed: int
    alone: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Separation:
    """Counts of pairs of systems that differ significantly. There is one row for each judge and Eval-Prompt that rated
    a criterion which human raters rated too.

    `signature_parts` are the options on which the numbers depend.
    """

    rows: tuple[Separated, ...]
    signature_parts: tuple[str, ...]

    @property
    def signature(self) -> str:
        """Signature line printed under the tables of counts: the options on which the numbers depend."""
        return joined(self.signature_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """Table with `COLUMNS`, one row for each judge x Eval-Prompt. `level` is the judge's mean rating minus the
        human mean; `level_low` and `level_high` are the ends of its interval.
        """
        rows = [
            (
                *(row.dataset, row.run, row.judge, row.eval_prompt, row.criteria, row.stories, row.level.value),
                *(row.people, row.same, row.silent, row.reversed, row.alone, row.pairs, row.level.low, row.level.high),
            )
            for row in self.rows
        ]
        return signed(pd.DataFrame(rows, columns=COLUMNS), self.signature)


def separation(table: RatingsTable, options: SystemsOptions | None = None) -> Separation:
    """For every dataset, judge and Eval-Prompt, count the pairs of systems for which the judge and human raters find
    the same significant difference, and those for which their results differ.
    """
    options = options or SystemsOptions()
    return separation_of(table, build(table, drop_systems=options.drop_systems), options)


def separation_of(table: RatingsTable, matrices: Sequence[RatingMatrix], options: SystemsOptions) -> Separation:
    """Counts of the pairs of systems for which a judge and human raters find the same significant difference, and of
    those for which their results differ. They are computed from rating matrices that are already built.
    """
    rows = tuple(row for matrix in matrices for row in beside_people(matrix))
    return Separation(rows, signature_parts(table, matrices, options, intervals="clustered"))


def beside_people(matrix: RatingMatrix) -> Iterator[Separated]:
    """Yield a row for each judge x Eval-Prompt of one dataset: how far the judge finds the same differences between
    systems as human raters. Nothing is yielded without human ratings or with only one system.
    """
    matrix_sources = sources(matrix)
    if not matrix_sources or not matrix_sources[0].is_people or len(matrix.systems) < 2:
        return
    for judge in matrix_sources[1:]:
        if names := common_criteria(matrix_sources[0], judge):
            yield _beside_people(matrix_sources[0], judge, names)


def _beside_people(people: Source, judge: Source, names: Sequence[str]) -> Separated:
    matrix = people.matrix
    x, y = (average(source.part(names)) for source in (judge, people))
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)
    number = len(matrix.systems)
    mine, theirs = (paired_differences.told_apart(pairs_of(side, matrix), number) for side in (x, y))
    return Separated(
        dataset=matrix.dataset,
        run=judge.run,
        judge=judge.judge,
        eval_prompt=judge.eval_prompt,
        criteria=len(names),
        stories=int(both.sum()),
        level=means.clustered(x - y, matrix.story_prompt),
        people=int(theirs.sum()),
        same=int((mine & theirs).sum()),
        silent=int((theirs & ~mine & ~mine.T).sum()),
        reversed=int((mine.T & theirs).sum()),
        alone=int((mine & ~theirs & ~theirs.T).sum()),
        pairs=number * (number - 1) // 2,
    )
