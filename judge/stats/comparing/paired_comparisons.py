"""Paired comparisons as arrays: the systems compared, the outcomes, and the clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

import numpy as np

from judge.base.arrays import Codes, Floats, Masks

# Columns of `Comparisons.ended`.
FIRST, SECOND, TIE = range(3)

# What a tie is: an outcome of its own with a parameter (Davidson 1970), half a win for both, or nothing.
Ties = Literal["davidson", "half", "left-out"]


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Comparisons of two systems' stories, one shown first and one second.

    `first` and `second` (n,) are indices into `systems`. `ended` (n, 3) is the number (or share) of outcomes in which
    the first won, the second won, and neither won (tie). `cluster` (n,) holds the code 0, 1, ... of the independent
    unit (story-prompt). `covariates` (n, k) are differences, first minus second, such as the log of (words of the first
    / words of the second); they change sign if the order is swapped."""

    systems: tuple[str, ...]
    first: Codes
    second: Codes
    ended: Floats
    cluster: Codes
    covariates: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        n = self.first.size
        if self.covariates.size == 0:
            object.__setattr__(self, "covariates", np.empty((n, 0)))
        if (self.first == self.second).any():
            raise ValueError("a system is compared with itself")
        if self.ended.shape != (n, 3) or (self.ended < 0).any() or not np.isfinite(self.ended).all():
            raise ValueError("`ended` holds three numbers from 0 up for each comparison")

    @property
    def n(self) -> float:
        """Number of comparisons with an outcome: the sum of all outcomes."""
        return float(self.ended.sum())

    @property
    def clusters(self) -> int:
        return int(self.cluster.max()) + 1 if self.cluster.size else 0

    def with_ties(self, ties: Ties) -> Comparisons:
        """The comparisons with `ties` as an outcome ("davidson"), half a win for each ("half"), or "left-out".

        The rows stay; where ties are left out, a row may have an outcome of 0 in all three columns."""
        if ties == "davidson":
            return self
        ended = self.ended.copy()
        if ties == "half":
            ended[:, :TIE] += ended[:, TIE:] / 2
        elif ties != "left-out":
            assert_never(ties)
        ended[:, TIE] = 0.0
        return self.of(np.arange(self.first.size), ended)

    def of(self, rows: Codes, ended: Floats | None = None) -> Comparisons:
        """The comparisons with indices `rows` (m,), all systems and unchanged codes of clusters.

        `ended` (n, 3) are new outcomes of all n rows, before the selection; None = the present ones. ValueError if they
        are not three finite numbers, 0 or more, for each row."""
        ended = self.ended if ended is None else ended
        first, second = self.first[rows], self.second[rows]
        return Comparisons(self.systems, first, second, ended[rows], self.cluster[rows], self.covariates[rows])

    def gathered(self) -> Comparisons:
        """The comparisons with rows of equal (cluster, first, second, covariates) merged and their outcomes summed."""
        systems = len(self.systems)
        key = (self.cluster * systems + self.first) * systems + self.second
        if self.covariates.shape[1]:
            table = np.column_stack([key.astype(np.float64), self.covariates])
            _, head, position = np.unique(table, axis=0, return_index=True, return_inverse=True)
        else:
            _, head, position = np.unique(key, return_index=True, return_inverse=True)
        position = position.reshape(-1)
        sums = [np.bincount(position, weights=self.ended[:, k], minlength=head.size) for k in range(3)]
        full = np.zeros_like(self.ended)
        full[head] = np.stack(sums, axis=1)
        kept = head[full[head].sum(axis=1) > 0]
        return self.of(kept.astype(np.int64), full)


