"""Replaces as many sentences as the strength by their paraphrases (OpenMEVA, invariance)."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.paraphrased import NONE, drawn
from judge.inputs.perturbations.perturbation import Edit, Made, Material


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits that replace `strength` sentences by their paraphrases; `Unfit` if too few have one."""
    return [Edit(*span, paraphrase) for span, paraphrase in drawn(material, strength, rng)] or NONE
