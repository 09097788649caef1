"""Clusters of similar explanations by HDBSCAN. Texts that belong to no cluster are noise, and are counted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import MissingExtraError, SpecError
from judge.base.wording import Advice
from judge.explanations.options import ExplainOptions

# Projection of vectors onto a plane, for the map. Distances on the map do not equal distances between texts.

Vectors = NDArray[np.float64]
Points = NDArray[np.float32]

# Texts up to which t-SNE is taken where UMAP is not installed, and distinct texts below which nothing is drawn.
_TSNE_MOST, _LEAST = 5000, 5


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Points on the map, float32 of shape (n texts, 2); `name` is for signature lines, `method` for prose."""

    points: Points
    name: str
    method: str
    note: str


def project(vectors: Vectors, options: ExplainOptions) -> Projection | None:
    """The vectors projected onto a plane; None for fewer than five distinct vectors or where no map is requested.
    Duplicates share a point, except with `as_published`, since the HANNA judge study projected every copy. Raises
    MissingExtraError where the requested method is not installed."""
    how = options.map
    if how == "none":
        return None
    distinct, row_of = _distinct(vectors)
    if distinct.shape[0] < _LEAST:
        return None
    if how == "auto":
        how = "umap" if find_spec("umap") else "tsne" if distinct.shape[0] <= _TSNE_MOST else "pca"
    if how == "umap":
        whole = vectors if options.as_published else distinct
        points, name, note = _umap(whole, options)
        return Projection(points if options.as_published else points[row_of], name, "UMAP", note)
    instead = "" if options.map == how else " (UMAP is not installed: pip install 'storyjudge[explain]')"
    if how == "tsne":
        points, perplexity = _tsne(distinct, options.seed)
        name = f"map:tsne/{perplexity:g}/seed{options.seed}"
        return Projection(points[row_of], name, "t-SNE", f"map by t-SNE, perplexity {perplexity:g}{instead}")
    if how != "pca":
        assert_never(how)
    points, share = plane(vectors, options.seed)
    note = f"map by the first two principal components, {100 * share:.0f} % of the variance{instead}"
    return Projection(points, f"map:pca/seed{options.seed}", "principal components", note)


def _distinct(vectors: Vectors) -> tuple[Vectors, NDArray[np.int64]]:
    """The distinct vectors by first occurrence, and the index of each row's vector among them."""
    seen: dict[bytes, int] = {}
    positions = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in vectors], dtype=np.int64)
    first = np.unique(positions, return_index=True)[1] if positions.size else positions
    return vectors[first], positions


def plane(vectors: Vectors, seed: int) -> tuple[Points, float]:
    """The vectors on their first two principal components, and these components' share of the variance."""
    points, share = components(vectors, 2, seed)
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros((len(points), 2 - points.shape[1]))])
    return points.astype(np.float32), share


def components(vectors: Vectors, wanted: int, seed: int) -> tuple[Vectors, float]:
    """The vectors on at most `wanted` principal components, and these components' share of the variance."""
    try:
        from sklearn.decomposition import PCA
    except ImportError as error:
        raise MissingExtraError("a map of explanations", "report") from error
    most = min(wanted, *vectors.shape)
    decomposition = PCA(most, random_state=seed)
    points = np.asarray(decomposition.fit_transform(vectors), dtype=np.float64)
    return points, float(decomposition.explained_variance_ratio_.sum())


def _umap(vectors: Vectors, options: ExplainOptions) -> tuple[Points, str, str]:
    neighbours = min(options.neighbours, vectors.shape[0] - 1)
    with warnings.catch_warnings():
        # The library warns of TensorFlow, which it does not need here, and that a seed means one thread.
        warnings.simplefilter("ignore")
        try:
            from umap import UMAP
        except ImportError as error:
            raise MissingExtraError(Advice("{map}", map="umap"), "explain") from error
        points = UMAP(n_neighbors=neighbours, metric=options.metric, random_state=options.seed).fit_transform(vectors)
    name = f"map:umap/{neighbours}/{options.metric}/seed{options.seed}"
    fewer = "" if neighbours == options.neighbours else f" (not {options.neighbours}: there are no more texts)"
    note = (
        f"map by UMAP, {neighbours} neighbours{fewer}, {options.metric}: near points are similar, far ones say little"
    )
    return np.asarray(points, dtype=np.float32), name, note


