"""Perturbation that replaces words by synonyms in the same inflection (OpenMEVA, invariance). At strength 1, one of 25
words is replaced.
"""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.lexical_choice import PARTS, put, single_sense, substitutions, synonyms
from judge.inputs.perturbations.english.parse import Parse
from judge.inputs.perturbations.perturbation import Made, Material, Unfit, count, first
from judge.inputs.wordnet import WordNet

_SHARE = 0.04


def change(material: Material, strength: int, rng: Random) -> Made:
    """The edits that replace words by synonyms of their most common meaning, according to the counts in WordNet's
    tagged texts. At strength 1, one of 25 words is replaced. The result is an `Unfit` if no word has a synonym.
    """
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
    """Whether the word at a position has so few meanings that its synonym probably fits. Words of this kind are
    replaced first.
    """
    token = parse.tokens[at]
    return single_sense(wordnet, token.lemma, PARTS[token.pos])
