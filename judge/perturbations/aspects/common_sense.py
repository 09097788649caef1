"""Nouns and verbs replaced by other kinds of the same thing (OpenMEVA, common sense): one of ten at strength 1.

The paper takes neighbours in ConceptNet, which is not to be had as a package; ours are WordNet's sister terms.
"""

from __future__ import annotations

from random import Random

from judge.perturbations.dose import count, first
from judge.perturbations.english.lexical_choice import put, sisters, substitutions
from judge.perturbations.english.parse import Parse
from judge.perturbations.perturbation import Made, Material, Unfit

_SHARE = 0.1


def change(material: Material, strength: int, rng: Random) -> Made:
    """Replace nouns and verbs by sister terms of their commonest meaning that occur in tagged texts."""
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
