"""Tests whether comparisons determine finite strengths, by the connectivity of the graph of wins.

Maximum likelihood strengths exist if and only if every system can be reached from every other by a chain of wins (Ford
1957, American Mathematical Monthly 64); a tie counts in both directions (Davidson 1970, JASA 65). Otherwise the
likelihood has no finite maximum (a group of systems never lost to the others), or differences are not determined
(groups were never compared with each other).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.stats.comparing.comparisons import FIRST, SECOND, TIE, Comparisons

Floats = NDArray[np.float64]

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

    Ties must be treated as in the fit, see `Comparisons.with_ties`.
    """
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


def connected(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each of b graphs is strongly connected; `edges` (b, systems, systems) lead from row to column."""
    systems = edges.shape[-1]
    reach = (edges | np.eye(systems, dtype=bool)).astype(np.float32)
    steps = 1
    while steps < systems - 1:
        reach = (reach @ reach > 0).astype(np.float32)
        steps *= 2
    return np.asarray((reach > 0).all(axis=(1, 2)))


def _components(edges: NDArray[np.bool_], *, strong: bool) -> NDArray[np.int64]:
    from scipy.sparse import csgraph, csr_array

    graph = csr_array(edges.astype(np.int8))
    _, part = csgraph.connected_components(graph, directed=True, connection="strong" if strong else "weak")
    return np.asarray(part).astype(np.int64)


def _named(systems: tuple[str, ...], inside: NDArray[np.bool_]) -> str:
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
