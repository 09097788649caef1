"""Perturbation that exchanges pairs of a story's sentences, so that the sentences are in another order."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.edit import Edit
from judge.inputs.perturbations.english.sentences import sentences
from judge.inputs.perturbations.perturbation import Made, Material, Unfit

_ALL = 4
"""The strength at which all sentences that have a partner have changed places; 1 is a quarter of them."""


def change(material: Material, strength: int, rng: Random) -> Made:
    """The edits that exchange pairs of sentences; an `Unfit` if this changes nothing. The sentences are paired at
    random; a quarter (strength 1), half (2) or all (4) of the pairs are exchanged.
    """
    text = material.story.text
    places = sentences(text)
    if len(places) < 2:
        return Unfit("one sentence alone")
    rng.shuffle(places)
    pairs = [(first_span, other) for first_span, other in zip(places[::2], places[1::2], strict=False)]
    edits: list[Edit] = []
    for first_span, other in pairs[: -(-len(pairs) * strength // _ALL)]:
        first, second = text[slice(*first_span)], text[slice(*other)]
        if first != second:
            edits += [Edit(*first_span, second), Edit(*other, first)]
    return edits or Unfit("sentences that are all the same")
