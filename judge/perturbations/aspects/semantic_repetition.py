"""A sentence followed by its paraphrase (OpenMEVA, semantic repetition)."""

from __future__ import annotations

from random import Random

from judge.perturbations.edit import Edit
from judge.perturbations.paraphrased import NONE, drawn
from judge.perturbations.perturbation import Made, Material


def change(material: Material, strength: int, rng: Random) -> Made:
    """Insert a paraphrase of a sentence directly after it."""
    return [Edit(span.end, span.end, f" {paraphrase}") for span, paraphrase in drawn(material, strength, rng)] or NONE
