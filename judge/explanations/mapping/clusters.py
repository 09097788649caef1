"""Clusters of similar explanations by HDBSCAN. Texts that belong to no cluster are noise, and are counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import MissingExtraError, SpecError
from judge.base.wording import Advice
from judge.explanations.mapping.neighbour_graph import NEIGHBOURS, graph
from judge.explanations.mapping.options import ExplainOptions
from judge.explanations.mapping.projection import Projection, components

Vectors = NDArray[np.float64]
Labels = NDArray[np.int64]

NOISE = -1
DIMENSIONS = 50
SAMPLES = 10
"""HDBSCAN's `min_samples`. Its default, the size of the smallest cluster, makes noise of most texts of many."""

_SHARE, _SMALLEST = 0.01, 10
_EXACT, _FLAT = 5000, 3
"""Largest numbers of texts and of dimensions for which HDBSCAN computes all distances."""


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Cluster label of each text: 0 is the largest cluster, -1 is noise (texts in no cluster).

    `name` is the method as it appears in the signature line under tables, `note` a sentence on it.
    """

    labels: Labels
    name: str
    note: str

    @property
    def count(self) -> int:
        """Number of clusters; noise (texts in no cluster) is not counted."""
        return int(self.labels.max()) + 1 if self.labels.size else 0


def cluster(vectors: Vectors, picture: Projection | None, options: ExplainOptions) -> Clustering | None:
    """Clusters of all texts, including duplicates; None where no clusters are requested or there are too few texts.

    Parameters
    ----------
    vectors : array, shape (n texts, d dimensions)
        Embeddings of the texts.
    picture : Projection or None
        The map (the texts as points on a plane). Clustering on ``umap`` needs a map by UMAP.
    options : ExplainOptions

    Raises
    ------
    SpecError
        Clustering on ``umap`` is requested, but the map is not by UMAP.
    """
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
    """Cluster labels renumbered by size: the largest cluster becomes 0. Clusters of equal size are ordered by their
    first texts. Noise (texts in no cluster) stays -1.
    """
    names, first, counts = np.unique(labels, return_index=True, return_counts=True)
    kept = sorted((-count, start, name) for name, start, count in zip(names, first, counts, strict=True) if name >= 0)
    renamed = {int(name): number for number, (_, _, name) in enumerate(kept)}
    return np.array([renamed.get(int(label), NOISE) for label in labels], dtype=np.int64)


def _hdbscan(points: Vectors, least: int) -> tuple[Labels, str]:
    """Cluster label of each point, and a note on the method ("" for the usual one). A cluster has at least `least`
    points.

    Many points in many dimensions are clustered on a graph of nearest neighbours.
    """
    try:
        from sklearn.cluster import HDBSCAN
    except ImportError as error:
        raise MissingExtraError("clusters of explanations", "stats") from error
    chosen = {"min_cluster_size": least, "min_samples": min(SAMPLES, least), "copy": True}
    if len(points) <= _EXACT or points.shape[1] <= _FLAT:
        return np.asarray(HDBSCAN(**chosen).fit(points).labels_, dtype=np.int64), ""
    clustering = HDBSCAN(metric="precomputed", **chosen).fit(graph(points))
    how = f" (distances to {NEIGHBOURS} nearest neighbours replace all distances)"
    return np.asarray(clustering.labels_, dtype=np.int64), how
