"""Replaces nouns and verbs by those of other stories (OpenMEVA, relatedness), a quarter of them at strength 1."""

from __future__ import annotations

from collections import defaultdict
from random import Random

from judge.inputs.perturbations.english.lexical_choice import fits, put
from judge.inputs.perturbations.english.parse import Parse, like
from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.perturbation import Made, Material, Unfit, count, first

_SHARE = 0.25


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits to words of other stories with the same part-of-speech tag that the story lacks; `Unfit` without any."""
    parse = Parse(material.tokens)
    there = {token.lemma for token in material.tokens}
    left = word_list("substitution")["left"]
    by_tag: defaultdict[str, list[str]] = defaultdict(list)
    for word in material.other_words:
        if word.lemma not in there and word.lemma not in left:
            by_tag[word.tag].append(word.text)
    places = [
        at
        for at in parse.words()
        if parse.tokens[at].pos in ("NOUN", "VERB") and parse.tokens[at].lemma not in left and fits(parse, at)
    ]
    chosen = []
    for at in places:
        token, number = parse.tokens[at], rng.random()
        words = by_tag[token.tag]
        if words:
            chosen.append(put(parse, at, like(words[int(number * len(words))], token.text)))
    if not chosen:
        return Unfit("no noun or verb, or none of other stories in its form")
    some = first(chosen, count(strength, _SHARE, len(places)), rng)
    return [edit for edits in some for edit in edits]
