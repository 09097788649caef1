"""Omits optional commas (OpenMEVA, invariance): one of ten at strength 1, at least one. A story without any loses the
full stop at its end instead."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.parse import Parse
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit, count, first

_SHARE = 0.1
_QUOTES = "\"“”'`’"


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits that delete optional commas or semicolons, for example before a conjunction or after an introductory
    phrase, not in lists and numbers; without any, the final full stop. `Unfit` where that is impossible."""
    parse = Parse(material.tokens)
    deletions = [_gone(parse, at) for at in range(1, len(parse.tokens) - 1) if _needless(parse, at)]
    if not deletions:
        return _last_stop(parse)
    return first(deletions, count(strength, _SHARE, len(deletions)), rng)


def _last_stop(parse: Parse) -> Made:
    if len(parse.tokens) < 2 or parse.tokens[-1].text != "." or not parse.tokens[-2].text.isalpha():
        return Unfit("no mark that can be left out")
    return [_gone(parse, len(parse.tokens) - 1)]


def _gone(parse: Parse, at: int) -> Edit:
    # With the space before it.
    return Edit(parse.tokens[at - 1].end, parse.tokens[at].end, "")


def _needless(parse: Parse, at: int) -> bool:
    before, token, after = parse.tokens[at - 1 : at + 2]
    if token.text not in (",", ";") or token.end >= after.start:
        return False
    if before.text[0] in _QUOTES or after.text[0] in _QUOTES or not (after.text[0].isalpha() or after.text[0] == "["):
        return False
    if after.pos == "CCONJ" or after.text.lower() in ("then", "so", "too", "because", "since", "although", "though"):
        return True
    if after.tag in ("WDT", "WP", "WRB") or after.dependency in ("mark", "advmod", "prep"):
        return True
    sentence = parse.sentence_of(at)
    head = parse.tokens[token.head]
    # Behind the first phrase of a sentence, before its subject.
    return (
        after.dependency in ("nsubj", "nsubjpass", "expl", "poss", "det", "amod")
        and all(parse.tokens[i].text != "," for i in range(sentence.start, at))
        and head.pos in ("VERB", "AUX")
        and before.pos != "INTJ"
    )
