"""Negates sentences, or removes their negation (OpenMEVA, consistency): one of five at strength 1."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.inflection import inflected
from judge.inputs.perturbations.english.parse import FINITE, MODALS, Parse, like
from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit, count, first

_SHARE = 0.2
_NOT = frozenset({"not", "n't", "n’t"})
_FULL = {"ca": "can", "wo": "will", "sha": "shall"}
_DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}


def change(material: Material, strength: int, rng: Random) -> Made:
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
    some = first(groups, count(strength, _SHARE, len(parse.sentences)), rng)
    return [edit for edits in some for edit in edits]


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
