"""Criteria whose ratings are labels: which count as numbers, and how a judge's label of a story is chosen.

Two labels, or ordered labels, are analysed as numbers by their codes. Three or more unordered labels have no mean and
no rank; `numbers` leaves their criteria out and adds a note."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from judge.base.arrays import Floats
from judge.base.errors import SpecError
from judge.base.records import Scale
from judge.ratings.rating_matrix import RatingMatrix
from judge.ratings.ratings_table import RatingsTable
from judge.ratings.ratings_table.columns import with_scales

_NAMED = 3
_HALF = 1e-9


def numbers(table: RatingsTable, *, needed: bool = False) -> RatingsTable:
    """The table without unordered labels, with a note. Raises SpecError if none remains but one is `needed`."""
    loose = {keys: scale for keys, scale in table.labels.items() if not scale.numeric}
    if not loose:
        return table
    frame = table.frame
    keys = list(zip(frame["dataset"].astype(str), frame["criterion"].astype(str).str.casefold(), strict=True))
    out = np.fromiter((item in loose for item in keys), dtype=bool, count=len(keys))
    names = list(dict.fromkeys(frame.loc[out, "criterion"].astype(str)))
    if not names:
        return table
    if needed and out.all():
        raise SpecError(f"nothing can be counted as a number: {_not_numbers(names, loose.values())}")
    note = f"left out: {_not_numbers(names, loose.values())}"
    gone = {criterion for _, criterion in loose}
    part = with_scales(replace(table, frame=frame[~out]), {at: s for at, s in table.labels.items() if at not in loose})
    facts = tuple(
        replace(
            fact,
            criteria=tuple(item for item in fact.criteria if item.name.casefold() not in gone),
            notes=(*fact.notes, note),
        )
        for fact in part.facts
    )
    return replace(part, facts=facts)


def scale_of(matrix: RatingMatrix, criterion: str) -> Scale | None:
    """The criterion's scale of labels; None where its ratings are numbers."""
    return matrix.labels.get(criterion.casefold())


def phi_note(matrix: RatingMatrix) -> list[str]:
    """Note that tau-b between two criteria of two labels each is phi, if any criterion has two labels; else empty."""
    if not any(scale.positive_code is not None for scale in matrix.labels.values()):
        return []
    return ["of two labels, codes 0 and 1: tau-b of one label with another is phi"]


def given_labels(matrix: RatingMatrix, cell: int, scale: Scale) -> Floats:
    """Codes of a judge's most frequent label of each story over its repeats, shape (n stories,); NaN = several are. A
    rating between two codes (a mean of repeats, an expected value) is the nearer code; halfway between, it is no label.
    """
    wide = matrix.wide(cell)
    whole = np.where(np.abs(wide - np.floor(wide) - 0.5) < _HALF, np.nan, np.round(wide))
    counts = np.stack([(whole == code).sum(axis=1) for code in scale.points()])
    most = counts.max(axis=0)
    clear = (most > 0) & ((counts == most).sum(axis=0) == 1)
    return np.where(clear, counts.argmax(axis=0).astype(np.float64), np.nan)


def _not_numbers(names: list[str], scales: Iterable[Scale]) -> str:
    labels = list(dict.fromkeys(scales))
    first = labels[0].labels
    words = f" ({', '.join(first[:_NAMED])}{', ...' if len(first) > _NAMED else ''})" if len(labels) == 1 else ""
    return f"{', '.join(names)}: labels without an order{words} have no means, ranks or correlations"
