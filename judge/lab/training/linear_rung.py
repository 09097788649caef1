"""Training of linear models on surface features of stories and, where an embedding model is named, on embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from judge.backends.trained.model import Head
from judge.base.folders.cache import cache_folder
from judge.base.records import Story
from judge.lab.training.evaluation import PreferenceCheck, RatingCheck
from judge.lab.training.fits import Fits
from judge.lab.training.heads import Worse, preference_head, rating_head
from judge.lab.training.linear import PAIR_PENALTIES, RIDGE_PENALTIES
from judge.lab.training.material import Material, Numbers, chosen, numbers
from judge.lab.training.options import TrainOptions
from judge.lab.training.telling import Telling

_NOBODY: Worse = (np.empty(0, np.int64), np.empty(0, np.int64), ())


def fit_linear(
    materials: Sequence[Material], options: TrainOptions, worse: Sequence[tuple[Story, Story]], telling: Telling
) -> Fits:
    """The result of fitting a linear model: one output (head) for each criterion and kind of answer (preference or
    rating), each checked by cross-validation on folds by story-prompt. `worse` are pairs of original and perturbed
    story.
    """
    heads: list[Head] = []
    checks: list[PreferenceCheck] = []
    rated: list[RatingCheck] = []
    stack: dict[str, Any] = {}
    numbers_of = [_numbers(material, worse, options, telling) for material in materials]
    count = sum(len(material.preferences) + len(material.ratings) for material in materials)
    telling.tell(f"{count} criteria, {options.foldings} x {options.folds} folds of story-prompts each")
    with telling.progress(count * options.foldings) as progress:
        for material, (story_numbers, lost) in zip(materials, numbers_of, strict=True):
            for preference in material.preferences:
                head, check, weights = preference_head(
                    material, story_numbers, preference, lost, options, lambda: progress.committed(1, 0)
                )
                heads, checks = [*heads, head], [*checks, check]
                stack[f"{preference.criterion} (preference)"] = list(weights)
            own = story_numbers.first(len(material.stories))
            for rating in material.ratings:
                rating_fit, rating_check, weights = rating_head(
                    material, own, rating, options, lambda: progress.committed(1, 0)
                )
                heads, rated = [*heads, rating_fit], [*rated, rating_check]
                stack[f"{rating.criterion} (rating)"] = list(weights)
    facts: dict[str, Any] = {"stack": stack, "embedding": None}
    facts["penalties"] = {"pairs": list(PAIR_PENALTIES), "ratings": list(RIDGE_PENALTIES)}
    if options.embed is not None:
        from judge.inputs.embedding.vectors import model_key

        facts["embedding"] = {"model": options.embed, "key": model_key(options.embed)}
    return Fits(heads, checks, rated, facts)


def _numbers(
    material: Material, worse: Sequence[tuple[Story, Story]], options: TrainOptions, telling: Telling
) -> tuple[Numbers, Worse]:
    """Numeric features of the dataset's stories, followed by those of a sample of pairs of original and perturbed
    story. The second value describes these pairs: the row of each original, the row of each perturbed story, and the
    group of the pair.
    """
    wanted = chosen(material, worse, options.seed)
    extra = [story for pair in wanted for story in pair]
    stories = [*material.stories, *extra]
    telling.tell(f"{material.dataset.name}: numbers of {len(stories)} stories")
    if options.embed is None:
        story_numbers = numbers(stories, None, None)
    else:
        with telling.progress(len({story.text for story in stories})) as progress:
            story_numbers = numbers(
                stories, options.embed, cache_folder() / "embeddings.sqlite", lambda done: progress.committed(done, 0)
            )
    if not wanted:
        return story_numbers, _NOBODY
    places = len(material.stories) + np.arange(0, len(extra), 2)
    return story_numbers, (places, places + 1, tuple(a.story_prompt or f"story {a.id}" for a, _ in wanted))
