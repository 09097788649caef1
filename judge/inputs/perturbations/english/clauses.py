"""Exchanges two clauses, sentences or predicates of a text."""

from __future__ import annotations

from judge.inputs.perturbations.edit import Edit
from judge.inputs.perturbations.english.inflection import inflected
from judge.inputs.perturbations.english.parse import Parse


def exchanged(parse: Parse, one: range, other: range) -> list[Edit]:
    """Edits that exchange two runs of tokens, with initial capitals adapted; empty where both runs have equal words."""
    tokens = parse.tokens
    first, second = words(parse, one), words(parse, other)
    if first.lower() == second.lower():
        return []
    return [
        Edit(tokens[one.start].start, tokens[one.stop - 1].end, _started(parse, other, one)),
        Edit(tokens[other.start].start, tokens[other.stop - 1].end, _started(parse, one, other)),
    ]


def words(parse: Parse, some: range) -> str:
    """Text of a run of tokens, with each gap reduced to one space."""
    tokens = parse.tokens
    parts = [tokens[some.start].text]
    parts += [
        (" " if tokens[at].start > tokens[at - 1].end else "") + tokens[at].text
        for at in range(some.start + 1, some.stop)
    ]
    return "".join(parts)


def _started(parse: Parse, some: range, target: range) -> str:
    """Text of the tokens `some`, with the initial capital that the position of `target` requires."""
    phrase = words(parse, some)
    first, there = parse.tokens[some.start], parse.tokens[target.start]
    at_start = parse.sentence_of(target.start).start == target.start
    if at_start and there.text[:1].isupper():
        return phrase[:1].upper() + phrase[1:]
    name = first.pos == "PROPN" or first.text.startswith("[") or first.text == "I" or first.text[1:2].isupper()
    if first.text[:1].isupper() and not name and not at_start:
        return phrase[:1].lower() + phrase[1:]
    return phrase


def body(parse: Parse, sentence: range) -> range:
    """Positions of a sentence's tokens without its final punctuation; empty where the sentence contains quotation marks
    or parentheses.
    """
    tokens = parse.tokens
    start, stop = sentence.start, sentence.stop
    while stop > start and tokens[stop - 1].text[0] in ".!?…":
        stop -= 1
    if any(
        tokens[at].text[0] in "\"“”`'’«»()" and len(tokens[at].text) <= 2 and tokens[at].pos == "PUNCT"
        for at in range(start, stop)
    ):
        return range(start, start)
    return range(start, stop)


def predicates_exchanged(parse: Parse, verb: int, other: int, join: range, end: int) -> list[Edit]:
    """Edits that turn `V1 x JOIN V2 y` into `V2 y JOIN V1 x`, with each verb inflected like the other; empty where this
    is impossible.

    `verb` and `other` are the positions of the tokens V1 and V2, and `join` are those of the tokens between the two
    predicates. `end` is the position after the second predicate.
    """
    tokens = parse.tokens
    first_verb, second_verb = tokens[verb], tokens[other]
    first, second = inflected(second_verb.lemma, first_verb.tag), inflected(first_verb.lemma, second_verb.tag)
    if first is None or second is None or not second_verb.lemma.isalpha() or not first_verb.lemma.isalpha():
        return []
    if "be" in (first_verb.lemma, second_verb.lemma):
        return []
    rest = words(parse, range(verb + 1, join.start)) if verb + 1 < join.start else ""
    rest_two = words(parse, range(other + 1, end)) if other + 1 < end else ""
    return [
        Edit(first_verb.start, tokens[join.start - 1].end, f"{first} {rest_two}".rstrip()),
        Edit(second_verb.start, tokens[end - 1].end, f"{second} {rest}".rstrip()),
    ]
