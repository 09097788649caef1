"""Invariance tests of form, which should not change a rating: contractions, commas, typing errors and layout."""

from __future__ import annotations

import re
from random import Random

from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.parse import Parse, like, tokenized
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit, count, first
from judge.inputs.perturbations.sentences import Piece, protected, words

# Perturbations of a story's layout that keep its words: Markdown, or capitals.

_HEADING = "# Story\n\n"
_LONG = 5
_EACH = 10


def markdown(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001  there is one
    """Adds a heading and sets a tenth of the words in bold, at least one, of five or more letters where there are any;
    `Unfit` without words."""
    text = material.story.text
    spans = list(words(text))
    if not spans:
        return Unfit("no word")
    long = [span for span in spans if span.end - span.start >= _LONG] or spans
    bold = sorted(rng.sample(long, min(len(long), max(1, len(spans) // _EACH))))
    return [Edit(0, 0, _HEADING)] + [Edit(*span, f"**{text[span.start : span.end]}**") for span in bold]


def uppercase(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """Writes every word but placeholders such as `[MALE]` in capitals; `Unfit` if all are already."""
    text = material.story.text
    edits: list[Edit] = []
    begin = 0
    for start, end in (*protected(text), (len(text), len(text))):
        for run in re.finditer(r"\S(?:.*\S)?", text[begin:start], re.DOTALL):
            if (letters := run.group()) != letters.upper():
                edits.append(Edit(begin + run.start(), begin + run.end(), letters.upper()))
        begin = end
    return edits or Unfit("capitals already")


# Typing errors: letters swapped, doubled or dropped, at strength 1 in one word of fifty (OpenMEVA: fewer than 2 % of
# words).

_TYPO_SHARE = 0.02
# An error comes after the first letter and before the last: a word of three letters leaves one place for it.
_SHORTEST = 4


def typos(material: Material, strength: int, rng: Random) -> Made:
    """Edits with one typing error per chosen word, never in its first letter; `Unfit` without a word of four
    letters."""
    text = material.story.text
    all_words = list(words(text))
    places = [word for word in all_words if word.end - word.start >= _SHORTEST and text[slice(*word)].isalpha()]
    if not places:
        return Unfit("no word of four letters")
    rng.shuffle(places)
    slips = [(long_word, rng.random(), rng.random()) for long_word in places]
    wanted = count(strength, _TYPO_SHARE, len(all_words))
    return [_slip(text, long_word, kind, where) for long_word, kind, where in slips[:wanted]]


def _slip(text: str, word: Piece, kind: float, where: float) -> Edit:
    at = word.start + 1 + int(where * (word.end - word.start - 2))
    here, after = text[at], text[at + 1]
    if kind < 1 / 3 and here != after:
        return Edit(at, at + 2, after + here)
    return Edit(at, at + 1, "") if kind < 2 / 3 else Edit(at, at, here)


# Omits optional commas (OpenMEVA, invariance): one of ten at strength 1, at least one. A story without any loses the
# full stop at its end instead.

_COMMA_SHARE = 0.1
_QUOTES = "\"“”'`’"


def fewer_commas(material: Material, strength: int, rng: Random) -> Made:
    """Edits that delete optional commas or semicolons, for example before a conjunction or after an introductory
    phrase, not in lists and numbers; without any, the final full stop. `Unfit` where that is impossible."""
    parse = Parse(material.tokens)
    deletions = [_gone(parse, at) for at in range(1, len(parse.tokens) - 1) if _needless(parse, at)]
    if not deletions:
        if len(parse.tokens) < 2 or parse.tokens[-1].text != "." or not parse.tokens[-2].text.isalpha():
            return Unfit("no mark that can be left out")
        return [_gone(parse, len(parse.tokens) - 1)]
    return first(deletions, count(strength, _COMMA_SHARE, len(deletions)), rng)


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


# Contracts full forms (`do not`) and writes out contracted ones (OpenMEVA, invariance): a tenth at strength 1.

_SHARE = 0.1
_REST = {"'re": "are", "'ll": "will", "'ve": "have", "'m": "am"}
_SHORT = {"am": "'m", "are": "'re", "is": "'s", "will": "'ll", "have": "'ve", "has": "'s", "had": "'d", "would": "'d"}
_CAN_NOT = {"ca": "can", "wo": "will", "sha": "shall"}
_WITH_NOT = frozenset(
    ["do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "would", "could", "should", "must", "need"]
)
_SHORT_WITH_NOT = {"can": "ca", "will": "wo"}


def contractions(material: Material, strength: int, rng: Random) -> Made:
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
