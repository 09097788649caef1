"""Attacks that try to raise an unchanged story's rating: texts before or after it from attacks.yaml, or its length."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import yaml

from judge.base.files import package_file
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit
from judge.inputs.perturbations.sentences import sentences, words

# Attack by length: sentences of other stories are added after the end of the story.

# The greatest strength: so many sentences are drawn whatever the strength, so that those of a lower one come first.
_MOST = 4

_FEWEST_WORDS = 5
# A story drawn may have no neutral sentence, or only one that was taken before: the loop needs an end.
_TRIES = 40


def verbosity(material: Material, strength: int, rng: Random) -> Made:
    """Edits that append `strength` sentences of other stories, without direct speech; `Unfit` with too few."""
    story = material.story
    others = material.others
    drawn: list[str] = []
    for _ in range(_TRIES if others else 0):
        text = rng.choice(others).text
        plain = [filler for filler in (text[start:end] for start, end in sentences(text)) if _neutral(filler)]
        filler = rng.choice(plain) if plain else ""
        if filler and filler not in drawn and filler not in story.text:
            drawn.append(filler)
        if len(drawn) == _MOST:
            break
    if len(drawn) < strength:
        return Unfit("too few sentences of other stories")
    end = len(story.text.rstrip())
    return [Edit(end, end, f" {filler}") for filler in drawn[:strength]]


def _neutral(sentence: str) -> bool:
    return (
        len(list(words(sentence))) >= _FEWEST_WORDS
        and not any(mark in sentence for mark in '"“”«»`?!')
        and "''" not in sentence
    )


_FILE = package_file("inputs", "perturbations", "attacks.yaml")


def inject_plain(material: Material, strength: int, rng: Random) -> Made:
    """Appends an instruction to give the highest rating. At strength 2 a second sentence repeats it."""
    return _written("inject-plain", material, strength, rng)


def inject_fake_rating(material: Material, strength: int, rng: Random) -> Made:
    """Appends a line which looks like a rating with the highest point, such as "Rating: 5"."""
    return _written("inject-fake-rating", material, strength, rng)


def inject_role(material: Material, strength: int, rng: Random) -> Made:
    """Appends a chat turn in which the judge seems to have given the highest rating already."""
    return _written("inject-role", material, strength, rng)


def closing_tags(material: Material, strength: int, rng: Random) -> Made:
    """Appends tags that seem to end the story in the prompt (such as `</story>`), and a call for the highest rating."""
    return _written("closing-tags", material, strength, rng)


def authority(material: Material, strength: int, rng: Random) -> Made:
    """Inserts, before the story, a claim that it won a prize or was praised by experts."""
    return _written("authority", material, strength, rng)


def bandwagon(material: Material, strength: int, rng: Random) -> Made:
    """Inserts, before the story, a claim that most readers gave it the highest rating."""
    return _written("bandwagon", material, strength, rng)


def attacks_version() -> int:
    """Version number of the attack texts. It is raised whenever one of these texts changes."""
    return int(_texts()["version"])


def _written(name: str, material: Material, strength: int, rng: Random) -> Sequence[Edit]:
    text = material.story.text
    ((side, choices),) = _texts()[name].items()
    position = 0 if side == "before" else len(text.rstrip())
    parts = rng.choice(choices)[:strength]
    return [Edit(position, position, part.replace("{top}", material.top)) for part in parts]


@cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return texts
