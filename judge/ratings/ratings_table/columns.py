"""Builds the data frame of a ratings table from columns of integer codes and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.ratings.ratings_table.table import COLUMNS, LABEL, PANEL

Codes = NDArray[np.integer[Any]]
Names = Sequence[str | None]

NUMBERS = ("repeat", "rating")
TEXT = "explanation"
NAMED = tuple(name for name in COLUMNS if name not in (*NUMBERS, TEXT))


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Rows of one kind: the ratings of one journal, or the human ratings of one dataset.

    Attributes
    ----------
    named : mapping
        For each column of names either (codes, names), where a code is an index into names, or the one value that all
        rows share. `PANEL` is a key only where some rater has a panel.
    rating : array of float
        Rating of each row; NaN where there is none.
    repeat : array of int or None
        Repeat of each row; None for human ratings.
    explanations : array of str or None
        Explanation of each row; None where the rows have no explanations or these were not read.
    """

    named: Mapping[str, tuple[Codes, Names] | str | None]
    rating: NDArray[np.float64]
    repeat: NDArray[np.int64] | None = None
    explanations: NDArray[np.object_] | None = None


def frame_of(pieces: Sequence[Piece], *, explanations: bool) -> pd.DataFrame:
    """One data frame with the rows of all pieces.

    If `explanations` is False, the column of explanations is null, and columns of names are categorical. Categories are
    sorted, so that sorting and grouping give the same order as with text columns.
    """
    count = sum(piece.rating.size for piece in pieces)
    columns: dict[str, Any] = {}
    panelled = any(PANEL in piece.named for piece in pieces)
    for name in (*NAMED, PANEL) if panelled else NAMED:
        codes, names = _together([(piece.named.get(name), piece.rating.size) for piece in pieces])
        columns[name] = _texts(codes, names) if explanations else categories(codes, names)
    columns["rating"] = np.concatenate([np.empty(0), *(piece.rating for piece in pieces)])
    columns["repeat"] = _repeats(pieces, count)
    columns[TEXT] = _explanations(pieces) if explanations else categories(np.full(count, -1, dtype=np.int8), [])
    return pd.DataFrame({name: columns[name] for name in ordered(columns)}, copy=False)


def ordered(present: Iterable[str]) -> list[str]:
    """All column names of a ratings table, in its order.

    They are those of `COLUMNS`, with `PANEL` after `rater` and `LABEL` after `rating`, each of the two only if it is
    among `present`.
    """
    present, names = set(present), []
    for name in COLUMNS:
        names.append(name)
        more = {"rater": PANEL, "rating": LABEL}.get(name)
        names += [more] if more in present else []
    return names


def without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """The table without the column of panels if no row has a panel; otherwise the table unchanged."""
    if PANEL in frame.columns and not bool(frame[PANEL].notna().any()):
        return frame.drop(columns=PANEL)
    return frame


def categories(codes: Codes, names: Sequence[str]) -> pd.Categorical[Any]:
    """Categorical column made from integer codes. A code is an index into `names`; -1 = null."""
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(pd.Index(names, dtype=object)))


def width(levels: int) -> np.dtype[Any]:
    """Smallest integer type that holds the codes of `levels` categories, and -1 for null."""
    return np.dtype(np.int8 if levels < 127 else np.int16 if levels < 32_767 else np.int32)


def _together(parts: Sequence[tuple[tuple[Codes, Names] | str | None, int]]) -> tuple[Codes, list[str]]:
    """One column of names over all parts: its codes (-1 = null), and the sorted list of the names that occur.

    Each part is given as its column and its number of rows. The column is either (codes, names) or the one value that
    all its rows share.
    """
    coded: list[tuple[Codes, Names]] = []
    used: list[NDArray[np.intp]] = []
    for column, size in parts:
        codes, names = column if isinstance(column, tuple) else (np.zeros(size, dtype=np.int8), [column])
        coded.append((codes, names))
        used.append(np.flatnonzero(np.bincount(codes, minlength=len(names))))
    levels_used = {names[n] for (_, names), some in zip(coded, used, strict=True) for n in some}
    levels = sorted(name for name in levels_used if name is not None)
    number = {name: n for n, name in enumerate(levels)}
    whole = np.empty(sum(codes.size for codes, _ in coded), dtype=width(len(levels)))
    done = 0
    for codes, names in coded:
        places = np.array([number.get(name, -1) if name is not None else -1 for name in names], dtype=whole.dtype)
        whole[done : done + codes.size] = places[codes] if len(names) else -1
        done += codes.size
    return whole, levels


def _texts(codes: Codes, names: Sequence[str]) -> pd.Series[Any]:
    """Column of codes converted to strings, with None for code -1."""
    return pd.Series(np.array([*names, None], dtype=object)[codes])


def _repeats(pieces: Sequence[Piece], count: int) -> pd.arrays.IntegerArray:
    numbers, missing = np.ones(count, dtype=np.int64), np.ones(count, dtype=np.bool_)
    done = 0
    for piece in pieces:
        if piece.repeat is not None:
            numbers[done : done + piece.rating.size] = piece.repeat
            missing[done : done + piece.rating.size] = False
        done += piece.rating.size
    return pd.arrays.IntegerArray(numbers, missing)


def _explanations(pieces: Sequence[Piece]) -> pd.Series[Any]:
    blank = (np.full(p.rating.size, None, dtype=object) if p.explanations is None else p.explanations for p in pieces)
    return pd.Series(np.concatenate([np.empty(0, dtype=object), *blank]))
