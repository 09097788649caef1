"""Inserts a paraphrase of a sentence after it (OpenMEVA, semantic repetition)."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.paraphrased import NONE, drawn
from judge.inputs.perturbations.perturbation import Edit, Made, Material


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits that insert paraphrases after `strength` sentences; `Unfit` if too few have one."""
    return [Edit(span.end, span.end, f" {paraphrase}") for span, paraphrase in drawn(material, strength, rng)] or NONE
