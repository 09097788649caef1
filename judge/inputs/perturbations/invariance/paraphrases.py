"""Perturbation that replaces sentences by their paraphrases (OpenMEVA, invariance). The strength is the number of
sentences.
"""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.paraphrased import NONE, drawn
from judge.inputs.perturbations.perturbation import Edit, Made, Material


def change(material: Material, strength: int, rng: Random) -> Made:
    """The edits that replace as many sentences as `strength` by their paraphrases; an `Unfit` if too few sentences have
    a paraphrase.
    """
    return [Edit(*span, paraphrase) for span, paraphrase in drawn(material, strength, rng)] or NONE
