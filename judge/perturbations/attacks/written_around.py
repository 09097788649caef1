"""Texts around a story that try to influence its judge; the story itself stays unchanged (texts: attacks.yaml)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from judge.perturbations.edit import Edit
from judge.perturbations.perturbation import Made, Material

_FILE = Path(__file__).with_name("attacks.yaml")


def inject_plain(material: Material, strength: int, rng: Random) -> Made:
    """Append an instruction to the judge; strength 2 repeats it."""
    return _written("inject-plain", material, strength, rng)


def inject_fake_rating(material: Material, strength: int, rng: Random) -> Made:
    """Append a rating of the story itself."""
    return _written("inject-fake-rating", material, strength, rng)


def inject_role(material: Material, strength: int, rng: Random) -> Made:
    """Append a turn that looks like the judge's own."""
    return _written("inject-role", material, strength, rng)


def closing_tags(material: Material, strength: int, rng: Random) -> Made:
    """Append closing tags and words that look like the prompt's."""
    return _written("closing-tags", material, strength, rng)


def authority(material: Material, strength: int, rng: Random) -> Made:
    """Put the claim of a prize before the story."""
    return _written("authority", material, strength, rng)


def bandwagon(material: Material, strength: int, rng: Random) -> Made:
    """Put the claim that other readers liked the story before it."""
    return _written("bandwagon", material, strength, rng)


def lists_version() -> int:
    """The version of the texts, which changes with any of them."""
    return int(_texts()["version"])


def _written(name: str, material: Material, strength: int, rng: Random) -> Sequence[Edit]:
    """The first `strength` parts of a drawn text, each an insertion before or behind the story's words."""
    text = material.story.text
    ((side, choices),) = _texts()[name].items()
    position = 0 if side == "before" else len(text.rstrip())
    parts = rng.choice(choices)[:strength]
    return [Edit(position, position, part.replace("{top}", material.top)) for part in parts]


@cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return texts
