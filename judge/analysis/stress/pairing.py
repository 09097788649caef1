"""Pairs each perturbed story with the untouched story that it was made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.inputs.perturbations.catalogue import CATALOGUE
from judge.inputs.perturbations.perturbation import Facts
from judge.ratings.rating_matrix import RatingMatrix
from judge.ratings.ratings_table import perturbed_names

Codes = NDArray[np.int64]
_ORDER = {name: place for place, name in enumerate(CATALOGUE)}


@dataclass(frozen=True, slots=True, eq=False)
class Changed:
    """Stories that were made by one perturbation at one strength.

    `facts` describes the perturbation. `story` has one entry for each original story: the index, in the rating matrix,
    of the story made from it, or -1 if there is none.
    """

    facts: Facts
    strength: int
    story: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Original stories of a dataset, each with its untouched text and its perturbed versions.

    Attributes
    ----------
    origins : tuple of str
        Identifiers of the original stories.
    untouched : array, shape (origins,)
        Index of the untouched story among the stories of the rating matrix.
    prompt : array, shape (origins,)
        Code of the original story's story-prompt, by which pairs are clustered.
    changed : tuple of Changed
        Perturbed stories: one entry for each perturbation (in the order of the catalogue) and strength.
    unknown : tuple of str
        Names of perturbations that are not in the catalogue.
    alone : int
        Number of perturbed stories that are left out because their untouched story is missing.
    """

    origins: tuple[str, ...]
    untouched: Codes
    prompt: Codes
    changed: tuple[Changed, ...]
    unknown: tuple[str, ...]
    alone: int


def pairing(matrix: RatingMatrix) -> Pairing | None:
    """Pairs of each perturbed story of a dataset and the untouched story that it was made from; None if the dataset has
    no perturbed story.
    """
    stories = list(matrix.stories["story"])
    names = perturbed_names(stories)
    if not any(name.perturbation for name in names.values()):
        return None
    position = {str(story): at for at, story in enumerate(stories)}
    untouched = {name.origin: position[story] for story, name in names.items() if name.perturbation is None}
    row = {origin: at for at, origin in enumerate(untouched)}
    changed_rows: dict[tuple[str, int], Codes] = {}
    unknown, alone = dict[str, None](), 0
    for story, name in names.items():
        if name.perturbation is None:
            continue
        if name.perturbation not in CATALOGUE:
            unknown[name.perturbation] = None
        elif name.origin not in row:
            alone += 1
        else:
            key = (name.perturbation, name.strength)
            changed_rows.setdefault(key, np.full(len(row), -1, dtype=np.int64))[row[name.origin]] = position[story]
    order = sorted(changed_rows, key=lambda key: (_ORDER[key[0]], key[1]))
    places = np.array(list(untouched.values()), dtype=np.int64)
    return Pairing(
        tuple(untouched),
        places,
        matrix.story_prompt[places],
        tuple(Changed(CATALOGUE[name], strength, changed_rows[name, strength]) for name, strength in order),
        tuple(unknown),
        alone,
    )
