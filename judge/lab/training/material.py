"""Training material: stories with their numeric features, and human preferences and ratings."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.inputs.control import Surface
from judge.analysis.preference.sides import Pairs, Side, datasets
from judge.base.errors import DataError, SpecError, unknown
from judge.base.records import Story
from judge.inputs.datasets import Dataset
from judge.inputs.perturbations.story_name import read_name
from judge.ratings.preferences_table.people import of_dataset

Floats = NDArray[np.float64]
LEAST_PAIRS, LEAST_RATED = 40, 40
"""Fewer pairs with a preference, or rated stories, are not trained on: five folds would hold out less than eight."""

_TOLD = 32
"""Texts that are embedded between two reports of progress."""


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """People's preferences on one criterion; `side` holds the compared pairs and which story people preferred."""

    criterion: str
    side: Side

    @property
    def pairs(self) -> Pairs:
        """The pairs of stories that people compared."""
        return self.side.pairs


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """People's mean rating of each story on one criterion (NaN = no rating), and the lowest and highest point of the
    rating scale.
    """

    criterion: str
    people: Floats
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Numeric features of n stories.

    Attributes
    ----------
    features : tuple of str
        Names of the surface features.
    surface : array, shape (n, features)
        Values of the surface features.
    vectors : array, shape (n, d), or None
        Embeddings of dimension d; None without an embedding model.
    usable : array of bool, shape (n,)
        True for stories that have words.
    """

    features: tuple[str, ...]
    surface: Floats
    vectors: Floats | None
    usable: NDArray[np.bool_]

    @property
    def blocks(self) -> list[Floats]:
        """Numeric features of the stories as a list of blocks of columns: surface features, then embeddings if there
        are any.
        """
        return [self.surface] if self.vectors is None else [self.surface, self.vectors]

    def first(self, n: int) -> Numbers:
        """The numeric features of the first n stories only."""
        return Numbers(
            self.features, self.surface[:n], None if self.vectors is None else self.vectors[:n], self.usable[:n]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Training material of one dataset: its stories in order of id, with people's preferences and ratings."""

    dataset: Dataset
    stories: tuple[Story, ...]
    preferences: tuple[Preferences, ...]
    ratings: tuple[Ratings, ...]

    @property
    def groups(self) -> list[str]:
        """Name of the group of each story. A group is held out together in cross-validation; it consists of all stories
        for a story-prompt. A story without a story-prompt is a group by itself.
        """
        return [story.story_prompt or f"story {story.id}" for story in self.stories]

    def fact(self) -> dict[str, Any]:
        """Facts about the dataset for the model card: its name and hash, and the numbers of stories, story-prompts,
        pairs with a preference and rated stories.
        """
        return {
            "dataset": self.dataset.name,
            "hash": self.dataset.fingerprint(),
            "stories": len(self.stories),
            "story_prompts": len({story.story_prompt for story in self.stories if story.story_prompt}),
            "pairs": {preference.criterion: int((preference.side.net != 0).sum()) for preference in self.preferences},
            "rated": {rating.criterion: int((~np.isnan(rating.people)).sum()) for rating in self.ratings},
        }


def read(dataset: Dataset, criteria: Sequence[str]) -> Material:
    """Training material of a dataset: its stories, and people's preferences and ratings on the named criteria (all
    criteria where none are named). Criteria with too few preferences or ratings are left out.

    Raises SpecError for a named criterion that nobody judged, and where no criterion has enough preferences or ratings.
    """
    stories = tuple(sorted(_originals(dataset), key=lambda story: story.id))
    preferences = tuple(_preferences(dataset)) if dataset.pairs is not None else ()
    ratings = tuple(_ratings(dataset, stories))
    names = [*(preference.criterion for preference in preferences), *(rating.criterion for rating in ratings)]
    by_name = {name.casefold(): name for name in names}
    for name in criteria:
        if name.casefold() not in by_name:
            raise SpecError(unknown("criterion", name, by_name.values()))
    wanted = {name.casefold() for name in criteria} or set(by_name)
    kept = [
        preference
        for preference in preferences
        if preference.criterion.casefold() in wanted and _decided(preference) >= LEAST_PAIRS
    ]
    rated = [rating for rating in ratings if rating.criterion.casefold() in wanted and _rated(rating) >= LEAST_RATED]
    if not kept and not rated:
        raise SpecError(
            f"{dataset.name} has too little to train on: "
            f"{sum(map(_decided, preferences))} pairs with a preference, {max(map(_rated, ratings), default=0)} rated "
            f"stories; {LEAST_PAIRS} of one or the other are needed"
        )
    return Material(dataset, stories, tuple(kept), tuple(rated))


