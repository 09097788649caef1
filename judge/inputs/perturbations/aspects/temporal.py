"""Reverses the order of two events, or replaces a word of time by its opposite (OpenMEVA, temporal relationship): at
strength 1, one change for every ten sentences."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.parse import Parse, body, exchanged, predicates_exchanged, swaps
from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit, apart, count

_SHARE = 0.1


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits that exchange sentences joined by `then` and predicates by `and then`, and replace listed words of time;
    `Unfit` without any."""
    parse = Parse(material.tokens)
    listed = word_list("temporal")
    groups = [
        *swaps(parse, listed["words"], [tuple(pair) for pair in listed["left"]]),
        *_sentences(parse, listed["next"]),
        *_predicates(parse),
    ]
    edits = apart([group for group in groups if group], count(strength, _SHARE, len(parse.sentences)), rng)
    return edits or Unfit("no word of time, and no events in a row")


def _sentences(parse: Parse, following: list[str]) -> list[list[Edit]]:
    # `X . then Y .` becomes `Y . then X .`
    exchanges = []
    for before, sentence in zip(parse.sentences, parse.sentences[1:], strict=False):
        earlier, other = body(parse, before), body(parse, sentence)
        if len(earlier) < 2 or len(other) < 3 or parse.tokens[other.start].text.lower() not in following:
            continue
        if parse.tokens[other.start + 1].text.lower() in ("on", "that", "than"):
            continue
        start = other.start + 1 + (parse.tokens[other.start + 1].text == ",")
        if parse.tokens[earlier.start].text.lower() not in (*following, "and", "but", "so"):
            exchanges.append(exchanged(parse, earlier, range(start, other.stop)))
    return exchanges


def _predicates(parse: Parse) -> list[list[Edit]]:
    # `did x and then did y` becomes `did y and then did x`
    exchanges = []
    for at, token in enumerate(parse.tokens):
        if token.text.lower() != "then" or at < 2 or at + 1 >= len(parse.tokens):
            continue
        verb, other = token.head, at + 1
        first_verb = parse.tokens[parse.tokens[other].head] if other == verb else None
        if first_verb is None or parse.tokens[other].dependency != "conj" or first_verb.tag != parse.tokens[other].tag:
            continue
        start = at - 1 if parse.tokens[at - 1].pos == "CCONJ" else at
        start -= parse.tokens[start - 1].text == ","
        end = parse.subtree(other)[-1] + 1
        if parse.tokens[other].head < start and parse.subject(other) is None:
            exchanges.append(predicates_exchanged(parse, parse.tokens[other].head, other, range(start, at + 1), end))
    return exchanges
