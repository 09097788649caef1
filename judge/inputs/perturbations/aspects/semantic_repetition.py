"""Perturbation that inserts a paraphrase of a sentence after the sentence (OpenMEVA, semantic repetition)."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.paraphrased import NONE, drawn
from judge.inputs.perturbations.perturbation import Edit, Made, Material


def change(material: Material, strength: int, rng: Random) -> Made:
    """The edits that insert paraphrases after as many sentences as `strength`, each directly after its sentence; an
    `Unfit` if too few sentences have a paraphrase.
    """
    return [Edit(span.end, span.end, f" {paraphrase}") for span, paraphrase in drawn(material, strength, rng)] or NONE