def numbers(
    stories: Sequence[Story], embed_by: str | None, cache: Path | None, embedded: Callable[[int], None] | None = None
) -> Numbers:
    """Numeric features of stories: surface features and, where `embed_by` names an embedding model, embeddings. Each
    text is embedded once and cached in the file `cache`. `embedded` is called with the number of texts of each batch
    that is done.
    """
    frame = pd.DataFrame(
        {"text": [s.text for s in stories], "story_prompt": [s.story_prompt for s in stories]},
        index=[s.id for s in stories],
    )
    surface = Surface.of(frame)
    vectors = None
    if embed_by is not None:
        from judge.inputs.embedding.vectors import embed

        # Longest first, as they are embedded in batches; a few at a time, so that the time left can be told.
        ordered = sorted(set(surface.texts), key=lambda text: (-len(text), text))
        for start in range(0, len(ordered), _TOLD):
            some = ordered[start : start + _TOLD]
            embed(some, embed_by, cache)
            if embedded is not None:
                embedded(len(some))
        vectors = embed(list(surface.texts), embed_by, cache).vectors.astype(np.float64)
    rows = np.where(surface.blank[:, None], 0.0, surface.rows)
    return Numbers(surface.names, rows, vectors, ~surface.blank)


def perturbed_pairs(dataset: Dataset) -> list[tuple[Story, Story]]:
    """All pairs of original and perturbed story in a dataset made by `judge stress make`, original first. Raises
    DataError where it has no such pair.
    """
    stories = {story.id: story for story in dataset.stories()}
    origins = {name.origin: story for id_, story in stories.items() if (name := read_name(id_)) and not name.strength}
    pairs = []
    for id_, story in stories.items():
        name = read_name(id_)
        if name is not None and name.perturbation is not None and name.origin in origins and story.text.strip():
            pairs.append((origins[name.origin], story))
    if not pairs:
        raise DataError(
            "holds no perturbed story beside its origin",
            file=dataset.files[0],
            allowed="ids as judge stress make writes them, ORIGIN@PERTURBATION.STRENGTH",
        )
    return pairs


def chosen(material: Material, worse: Sequence[tuple[Story, Story]], seed: int) -> list[tuple[Story, Story]]:
    """A random sample of the pairs of original and perturbed story in `worse`, or all of them if they are few. Its size
    is at most the number of pairs in which people prefer one story, on the criterion with the most such pairs, so that
    perturbed stories do not outweigh people's preferences.
    """
    if not worse or not material.preferences:
        return []
    most = max(int((np.nan_to_num(preference.side.net) != 0).sum()) for preference in material.preferences)
    return list(worse) if len(worse) <= most else random.Random(seed).sample(list(worse), most)


def _originals(dataset: Dataset) -> list[Story]:
    """The stories of a dataset that are not perturbed versions of other stories."""
    originals = []
    for story in dataset.stories():
        name = read_name(story.id)
        if name is None or name.perturbation is None:
            originals.append(story)
    return originals


def _preferences(dataset: Dataset) -> list[Preferences]:
    preferences = []
    for _, sides in datasets(of_dataset(dataset)):
        preferences += [Preferences(side.criterion, side) for side in sides if side.kind == "people"]
    return preferences


def _ratings(dataset: Dataset, stories: Sequence[Story]) -> list[Ratings]:
    by_criterion: dict[str, dict[str, list[float]]] = {}
    for story in stories:
        for rating in story.ratings:
            by_criterion.setdefault(rating.criterion, {}).setdefault(story.id, []).append(rating.value)
    ratings = []
    for criterion, values in by_criterion.items():
        # Labels that are no numbers have no mean.
        if (labels := dataset.labels.of(criterion)) is not None and not labels.numeric:
            continue
        means = np.array([np.mean(values[s.id]) if s.id in values else np.nan for s in stories])
        scale = dataset.scale
        everything = [value for ratings_of_story in values.values() for value in ratings_of_story]
        low, high = (scale.min, scale.max) if scale is not None else (min(everything), max(everything))
        if low < high:
            ratings.append(Ratings(criterion, means, float(low), float(high)))
    return ratings


def _decided(preference: Preferences) -> int:
    return int((np.nan_to_num(preference.side.net) != 0).sum())


def _rated(rating: Ratings) -> int:
    return int((~np.isnan(rating.people)).sum())
