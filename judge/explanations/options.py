"""Options of `judge explain`, and how each option appears in the signature line under a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from judge.base.errors import OptionError, unknown_value
from judge.explanations.quality.options import NumbersOptions

MapMethod = Literal["auto", "umap", "tsne", "pca", "none"]
ClusterOn = Literal["auto", "umap", "pca", "none"]

# What keywords can be grouped by; `band` is low, middle or high: thirds of the scale, or the label.
GROUPINGS = ("criterion", "eval_prompt", "band", "cluster", "judge", "system", "side")

# Other names of groupings on the command line.
WORDS = {"rating": "band", "eval-prompt": "eval_prompt"}

TFIDF = "tfidf"


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """Options of `judge explain`.

    `model` is one of sentence-transformers, by name or folder, ``tfidf``, or ``auto``: the HANNA judge study's model
    where sentence-transformers is installed, otherwise ``tfidf``. `map` ``auto`` is UMAP where installed, otherwise
    t-SNE (for at most 5,000 texts), otherwise principal components. `neighbours` and `metric` are UMAP's. `cluster_on`
    is what HDBSCAN clusters: the UMAP map, or 50 principal components; ``auto`` is the map if by UMAP. `min_cluster`
    None is 1 % of the texts, but at least 10. `top` affects no computed value."""

    model: str = "auto"
    map: MapMethod = "auto"
    neighbours: int = 15
    metric: Literal["cosine", "euclidean"] = "cosine"
    cluster_on: ClusterOn = "auto"
    min_cluster: int | None = None
    by: tuple[str, ...] = ("criterion", "eval_prompt", "band", "cluster")
    top: int = 10
    seed: int = 1
    as_published: bool = False
    numbers: NumbersOptions = field(default_factory=NumbersOptions)

    def __post_init__(self) -> None:
        for option, value, allowed in (
            ("map", self.map, get_args(MapMethod)),
            ("metric", self.metric, ("cosine", "euclidean")),
            ("cluster_on", self.cluster_on, get_args(ClusterOn)),
        ):
            if value not in allowed:
                raise unknown_value(option, value, allowed)
        for name in self.by:
            if name not in GROUPINGS:
                raise unknown_value("by", name, [*GROUPINGS, *WORDS])
        for option, number, least in (
            ("neighbours", self.neighbours, 2),
            ("min_cluster", 2 if self.min_cluster is None else self.min_cluster, 2),
            ("top", self.top, 1),
            ("seed", self.seed, 0),
        ):
            if number < least:
                raise OptionError(option, number, f"must be {least} or more")


def published(options: ExplainOptions) -> ExplainOptions:
    """The options with the HANNA judge study's choices: all-mpnet-base-v2 (unless a model is named), UMAP with 300
    neighbours, no clusters."""
    from judge.inputs.embedding import DEFAULT_MODEL

    model = DEFAULT_MODEL if options.model == "auto" else options.model
    return replace(
        options,
        model=model,
        map="umap" if options.map == "auto" else options.map,
        neighbours=300,
        metric="euclidean",
        cluster_on="none",
        by=("criterion",),
        top=max(options.top, 30),
        as_published=True,
    )


# Option -> its part of the signature. What `SHOWN_BY` lists stands there as it was in force.
FRAGMENTS: dict[str, Callable[[ExplainOptions], str | None]] = {
    "as_published": lambda o: "texts:as-published" if o.as_published else None,
}

# Options that the names of embedding, map, clusters and keywords show, as they were in force; or who shows them.
SHOWN_BY = {
    "model": "embedding",
    "map": "map",
    "neighbours": "map",
    "metric": "map",
    "seed": "map",
    "cluster_on": "clusters",
    "min_cluster": "clusters",
    "by": "keywords",
    "numbers": "numbers_options.FRAGMENTS, under the tables that they move",
}

# Options that move no number, and why.
EXEMPT = {"top": "the length of a list; no row's number depends on it"}
