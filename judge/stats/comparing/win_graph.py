"""Whether the comparisons determine finite strengths: connectivity of the graph of wins.

Maximum likelihood strengths exist exactly where every system can be reached from every other by a chain of wins (Ford
1957, American Mathematical Monthly 64; ties lead both ways: Davidson 1970, JASA 65). Otherwise some likelihood grows
without end (a group that never lost to the others), or leaves a difference open (groups that never met).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.stats.comparing.comparisons import FIRST, SECOND, TIE, Comparisons

Floats = NDArray[np.float64]

_NAMED = 4
"""So many systems of a group are named; the others are counted."""


def wins(comparisons: Comparisons) -> Floats:
    """Number of times the row's system was preferred to the column's, (systems, systems); ties count for neither."""
    return _table(comparisons, FIRST, SECOND)


def ties(comparisons: Comparisons) -> Floats:
    """Number of ties of each pair, (systems, systems), symmetric."""
    return _table(comparisons, TIE, TIE)


def undetermined(comparisons: Comparisons) -> str | None:
    """Why there are no finite strengths, naming systems, or None where there are."""
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
    """Whether each of several graphs (b, systems, systems) is strongly connected; an edge leads from row to column."""
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


def _table(found: Comparisons, as_first: int, as_second: int) -> Floats:
    systems = len(found.systems)
    size = systems * systems
    one = np.bincount(found.first * systems + found.second, weights=found.ended[:, as_first], minlength=size)
    other = np.bincount(found.second * systems + found.first, weights=found.ended[:, as_second], minlength=size)
    return np.asarray((one + other).reshape(systems, systems), dtype=np.float64)
