"""Replaces words by synonyms in the same inflection (OpenMEVA, invariance): one of 25 at strength 1."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.lexical_choice import PARTS, put, single_sense, substitutions, synonyms
from judge.inputs.perturbations.english.parse import Parse
from judge.inputs.perturbations.perturbation import Made, Material, Unfit, count, first
from judge.inputs.wordnet import WordNet

_SHARE = 0.04


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits to synonyms of words' most common meaning, by counts in WordNet's tagged texts; `Unfit` without any."""
    if material.wordnet is None:
        return Unfit("no WordNet")
    parse = Parse(material.tokens)
    options = substitutions(parse, material.wordnet, synonyms)
    if not options:
        return Unfit("no word with a usual synonym")
    chosen = [(at, put(parse, at, words[int(rng.random() * len(words))])) for at, words in options]
    safe = [edits for at, edits in chosen if _safe(material.wordnet, parse, at)]
    others = [edits for at, edits in chosen if not _safe(material.wordnet, parse, at)]
    order = [*first(safe, len(safe), rng), *first(others, len(others), rng)]
    return [edit for edits in order[: count(strength, _SHARE, len(parse.tokens))] for edit in edits]


def _safe(wordnet: WordNet, parse: Parse, at: int) -> bool:
    # Words with so few meanings that a synonym probably fits are replaced first.
    token = parse.tokens[at]
    return single_sense(wordnet, token.lemma, PARTS[token.pos])
