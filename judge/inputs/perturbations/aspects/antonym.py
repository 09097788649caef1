"""Words become antonyms in the same inflection (OpenMEVA, consistency): at strength 1, one for every five sentences."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.lexical_choice import opposites, put, substitutions
from judge.inputs.perturbations.english.parse import Parse
from judge.inputs.perturbations.perturbation import Made, Material, Unfit, count, first

# Counted over sentences: most words have no opposite in WordNet.
_SHARE = 0.2


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits to antonyms of words' most common meanings, from WordNet or the program's own list; `Unfit` without any."""
    if material.wordnet is None:
        return Unfit("no WordNet")
    parse = Parse(material.tokens)
    options = substitutions(parse, material.wordnet, opposites)
    if not options:
        return Unfit("no word with an opposite")
    chosen = [put(parse, at, words[int(rng.random() * len(words))]) for at, words in options]
    some = first(chosen, count(strength, _SHARE, len(parse.sentences)), rng)
    return [edit for edits in some for edit in edits]
