"""Exchanges cause and effect, or action and purpose (OpenMEVA, causal relationship); once at strength 1."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.parse import Parse, body, exchanged, predicates_exchanged, swaps
from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit, apart

_NO_CLAUSE = frozenset({"of", "that", "far", "long", "much", "many", "well", "soon", "if", "though"})


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits that reverse `strength` statements of cause: clauses around `because`, `so` and the like, sentences joined
    by `so`, and words of cause; without these an action and its purpose. `Unfit` without any."""
    parse = Parse(material.tokens)
    listed = word_list("causal")
    groups = [
        *_clauses(parse, listed["connectives"]),
        *_sentences(parse, listed["opening"]),
        *swaps(parse, listed["words"]),
    ]
    groups = [group for group in groups if group] or [group for group in _purposes(parse) if group]
    return apart(groups, strength, rng) or Unfit("no stated cause or purpose")


def _clauses(parse: Parse, connectives: list[str]) -> list[list[Edit]]:
    # `X because Y` becomes `Y because X`, where both are clauses of one sentence.
    exchanges = []
    for sentence in parse.sentences:
        whole = body(parse, sentence)
        for at in whole[1:-2]:
            token = parse.tokens[at]
            if token.text.lower() not in connectives or parse.tokens[at + 1].text.lower() in _NO_CLAUSE:
                continue
            stop = at - (parse.tokens[at - 1].text == ",")
            cause, other = _from_clause(parse, range(whole.start, stop)), range(at + 1, whole.stop)
            causes = token.dependency in ("mark", "cc", "advmod") and parse.tokens[token.head].pos in ("VERB", "AUX")
            if causes and _clause(parse, cause) and _starts_clause(parse, other):
                exchanges.append(exchanged(parse, cause, other))
    return exchanges


def _from_clause(parse: Parse, some: range) -> range:
    # Without conjunctions, interjections and commas at its beginning.
    start = some.start
    while start < some.stop and (parse.tokens[start].pos in ("CCONJ", "INTJ") or parse.tokens[start].text == ","):
        start += 1
    return range(start, some.stop)


def _clause(parse: Parse, some: range) -> bool:
    for at in some:
        verb = parse.tokens[at].head
        if parse.tokens[at].dependency in ("nsubj", "nsubjpass", "expl") and verb in some:
            finite = parse.finite(verb)
            if finite is not None and finite in some:
                return True
    return False


def _starts_clause(parse: Parse, some: range) -> bool:
    # Its subject is among the first five tokens and comes before any verb.
    if not _clause(parse, some):
        return False
    near = [at for at in some[:5] if parse.tokens[at].dependency in ("nsubj", "nsubjpass", "expl")]
    return bool(near) and all(parse.tokens[at].pos not in ("VERB", "AUX") for at in range(some.start, near[0]))


def _sentences(parse: Parse, opening: list[str]) -> list[list[Edit]]:
    # `X . so Y .` becomes `Y . so X .`
    exchanges = []
    for before, sentence in zip(parse.sentences, parse.sentences[1:], strict=False):
        earlier, other = body(parse, before), body(parse, sentence)
        if len(earlier) < 2 or len(other) < 3 or parse.tokens[other.start].text.lower() not in opening:
            continue
        start = other.start + 1 + (parse.tokens[other.start + 1].text == ",")
        first = _from_clause(parse, earlier)
        if _clause(parse, first) and _clause(parse, range(start, other.stop)) and first.start == earlier.start:
            exchanges.append(exchanged(parse, earlier, range(start, other.stop)))
    return exchanges


def _purposes(parse: Parse) -> list[list[Edit]]:
    # `ran to catch the bus` becomes `caught the bus to run`
    exchanges = []
    for at, token in enumerate(parse.tokens):
        if token.text.lower() != "to" or token.dependency != "aux" or at + 1 >= len(parse.tokens):
            continue
        other = token.head
        verb = parse.tokens[other].head
        purpose = parse.tokens[other].dependency == "advcl" and other == at + 1 and parse.tokens[verb].pos == "VERB"
        if (
            not purpose
            or verb >= at
            or parse.children(verb, ("prt", "auxpass", "neg"))
            or parse.children(other, ("neg",))
        ):
            continue
        end = parse.subtree(other)[-1] + 1
        inside = range(verb + 1, at)
        if all(parse.tokens[i].text != "," and _below(parse, i, verb) for i in inside):
            exchanges.append(predicates_exchanged(parse, verb, other, range(at, at + 1), end))
    return exchanges


def _below(parse: Parse, at: int, verb: int) -> bool:
    seen = 0
    while at != verb and seen < 50:
        if parse.tokens[at].head == at:
            return False
        at, seen = parse.tokens[at].head, seen + 1
    return at == verb
