"""Attacks by texts before or after an unchanged story, from attacks.yaml, that try to influence its judge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from judge.inputs.perturbations.perturbation import Edit, Made, Material

_FILE = Path(__file__).with_name("attacks.yaml")


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


def lists_version() -> int:
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
