"""Contracts full forms (`do not`) and writes out contracted ones (OpenMEVA, invariance): a tenth at strength 1."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.parse import Parse, like, tokenized
from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit, count, first

_SHARE = 0.1
_REST = {"'re": "are", "'ll": "will", "'ve": "have", "'m": "am"}
_SHORT = {"am": "'m", "are": "'re", "is": "'s", "will": "'ll", "have": "'ve", "has": "'s", "had": "'d", "would": "'d"}
_CAN_NOT = {"ca": "can", "wo": "will", "sha": "shall"}
_WITH_NOT = frozenset(
    ["do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "would", "could", "should", "must", "need"]
)
_SHORT_WITH_NOT = {"can": "ca", "will": "wo"}


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits that contract or write out forms at random places; `Unfit` without such forms."""
    parse = Parse(material.tokens)
    blank = " " if tokenized(material.story.text) else ""
    edits: list[Edit] = []
    for at in range(1, len(parse.tokens)):
        edit = _written_out(parse, at) or _contracted(parse, at, blank)
        if edit is not None and (not edits or edit.start >= edits[-1].end):
            edits.append(edit)
    if not edits:
        return Unfit("no form that can be contracted or written out")
    return first(edits, count(strength, _SHARE, len(edits)), rng)


def _written_out(parse: Parse, at: int) -> Edit | None:
    # The contraction ends with this token ("n't", "'s").
    before, token = parse.tokens[at - 1], parse.tokens[at]
    word = "".join(token.text.lower().split()).replace("’", "'")
    gap = "" if before.end < token.start else " "
    if word == "n't":
        if before.text.lower() in ("ai",) or _asks(parse, at):
            return None
        stem = _CAN_NOT.get(before.text.lower())
        if stem is None:
            return Edit(token.start, token.end, f"{gap}not")
        return Edit(before.start, token.end, f"{like(stem, before.text)} not")
    full = _REST.get(word)
    if word == "'s":
        full = _of_s(parse, at)
    elif word == "'d":
        full = "would" if token.tag == "MD" else "had" if _next_tag(parse, at) in ("VBN", "RB") else None
    return None if full is None else Edit(token.start, token.end, f"{gap}{full}")


def _asks(parse: Parse, at: int) -> bool:
    # As in "did n't he", a form that is written out would be wrong.
    after = parse.tokens[at + 1] if at + 1 < len(parse.tokens) else None
    return after is None or after.dependency in ("nsubj", "nsubjpass", "expl") or after.tag in ("PRP", "DT")


def _of_s(parse: Parse, at: int) -> str | None:
    # None where it may be a possessive or "us".
    before, token = parse.tokens[at - 1], parse.tokens[at]
    if before.text.lower() not in word_list("contractions")["pronouns"] or token.pos not in ("AUX", "VERB"):
        return None
    after = _next_tag(parse, at)
    return "has" if token.lemma == "have" or (after == "VBN" and token.dependency == "aux") else "is"


def _next_tag(parse: Parse, at: int) -> str:
    return parse.tokens[at + 1].tag if at + 1 < len(parse.tokens) else ""


def _contracted(parse: Parse, at: int, blank: str) -> Edit | None:
    # `blank` is a space in a text printed as separate tokens (`did n't`).
    before, token = parse.tokens[at - 1], parse.tokens[at]
    word, previous = token.text.lower(), before.text.lower()
    if token.start - before.end != 1 or token.text != word:
        return None
    if word == "not":
        if _asks(parse, at) and parse.last_mark(parse.sentence_of(at)) == "?":
            return None
        if previous in _WITH_NOT:
            return Edit(before.end, token.end, f"{blank}n't")
        if previous in _SHORT_WITH_NOT:
            return Edit(before.start, token.end, like(_SHORT_WITH_NOT[previous], before.text) + f"{blank}n't")
        return None
    if previous not in word_list("contractions")["pronouns"] or word not in _SHORT:
        return None
    after = parse.tokens[at + 1] if at + 1 < len(parse.tokens) else None
    if after is None or not after.text[0].isalpha() or after.text.lower() == "not":
        return None
    verb = token.dependency in ("aux", "auxpass") or token.lemma == "be"
    if not verb or before.dependency not in ("nsubj", "nsubjpass", "expl") or before.head not in (at, token.head):
        return None
    if word in ("had", "would") and (blank == "" and previous in ("it", "that", "there", "who", "what")):
        return None
    if previous in ("there", "that", "who", "what", "it") and word in ("are", "have", "will", "would", "had"):
        return None
    return Edit(before.end, token.end, f"{blank}{_SHORT[word]}")
