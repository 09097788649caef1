"""Perturbations of what clauses state: negations, and causes or events in the other order."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.parse import (
    FINITE,
    MODALS,
    Parse,
    body,
    exchanged,
    inflected,
    like,
    predicates_exchanged,
    swaps,
)
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit, apart, count, some_of

# Reverses the order of two events, or replaces a word of time by its opposite (OpenMEVA, temporal relationship): at
# strength 1, one change for every ten sentences.

_TIME_SHARE = 0.1


def events_exchanged(material: Material, strength: int, rng: Random) -> Made:
    """Edits that exchange sentences joined by `then` and predicates by `and then`, and replace listed words of time;
    `Unfit` without any."""
    parse = Parse(material.tokens)
    listed = word_list("temporal")
    groups = [
        *swaps(parse, listed["words"], [tuple(pair) for pair in listed["left"]]),
        *_then_sentences(parse, listed["next"]),
        *_then_predicates(parse),
    ]
    edits = apart([group for group in groups if group], count(strength, _TIME_SHARE, len(parse.sentences)), rng)
    return edits or Unfit("no word of time, and no events in a row")


def _then_sentences(parse: Parse, following: list[str]) -> list[list[Edit]]:
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


def _then_predicates(parse: Parse) -> list[list[Edit]]:
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


# Exchanges cause and effect, or action and purpose (OpenMEVA, causal relationship); once at strength 1.

_NO_CLAUSE = frozenset({"of", "that", "far", "long", "much", "many", "well", "soon", "if", "though"})


def causes_exchanged(material: Material, strength: int, rng: Random) -> Made:
    """Edits that reverse `strength` statements of cause: clauses around `because`, `so` and the like, sentences joined
    by `so`, and words of cause; without these an action and its purpose. `Unfit` without any."""
    parse = Parse(material.tokens)
    listed = word_list("causal")
    groups = [
        *_clauses(parse, listed["connectives"]),
        *_so_sentences(parse, listed["opening"]),
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


def _so_sentences(parse: Parse, opening: list[str]) -> list[list[Edit]]:
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


# Negates sentences, or removes their negation (OpenMEVA, consistency): one of five at strength 1.

_SHARE = 0.2
_NOT = frozenset({"not", "n't", "n’t"})
_FULL = {"ca": "can", "wo": "will", "sha": "shall"}
_DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}


def negations(material: Material, strength: int, rng: Random) -> Made:
    """Edits that negate sentences or remove a negation, at most once in each; `Unfit` without any."""
    parse = Parse(material.tokens)
    groups = []
    for sentence in parse.sentences:
        options = _deletions(parse, sentence) or _insertions(parse, sentence)
        chosen = rng.random()
        if options:
            groups.append(options[int(chosen * len(options))])
    if not groups:
        return Unfit("no sentence with a finite verb and its subject")
    return some_of(groups, strength, _SHARE, len(parse.sentences), rng)


def _deletions(parse: Parse, sentence: range) -> list[list[Edit]]:
    # None where a sentence has several negations, or would be wrong without one, for example because of "yet".
    words = word_list("negation")
    tokens = parse.tokens
    negations = [at for at in sentence if _plain(tokens[at].text) in _NOT or tokens[at].text.lower() in words["words"]]
    if len(negations) != 1 or any(tokens[at].text.lower() in words["bound"] for at in sentence):
        return []
    at = negations[0]
    edits = _without_not(parse, at) if _plain(tokens[at].text) in _NOT else _without_word(parse, at)
    if not edits:
        return []
    # `too` and `still` would stand in odd places: a sentence with these is left.
    for other in range(at + 1, sentence.stop):
        instead = words["polarity"].get(tokens[other].text.lower())
        if instead in ("too", "still"):
            return []
        if instead is not None:
            token = tokens[other]
            edits.append(Edit(token.start, token.end, like(instead, token.text)))
    return [edits]


def _plain(word: str) -> str:
    return "".join(word.lower().split()).replace("’", "'")


def _without_word(parse: Parse, at: int) -> list[Edit]:
    # `never` becomes `always`, and `nobody` `everybody`
    token = parse.tokens[at]
    word = token.text.lower()
    if word in ("hardly", "barely", "scarcely") and parse.tokens[token.head].pos != "VERB":
        return []
    if word == "none" and token.dependency not in ("dobj", "pobj"):
        return []
    return [Edit(token.start, token.end, like(word_list("negation")["words"][word], token.text))]


def _without_not(parse: Parse, at: int) -> list[Edit]:
    # `not` after an auxiliary or a form of be goes; `did not go` becomes `went`
    tokens = parse.tokens
    if at == 0 or tokens[at - 1].pos not in ("AUX", "VERB") or at + 1 >= len(tokens):
        return []
    auxiliary, after = tokens[at - 1], tokens[at + 1]
    word = auxiliary.text.lower()
    if word == "ai" or after.text.lower() in ("only", "just", "even", "so", "because", "if") or word in ("let", "why"):
        return []
    if word in ("do", "does", "did") and auxiliary.pos == "AUX":
        return _without_do(parse, at)
    if auxiliary.tag not in FINITE and word not in MODALS:
        return []
    edits = [Edit(auxiliary.end, tokens[at].end, "")]
    return [Edit(auxiliary.start, tokens[at].end, like(_FULL[word], auxiliary.text))] if word in _FULL else edits


def _without_do(parse: Parse, at: int) -> list[Edit]:
    # `did not go` becomes `went`, with adverbs between; in a question, only `not` is removed.
    tokens = parse.tokens
    auxiliary, verb = tokens[at - 1], tokens[tokens[at - 1].head]
    head = auxiliary.head
    between = range(at + 1, head)
    inverted = any(tokens[i].dependency in ("nsubj", "nsubjpass", "expl") for i in between)
    if head <= at or verb.tag not in ("VB", "VBP") or inverted or parse.last_mark(parse.sentence_of(at)) == "?":
        return [Edit(auxiliary.end, tokens[at].end, "")] if head > at else []
    subject = parse.subject(head)
    if subject is None and auxiliary.text.lower() == "do":  # a command
        word = tokens[at + 1]
        return [Edit(auxiliary.start, word.end, like(word.text, auxiliary.text))]
    form = inflected(verb.lemma, {"did": "VBD", "does": "VBZ"}.get(auxiliary.text.lower(), "VBP"))
    if form is None or subject is None or (verb.lemma == "be"):
        return []
    gap = Edit(auxiliary.start, tokens[at + 1].start, "")
    if at + 1 == head:
        return [Edit(auxiliary.start, verb.end, like(form, auxiliary.text))]
    return [gap, Edit(verb.start, verb.end, form)]


def _insertions(parse: Parse, sentence: range) -> list[list[Edit]]:
    # By its main verb, or else by another finite verb.
    tokens = parse.tokens
    if parse.last_mark(sentence) == "?" or any(_plain(tokens[at].text) in _NOT for at in sentence):
        return []
    candidates = []
    for at in sentence:
        token = tokens[at]
        main = token.dependency in ("ROOT", "ccomp", "conj", "advcl", "relcl") and token.pos in ("VERB", "AUX")
        if main and (subject := parse.subject(at)) is not None and subject < at:
            edits = _negated(parse, at, subject)
            if edits:
                candidates.append((token.dependency != "ROOT", edits))
    best = [edits for late, edits in candidates if not late]
    return best or [edits for _, edits in candidates]


def _negated(parse: Parse, verb: int, subject: int) -> list[Edit]:
    # `not` goes after an auxiliary, `did not` before a verb.
    tokens = parse.tokens
    finite = parse.finite(verb)
    if finite is None or finite < subject:
        return []
    token = tokens[finite]
    word = token.text.lower().replace("’", "'")
    if token.pos == "AUX" and (finite != verb or token.lemma == "be" or word in MODALS):
        if word == "'d":
            full = "would" if token.tag == "MD" else "had"
            before = tokens[finite - 1]
            return [Edit(token.start, token.end, f"{' ' if before.end == token.start else ''}{full} not")]
        return [Edit(token.end, token.end, " not")]
    if finite != verb or token.tag not in _DO or not token.text.isalpha():
        return []
    base = tokens[verb].lemma
    if not base.isalpha() or base == "be":
        return []
    return [Edit(token.start, token.end, f"{_DO[token.tag]} not {base}")]