def comparisons(
    first: Sequence[str],
    second: Sequence[str],
    preference: Sequence[str | None],
    cluster: Sequence[str],
    covariates: Floats | None = None,
) -> Comparisons:
    """Comparisons from names of systems, preferences and clusters; systems are in alphabetical order.

    `first` and `second` (n) name the systems shown; those whose rows were left out are included. `preference` is first,
    second or tie; a row with any other value is left out. `cluster` names the independent unit (the story-prompt).
    `covariates` (n, k) are as in `Comparisons`. ValueError for a system that is compared with itself."""
    systems = tuple(sorted({*first, *second}))
    number_of = {name: at for at, name in enumerate(systems)}
    ended = np.array([[value == word for word in ("first", "second", "tie")] for value in preference], dtype=float)
    ended = ended.reshape(-1, 3)
    rows = np.flatnonzero(ended.sum(axis=1) > 0)
    first_code, other = (np.array([number_of[name] for name in side], dtype=np.int64)[rows] for side in (first, second))
    _, code = np.unique(np.asarray(cluster, dtype=object)[rows].astype(str), return_inverse=True)
    beside = np.empty((rows.size, 0)) if covariates is None else np.asarray(covariates, dtype=np.float64)[rows]
    return Comparisons(systems, first_code, other, ended[rows], code.reshape(-1).astype(np.int64), beside)


# Tests whether comparisons determine finite strengths, by the connectivity of the graph of wins.

# So many systems of a group are named; the others are counted.
_NAMED = 4


def wins(comparisons: Comparisons) -> Floats:
    """Wins of the row's system over the column's in `comparisons`, (systems, systems); ties do not count."""
    return _table(comparisons, FIRST, SECOND)


def ties(comparisons: Comparisons) -> Floats:
    """Ties between the row's and the column's system in `comparisons`, in either order, (systems, systems)."""
    return _table(comparisons, TIE, TIE)


def undetermined(comparisons: Comparisons) -> str | None:
    """Reason, naming systems, why `comparisons` determine no finite strengths (Ford 1957; ties: Davidson 1970).

    Ties must be treated as in the fit, see `Comparisons.with_ties`."""
    systems = len(comparisons.systems)
    if systems < 2:
        return "undefined with fewer than 2 systems"
    if not comparisons.n:
        return "undefined without a comparison"
    tied = ties(comparisons)
    beaten = (wins(comparisons) + tied) > 0
    parts = _components(beaten, strong=False)
    if parts.max() > 0:
        one, other = (_named(comparisons.systems, parts == at) for at in (parts[0], int(parts[parts != parts[0]][0])))
        return f"undefined: {one} and {other} never met, directly or through others"
    if not wins(comparisons).any():
        return "undefined: every comparison is a tie"
    parts = _components(beaten, strong=True)
    if parts.max() == 0:
        return None
    for at in range(int(parts.max()) + 1):
        inside = parts == at
        if not beaten[np.ix_(~inside, inside)].any():
            return f"undefined: {_named(comparisons.systems, inside)} never lost or tied against the others"
    raise AssertionError("a graph that is not strongly connected has a group nobody leads into")


def connected(edges: Masks) -> Masks:
    """Whether each of b graphs is strongly connected; `edges` (b, systems, systems) lead from row to column."""
    systems = edges.shape[-1]
    reach = (edges | np.eye(systems, dtype=bool)).astype(np.float32)
    steps = 1
    while steps < systems - 1:
        reach = (reach @ reach > 0).astype(np.float32)
        steps *= 2
    return np.asarray((reach > 0).all(axis=(1, 2)))


def _components(edges: Masks, *, strong: bool) -> Codes:
    from scipy.sparse import csgraph, csr_array

    graph = csr_array(edges.astype(np.int8))
    _, part = csgraph.connected_components(graph, directed=True, connection="strong" if strong else "weak")
    return np.asarray(part).astype(np.int64)


def _named(systems: tuple[str, ...], inside: Masks) -> str:
    names = [name for name, here in zip(systems, inside, strict=True) if here]
    shown = ", ".join(names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED} others" if len(names) > _NAMED else shown


def _table(comparisons: Comparisons, as_first: int, as_second: int) -> Floats:
    systems = len(comparisons.systems)
    size = systems * systems
    forwards = np.bincount(
        comparisons.first * systems + comparisons.second, weights=comparisons.ended[:, as_first], minlength=size
    )
    backwards = np.bincount(
        comparisons.second * systems + comparisons.first, weights=comparisons.ended[:, as_second], minlength=size
    )
    return np.asarray((forwards + backwards).reshape(systems, systems), dtype=np.float64)
