"""Do judges tell the same systems apart as people? Counts pairs of systems. Never counts a difference nobody tested.

A correlation over ten system means says little about any two of them. Here every pair of systems is tested twice, with
people's ratings and with the judge's, on the same stories: which of the differences that people see does the judge see,
miss, or turn round, and which does it see alone?
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
from judge.rating_matrix import RatingMatrix, build
from judge.stats.estimate import Estimate
from judge.stats.estimation import means, paired_differences

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criteria", "stories", "level", "people", "same", "silent"),
    *("reversed", "alone", "pairs", "level_low", "level_high"),
]
"""Columns of `Separation.frame`, in order."""


@dataclass(frozen=True, slots=True)
class Separated:
    """Pairs of systems told apart by one judge x Eval-Prompt, on a criterion that people rated too.

    Attributes
    ----------
    criteria, stories : int
        What both rated.
    level : Estimate
        The judge's mean minus people's, clustered by story-prompt.
    people : int
        Pairs of systems that people tell apart (Holm, 5 %); of these `same`, `silent` and `reversed` are told apart by
        the judge in the same way, not, or the other way round.
    alone : int
        Pairs that only the judge tells apart.
    pairs : int
        All.
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
    """Counts of pairs of systems that judges tell apart as people do; no row without people or common ratings."""

    rows: tuple[Separated, ...]
    signature_parts: tuple[str, ...]

    @property
    def signature(self) -> str:
        """The line under its tables."""
        return joined(self.signature_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each judge x Eval-Prompt with `COLUMNS`: the level as value, and the ends of its interval."""
        rows = [
            (
                *(row.dataset, row.run, row.judge, row.eval_prompt, row.criteria, row.stories, row.level.value),
                *(row.people, row.same, row.silent, row.reversed, row.alone, row.pairs, row.level.low, row.level.high),
            )
            for row in self.rows
        ]
        return signed(pd.DataFrame(rows, columns=COLUMNS), self.signature)


def separation(table: RatingsTable, options: SystemsOptions | None = None) -> Separation:
    """Compare the system differences found by every judge with those found by people, dataset by dataset."""
    options = options or SystemsOptions()
    return separation_of(table, build(table, drop_systems=options.drop_systems), options)


def separation_of(table: RatingsTable, matrices: Sequence[RatingMatrix], options: SystemsOptions) -> Separation:
    """Compute `separation` from rating matrices that are already built."""
    rows = tuple(row for matrix in matrices for row in beside_people(matrix))
    return Separation(rows, signature_parts(table, matrices, options, intervals="clustered"))


def beside_people(matrix: RatingMatrix) -> Iterator[Separated]:
    """Compare each judge x Eval-Prompt of one dataset with people."""
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
