"""Longer, and no better: sentences of other stories behind the end."""

from __future__ import annotations

from random import Random

from judge.perturbations.edit import Edit
from judge.perturbations.perturbation import Made, Material, Unfit
from judge.perturbations.sentences import sentences
from judge.perturbations.tokens import words

_MOST = 4
"""The greatest strength: so many sentences are drawn whatever the strength, so that those of a lower one come first."""

_FEWEST_WORDS = 5
_TRIES = 40


def verbosity(material: Material, strength: int, rng: Random) -> Made:
    """As many sentences as the strength says, of other stories; no speech."""
    story = material.story
    others = material.others
    drawn: list[str] = []
    for _ in range(_TRIES if others else 0):
        text = rng.choice(others).text
        plain = [said for said in (text[start:end] for start, end in sentences(text)) if _neutral(said)]
        said = rng.choice(plain) if plain else ""
        if said and said not in drawn and said not in story.text:
            drawn.append(said)
        if len(drawn) == _MOST:
            break
    if len(drawn) < strength:
        return Unfit("too few sentences of other stories")
    end = len(story.text.rstrip())
    return [Edit(end, end, f" {said}") for said in drawn[:strength]]


def _neutral(said: str) -> bool:
    return len(list(words(said))) >= _FEWEST_WORDS and not any(mark in said for mark in '"“”«»`?!') and "''" not in said
