"""Options of the quality measures of explanations, and how each appears in the signature line under a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from judge.base.choices import RESAMPLES
from judge.base.errors import SpecError


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
