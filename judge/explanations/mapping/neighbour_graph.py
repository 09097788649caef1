"""Connected graph of the distances of many points to their nearest neighbours.

HDBSCAN needs a minimum spanning tree of the points, and nearly all of its edges join near neighbours. If the graph of
neighbours has several components, each is joined to the nearest point outside it, until there is only one (Borůvka's
step).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

# HDBSCAN's core distance needs `min_samples` of them; the others leave few edges of the spanning tree to be bridged.
NEIGHBOURS = 100
_NO_DISTANCE = 1e-6
"""Distance of two copies: a sparse matrix takes 0 for no edge."""

# Rows whose distances to all points are in memory at once.
_BLOCK = 2048


def graph(points: Points, neighbours: int = NEIGHBOURS) -> Any:
    """Symmetric sparse matrix of distances between n points, shape (n, n), whose graph is connected. Every row has at
    least `neighbours` entries.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from sklearn.neighbors import NearestNeighbors

    n = points.shape[0]
    index = NearestNeighbors(n_neighbors=neighbours, algorithm="brute").fit(points)
    distance, other = index.kneighbors()
    row = np.repeat(np.arange(n), neighbours)
    edges = _symmetric(coo_matrix((np.maximum(distance.ravel(), _NO_DISTANCE), (row, other.ravel())), shape=(n, n)))
    while True:
        parts, part = connected_components(edges, directed=False)
        if parts == 1:
            return edges
        starts, ends, away = _bridges(points, part, parts)
        more = coo_matrix((np.maximum(away, _NO_DISTANCE), (starts, ends)), shape=(n, n))
        edges = edges.maximum(_symmetric(more))


def _symmetric(edges: Any) -> Any:
    """Symmetric version of a sparse matrix of distances to neighbours: each distance is entered in both directions,
    also where only one of two points is a neighbour of the other.
    """
    edges = edges.tocsr()
    return edges.maximum(edges.T).tocsr()


def _bridges(
    points: Points, part: NDArray[np.int32], parts: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """For each component of the graph except the largest, its shortest edge to a point outside it, as three arrays:
    points in the component, points outside, distances.

    `part` holds the number of each point's component, and `parts` is the number of components.
    """
    largest = int(np.argmax(np.bincount(part)))
    shortest = np.full(parts, np.inf)
    starts, ends = np.zeros(parts, np.int64), np.zeros(parts, np.int64)
    square = (points**2).sum(axis=1)
    outside = np.flatnonzero(part != largest)
    for start in range(0, outside.size, _BLOCK):
        rows = outside[start : start + _BLOCK]
        away = square[rows, None] + square - 2 * (points[rows] @ points.T)
        away[part[rows, None] == part] = np.inf
        nearest = away.argmin(axis=1)
        length = away[np.arange(rows.size), nearest]
        for i in np.argsort(-length, kind="stable"):  # the shortest of a part is written last
            if length[i] < shortest[part[rows[i]]]:
                shortest[part[rows[i]]] = length[i]
                starts[part[rows[i]]], ends[part[rows[i]]] = rows[i], nearest[i]
    kept = np.flatnonzero(np.isfinite(shortest))
    return starts[kept], ends[kept], np.sqrt(np.maximum(shortest[kept], 0))
