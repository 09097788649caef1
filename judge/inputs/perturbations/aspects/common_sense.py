"""Replaces nouns and verbs by others of the same category (OpenMEVA, common sense), one of ten at strength 1. The
paper's neighbours in ConceptNet are not available as a package, so these are WordNet's sister terms (words with the
same hypernym)."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.lexical_choice import put, sisters, substitutions
from judge.inputs.perturbations.english.parse import Parse
from judge.inputs.perturbations.perturbation import Made, Material, Unfit, count, first

_SHARE = 0.1


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits to sister terms of words' most common meaning in WordNet; `Unfit` without any."""
    if material.wordnet is None:
        return Unfit("no WordNet")
    parse = Parse(material.tokens)
    there = {token.lemma.rstrip("s") for token in material.tokens}
    options = [
        (at, others)
        for at, words in substitutions(parse, material.wordnet, sisters, ("NOUN", "VERB"))
        if (others := [word for word in words if word.lower().rstrip("s") not in there])
    ]
    if not options:
        return Unfit("no noun or verb with a kin in WordNet")
    entities = sum(token.pos in ("NOUN", "VERB") for token in material.tokens)
    chosen = [put(parse, at, words[int(rng.random() * len(words))]) for at, words in options]
    some = first(chosen, count(strength, _SHARE, entities), rng)
    return [edit for edits in some for edit in edits]
