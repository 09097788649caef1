"""Options of `judge explain` and of its quality measures, and how each appears in the signature line under a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Literal, get_args

from judge.base.choices import RESAMPLES
from judge.base.errors import OptionError, SpecError, unknown_value


@dataclass(frozen=True, slots=True)
class NumbersOptions:
    """Options of the quality measures.

    `sample` is the number of texts for specificity, whole stories, divided evenly between judges with an Eval-Prompt.
    `neighbours` is k of the purity. `folds` are of stories for the classification, of story-prompts for predicted
    ratings. `permutations` of labels are for silhouette and purity, `refits` for the classification, which is fitted
    again for each. `components` are those on which regressions are fitted; `resamples` of story-prompts are for rank
    correlations. Boilerplate is n-grams of `words` words in explanations of at least `stories_share` of the other
    stories. `top` affects no computed value."""

    seed: int = 1
    sample: int = 5000
    neighbours: int = 10
    folds: int = 5
    permutations: int = 199
    refits: int = 39
    components: int = 64
    resamples: int = RESAMPLES
    words: int = 4
    stories_share: float = 0.05
    top: int = 10

    def __post_init__(self) -> None:
        least = {"sample": 50, "neighbours": 1, "folds": 2, "permutations": 19, "refits": 19, "components": 2}
        least |= {"resamples": 1, "words": 2, "top": 0, "seed": 0}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise SpecError(f"{name} {getattr(self, name)} of the numbers on explanations must be {low} or more")
        if not 0 < self.stories_share < 1:
            raise SpecError(f"stories_share {self.stories_share:g} must lie between 0 and 1")


# Option -> its part of the signature.
FRAGMENTS: dict[str, Callable[[NumbersOptions], str]] = {
    "seed": lambda o: f"seed:{o.seed}",
    "sample": lambda o: f"sample:{o.sample}",
    "neighbours": lambda o: f"knn:{o.neighbours}",
    "folds": lambda o: f"folds:{o.folds}/story",
    "permutations": lambda o: f"perm:{o.permutations}",
    "refits": lambda o: f"refit:{o.refits}",
    "components": lambda o: f"pca:{o.components}",
    "resamples": lambda o: f"ci:boot-inputs/{o.resamples}",
    "words": lambda o: f"ngram:{o.words}",
    "stories_share": lambda o: f"boilerplate:{o.stories_share:g}",
}

# Options that move no number, and why.
EXEMPT = {"top": "the length of a list; no row's number depends on it"}


def fragments(options: NumbersOptions, *names: str) -> list[str]:
    """Parts of a signature line for the named options, in the fields' order; for all without a name."""
    wanted = set(names) or set(FRAGMENTS)
    return [FRAGMENTS[field.name](options) for field in fields(options) if field.name in wanted & set(FRAGMENTS)]


# Told of (what, done, total); total 0 where a step cannot be counted.
Step = Callable[[str, int, int], None]


def silent(_what: str, _done: int, _total: int) -> None:
    """Progress callback that does nothing."""


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
    None is 1 % of the texts, but at least 10. `mask` leaves words of few story-prompts out before texts are embedded,
    and keywords are of whole texts all the same. `top` affects no computed value."""

    model: str = "auto"
    map: MapMethod = "auto"
    neighbours: int = 15
    metric: Literal["cosine", "euclidean"] = "cosine"
    cluster_on: ClusterOn = "auto"
    min_cluster: int | None = None
    by: tuple[str, ...] = ("criterion", "eval_prompt", "band", "cluster")
    top: int = 10
    seed: int = 1
    mask: bool = False
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


# Options whose values, as they were in force, other parts of the signature show.
SHOWN_BY = {
    "as_published": "texts:as-published",
    "mask": "mask",
    "model": "embedding",
    "map": "map",
    "neighbours": "map",
    "metric": "map",
    "seed": "map",
    "cluster_on": "clusters",
    "min_cluster": "clusters",
    "by": "keywords",
    "numbers": "FRAGMENTS, under the tables that they move",
}
