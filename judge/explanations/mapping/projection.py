"""Projection of vectors onto a plane, for the map. Distances on the map do not equal distances between texts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import MissingExtraError
from judge.base.wording import Advice
from judge.explanations.mapping.options import ExplainOptions

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
        raise MissingExtraError("a map of explanations", "stats") from error
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
        raise MissingExtraError(Advice("{map}", map="tsne"), "stats") from error
    perplexity = float(min(30, max(2, (vectors.shape[0] - 1) // 3)))
    points = TSNE(perplexity=perplexity, metric="cosine", init="random", random_state=seed).fit_transform(vectors)
    return np.asarray(points, dtype=np.float32), perplexity
