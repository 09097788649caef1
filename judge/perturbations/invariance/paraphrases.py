"""Sentences replaced by their paraphrases (OpenMEVA, invariance); the strength is the number of sentences."""

from __future__ import annotations

from random import Random

from judge.perturbations.edit import Edit
from judge.perturbations.paraphrased import NONE, drawn
from judge.perturbations.perturbation import Made, Material


def change(material: Material, strength: int, rng: Random) -> Made:
    """Replace sentences by their paraphrases."""
    return [Edit(*span, paraphrase) for span, paraphrase in drawn(material, strength, rng)] or NONE
