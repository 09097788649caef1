"""Number of readings (single ratings) per story on each side of a comparison with people.

A judge's rating is the mean of its repeats, a person's rating a single reading: part of a judge's advantage over one
person can come from its larger number of readings.
"""

from __future__ import annotations

from typing import assert_never

import numpy as np

from judge.analysis.correlation.reference_rows import OnePerson
from judge.analysis.correlation.statistic import Floats
from judge.analysis.options.table_options import Readings
from judge.base.wording import Advice, Note, joined
from judge.ratings.rating_matrix import RatingMatrix


def of_judge(matrix: RatingMatrix, cell: int, how: Readings) -> list[Floats] | str:
    """Ratings of the judge in row `cell` for the comparison with one person, shape (n stories,) each: its means, or
    each repeat (``single``). A string is the reason why there are none.
    """
    if how == "mean":
        return [matrix.judge[cell]]
    if how != "single":
        assert_never(how)
    if matrix.means[cell]:
        return "undefined for imported means of repeats: single repeats are not in the file"
    repeats = [row for row in matrix.answers(cell).ratings.T if not np.isnan(row).all()]
    return repeats or "undefined: the judge rated none of the stories"


def judges_side(matrix: RatingMatrix, cells: list[int], how: Readings = "mean") -> str:
    """Description of the ratings of the judges in rows `cells`, e.g. `the mean of 3 repeats` or `one repeat`."""
    if how == "single":
        return "one repeat"
    if any(matrix.means[i] for i in cells):
        return "the mean of its repeats"
    counts = [matrix.valid[i][matrix.valid[i] > 0] for i in cells]
    repeat_counts = np.concatenate(counts) if counts else np.empty(0, dtype=np.int64)
    if not repeat_counts.size or repeat_counts.max() <= 1:
        return "one reading"
    return f"the mean of {_range(repeat_counts)} repeats"


def others_side(matrix: RatingMatrix, j: int) -> str:
    """What one person is compared with on human criterion `j`, e.g. `the mean of the 2 others`."""
    counts = matrix.raters[j][matrix.raters[j] > 1] - 1
    words = _range(counts)
    return "the one other" if words == "1" else f"the mean of the {words} others"


def note(matrix: RatingMatrix, j: int, cells: list[int], person: OnePerson, how: Readings) -> str:
    """How many ratings per story are behind a judge's correlation and behind a person's on human criterion `j`."""
    mine, counts = judges_side(matrix, cells, how), matrix.raters[j][matrix.raters[j] > 0]
    who = "one random person a story" if person.pool else "one person"
    text: str = f"leave-one-out sets {mine} of a judge and one reading of {who} against {others_side(matrix, j)}"
    if how == "mean" and mine != "one reading":
        text = Note(text, Advice("single repeats: {readings}", readings="single"))
    return joined(text, f"; the judge's own row is against the mean of all {_range(counts)} people")


def pool_note(dataset: str) -> str:
    """What a pool of raters is and how to read its numbers."""
    return (
        f"{dataset}: people are a pool, not a panel (some rated less than 80 % of the shared stories): people, leave "
        "one out, is one random rater of each story against the mean of that story's others, averaged over draws. "
        "Raters' own scales differ from story to story there, while a judge keeps to one"
    )


def _range(counts: np.typing.NDArray[np.int64]) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low} to {high}"