def _tsne(vectors: Vectors, seed: int) -> tuple[Points, float]:
    try:
        from sklearn.manifold import TSNE
    except ImportError as error:
        raise MissingExtraError(Advice("{map}", map="tsne"), "report") from error
    perplexity = float(min(30, max(2, (vectors.shape[0] - 1) // 3)))
    points = TSNE(perplexity=perplexity, metric="cosine", init="random", random_state=seed).fit_transform(vectors)
    return np.asarray(points, dtype=np.float32), perplexity


# Connected graph of the distances of many points to their nearest neighbours.

Coordinates = NDArray[np.float64]

# HDBSCAN's core distance needs `min_samples` of them; the others leave few edges of the spanning tree to be bridged.
NEIGHBOURS = 100
# Distance of two copies: a sparse matrix takes 0 for no edge.
_NO_DISTANCE = 1e-6

# Rows whose distances to all points are in memory at once.
_BLOCK = 2048


def graph(points: Coordinates, neighbours: int = NEIGHBOURS) -> Any:
    """Symmetric sparse matrix (n, n) of distances whose graph is connected; at least `neighbours` in every row."""
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
    # Each distance is entered in both directions, also where only one of two points is a neighbour of the other.
    edges = edges.tocsr()
    return edges.maximum(edges.T).tocsr()


def _bridges(
    points: Coordinates, part: NDArray[np.int32], parts: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """For each component except the largest, its shortest edge outwards: points in, points out, distances."""
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


Labels = NDArray[np.int64]

NOISE = -1
DIMENSIONS = 50
# HDBSCAN's `min_samples`. Its default, the size of the smallest cluster, makes noise of most texts of many.
SAMPLES = 10

_SHARE, _SMALLEST = 0.01, 10
# Largest numbers of texts and of dimensions for which HDBSCAN computes all distances.
_EXACT, _FLAT = 5000, 3


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Cluster of each text: 0 is the largest, -1 is noise (none). `name` is the method in signature lines."""

    labels: Labels
    name: str
    note: str

    @property
    def count(self) -> int:
        """Number of clusters without noise."""
        return int(self.labels.max()) + 1 if self.labels.size else 0


def cluster(vectors: Vectors, picture: Projection | None, options: ExplainOptions) -> Clustering | None:
    """Clusters of all texts, including duplicates; None where none are requested or there are too few texts. `vectors`
    has shape (n texts, d). Raises SpecError for clusters on ``umap`` of a map that is not by UMAP."""
    if options.cluster_on == "none":
        return None
    by_umap = picture is not None and picture.name.startswith("map:umap")
    on = options.cluster_on
    if on == "auto":
        on = "umap" if by_umap else "pca"
    least = options.min_cluster or max(_SMALLEST, round(_SHARE * len(vectors)))
    if len(vectors) < 2 * least:
        return None
    if on == "umap":
        if picture is None or not by_umap:
            raise SpecError(
                Advice("{cluster_on} needs a map by UMAP", cluster_on="umap"),
                hint=Advice("leave {map} out, or {cluster_on}", map="none", cluster_on="pca"),
            )
        points, where = picture.points.astype(np.float64), "on the UMAP"
    else:
        points, share = components(vectors, DIMENSIONS, options.seed)
        where = f"on {points.shape[1]} principal components, {100 * share:.0f} % of the variance"
    clusters, how = _hdbscan(points, least)
    labels = by_size(clusters)
    noise = int((labels == NOISE).sum())
    count = int(labels.max()) + 1
    note = (
        f"{count} clusters by HDBSCAN {where}{how}, {least} texts or more each; "
        f"{noise} of {len(labels)} texts ({100 * noise / len(labels):.0f} %) are in none"
    )
    by_graph = f"/knn{NEIGHBOURS}" if how else ""
    return Clustering(labels, f"cluster:hdbscan/{on}/min{least}/samples{min(SAMPLES, least)}{by_graph}", note)


def by_size(labels: Labels) -> Labels:
    """Labels renumbered by size, the largest 0; ties in the order of their first texts. Noise stays -1."""
    names, first, counts = np.unique(labels, return_index=True, return_counts=True)
    kept = sorted((-count, start, name) for name, start, count in zip(names, first, counts, strict=True) if name >= 0)
    renamed = {int(name): number for number, (_, _, name) in enumerate(kept)}
    return np.array([renamed.get(int(label), NOISE) for label in labels], dtype=np.int64)


def _hdbscan(points: Vectors, least: int) -> tuple[Labels, str]:
    """Cluster of each point, with at least `least` points in each, and a note on the method ("" for the usual one)."""
    try:
        from sklearn.cluster import HDBSCAN
    except ImportError as error:
        raise MissingExtraError("clusters of explanations", "report") from error
    chosen = {"min_cluster_size": least, "min_samples": min(SAMPLES, least), "copy": True}
    if len(points) <= _EXACT or points.shape[1] <= _FLAT:
        return np.asarray(HDBSCAN(**chosen).fit(points).labels_, dtype=np.int64), ""
    clustering = HDBSCAN(metric="precomputed", **chosen).fit(graph(points))
    how = f" (distances to {NEIGHBOURS} nearest neighbours replace all distances)"
    return np.asarray(clustering.labels_, dtype=np.int64), how
