"""Pictures and clusters: what is found, what is noise, and that a graph of neighbours stands for all distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from judge.base.errors import SpecError
from judge.explanations.mapping.clusters import NOISE, by_size, cluster, graph, project
from judge.explanations.options import ExplainOptions
from judge.inputs.embedding import unit

pytest.importorskip("sklearn")

SIZES = (60, 40, 30)


def blobs(spread: float = 0.05, seed: int = 1) -> np.ndarray:
    """Three groups of unit vectors in 20 dimensions, the middle one first."""
    rng = np.random.default_rng(seed)
    centres = np.eye(20)[:3]
    order = [1, 0, 2]
    parts = [centres[k] + spread * rng.normal(size=(SIZES[k], 20)) for k in order]
    return unit(np.vstack(parts))


def test_clusters_are_numbered_by_size_and_far_texts_are_noise() -> None:
    axes = np.eye(20)
    lost = unit(2 * axes[10:15] - axes[:3].sum(axis=0))  # farther from every group than groups are from each other
    made = cluster(np.vstack([blobs(), lost]), None, ExplainOptions(map="none"))
    assert made is not None
    assert made.labels[:130].tolist() == [1] * 40 + [0] * 60 + [2] * 30
    assert (made.labels[130:] == NOISE).all()
    assert made.count == 3
    assert "5 of 135 texts (4 %) are in none" in made.note
    assert made.name == "cluster:hdbscan/pca/min10/samples10"


def test_labels_by_size_keep_noise_and_break_ties_by_the_first_text() -> None:
    labels = np.array([3, 3, -1, 0, 0, 7, 7, 7])
    assert by_size(labels).tolist() == [1, 1, -1, 2, 2, 0, 0, 0]


def test_too_few_texts_make_no_clusters_and_a_umap_that_was_not_drawn_is_refused() -> None:
    assert cluster(blobs()[:15], None, ExplainOptions(map="none")) is None
    assert cluster(blobs(), None, ExplainOptions(map="none", cluster_on="none")) is None
    with pytest.raises(SpecError, match="needs a map by UMAP"):
        cluster(blobs(), None, ExplainOptions(map="none", cluster_on="umap"))


def test_the_graph_of_neighbours_is_connected_and_spans_the_points_as_all_distances_do() -> None:
    points = np.vstack([blobs(), blobs()[:50]])  # copies too
    made = graph(points, 12)
    assert connected_components(made, directed=False)[0] == 1
    assert (abs(made - made.T) > 0).nnz == 0
    whole = np.maximum(cdist(points, points), 1e-6)
    assert minimum_spanning_tree(made).sum() == pytest.approx(minimum_spanning_tree(whole).sum(), rel=0.02)
    few = made.tocoo()
    # float32 through a dot product: differences of near copies are rounded
    assert np.allclose(few.data, whole[few.row, few.col], atol=2e-3)


def test_copies_share_a_point_and_a_seed_draws_the_same_picture() -> None:
    vectors = np.vstack([blobs(), blobs()[:3]])
    for how in ("tsne", "pca"):
        made = project(vectors, ExplainOptions(map=how))
        again = project(vectors, ExplainOptions(map=how))
        assert made is not None
        assert again is not None
        assert made.points.shape == (133, 2)
        assert np.allclose(made.points[130:], made.points[:3], atol=1e-6)
        assert np.allclose(made.points, again.points)
        assert np.isfinite(made.points).all()


def test_nothing_is_drawn_of_four_distinct_texts() -> None:
    vectors = np.repeat(blobs()[:4], 10, axis=0)
    assert project(vectors, ExplainOptions(map="pca")) is None
    assert project(blobs(), ExplainOptions(map="none")) is None
