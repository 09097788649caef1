"""Decides which imported judge cells hold means of repeats and which hold single ratings. A judge cell is run x judge x
Eval-Prompt x criterion. A declaration in the import has priority.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from judge.base.records import Scale
from judge.ratings.rating_matrix.matrix import Cell
from judge.ratings.rating_matrix.rows import Codes, Floats

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RunFacts

_WHOLE = Scale(min=-1e9, max=1e9, step=1)


def means_of_repeats(
    facts: Sequence[RunFacts], cells: Sequence[Cell], imported: Sequence[bool], asked: Codes, ratings: Floats
) -> tuple[bool, ...]:
    """For each judge cell (run x judge x Eval-Prompt x criterion), whether it holds means of repeats. `asked` (number
    of repeats requested) and `ratings` have shape (judge cells, stories). A cell with several repeats of a story holds
    single ratings.
    """
    return tuple(
        is_imported and int(asked[i].max(initial=0)) < 2 and _mean(facts, cell, ratings[i])
        for i, (cell, is_imported) in enumerate(zip(cells, imported, strict=True))
    )


def _mean(facts: Sequence[RunFacts], cell: Cell, ratings: Floats) -> bool:
    elsewhere = [fact for fact in facts if fact.parser == "imported"]
    # A folder may hold several runs, of which its facts name the first.
    own = [fact for fact in elsewhere if fact.run == cell.run] or elsewhere
    single_flags = {fact.single for fact in own}
    if single_flags <= {True, False} and len(single_flags) == 1:
        return single_flags == {False}
    scale = next((c.scale for fact in own for c in fact.criteria if c.name == cell.criterion), _WHOLE)
    return not all(scale.on_step(float(rating)) for rating in np.unique(ratings[~np.isnan(ratings)]))
