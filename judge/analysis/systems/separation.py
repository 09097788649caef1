"""Do judges tell the same systems apart as people? Counts pairs of systems. Never counts a difference nobody tested.

A correlation over ten system means says little about any two of them. Here every pair of systems is tested twice, with
people's ratings and with the judge's, on the same stories: which of the differences that people see does the judge see,
miss, or turn round, and which does it see alone?
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge.analysis.inputs.rating_sources import Source, common_criteria, sources
from judge.analysis.systems import systems as analysis
from judge.printing.tables import Column, Table
from judge.rating_matrix import RatingMatrix, build
from judge.stats.estimation import means, paired_differences

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable


def beside_people(matrix: RatingMatrix) -> list[dict[str, Any]]:
    """One row a judge x Eval-Prompt that rated a criterion which people rated.

    Each row: `run, judge, eval_prompt`; `criteria` and `stories` that both rated; `level`, the judge's mean minus
    people's (Estimate, clustered by story-prompt); `people`, the pairs of systems that people tell apart (Holm, 5 %);
    of these `same`, `silent` and `reversed`, told apart by the judge in the same way, not, or the other way round;
    `alone`, those that only the judge tells apart; `pairs`, all.
    """
    found = sources(matrix)
    if not found or not found[0].is_people or len(matrix.systems) < 2:
        return []
    return [row for judge in found[1:] if (row := _beside_people(found[0], judge))]


TITLE = "Do judges tell the same systems apart as people?"


def separation(table: RatingsTable, *, drop_systems: Sequence[str] = ()) -> pd.DataFrame:
    """`beside_people` of every dataset as a frame, with `dataset` and the ends `level_low, level_high`."""
    rows = []
    for matrix in build(table, drop_systems=drop_systems):
        for row in beside_people(matrix):
            level = row["level"]
            ends = {"level": level.value, "level_low": level.low, "level_high": level.high}
            rows.append({"dataset": matrix.dataset, **row, **ends})
    return pd.DataFrame(rows)


def tables(matrix: RatingMatrix) -> Iterator[Table]:
    """The table as printed; none where nobody rated, or no judge rated a criterion that people rated."""
    rows = beside_people(matrix)
    if not rows:
        return
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criteria", "criteria"),
        Column("stories", "stories"),
        Column("level", "judge minus people", half_width=True),
        Column("people", "people tell apart"),
        Column("same", "judge too"),
        Column("silent", "judge not"),
        Column("reversed", "the other way"),
        Column("alone", "judge alone"),
        Column("pairs", "pairs"),
    ]
    note = (
        "pairs of systems told apart (two-sided paired t tests, Holm, 5 %) on average over criteria, on stories that "
        "both judge and people rated"
    )
    yield Table(f"{TITLE} {matrix.dataset}", columns, rows, "", (note,))


def _beside_people(people: Source, judge: Source) -> dict[str, Any] | None:
    matrix, names = people.matrix, common_criteria(people, judge)
    if not names:
        return None
    x, y = (analysis.average(source.part(names)) for source in (judge, people))
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)
    number = len(matrix.systems)
    mine, theirs = (paired_differences.told_apart(analysis.pairs_of(side, matrix), number) for side in (x, y))
    return {
        **judge.labels(),
        "criteria": len(names),
        "stories": int(both.sum()),
        "level": means.clustered(x - y, matrix.story_prompt),
        "people": int(theirs.sum()),
        "same": int((mine & theirs).sum()),
        "silent": int((theirs & ~mine & ~mine.T).sum()),
        "reversed": int((mine.T & theirs).sum()),
        "alone": int((mine & ~theirs & ~theirs.T).sum()),
        "pairs": number * (number - 1) // 2,
    }
