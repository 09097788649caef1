"""Adapts capitals and articles when a word is replaced."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge.inputs.perturbations.edit import Edit
from judge.inputs.perturbations.perturbation import Token

_CONSONANT = re.compile(r"(?:eu|ew|u(?:ni(?:[^nm]|$)|s[aeiu]|t[eio]|b[iq]|k|r[aei])|one\b|once\b|ouija)", re.IGNORECASE)
_SILENT = re.compile(r"(?:hour|honest|honou?r|heir)", re.IGNORECASE)
_TOKENIZED = re.compile(r"\w (?:n['’]t|['’](?:s|m|re|ve|ll|d)|[.,!?])(?=\s|$)")


def like(word: str, model: str) -> str:
    """The word with the capitals of the word `model`."""
    if model[:1].isupper():
        return word.upper() if len(model) > 1 and model.isupper() else word[:1].upper() + word[1:]
    return word


def article_for(word: str) -> str:
    """`a` or `an`, as the beginning of the word requires."""
    vowel = word[:1].lower() in tuple("aeiou") and not _CONSONANT.match(word)
    return "an" if vowel or _SILENT.match(word) else "a"


def replaced(tokens: Sequence[Token], at: int, word: str) -> list[Edit]:
    """Edits that replace a token by a word and, if the new initial sound requires it, the article before the token."""
    token = tokens[at]
    edits = [Edit(token.start, token.end, word)]
    before = tokens[at - 1] if at else None
    if before is not None and before.text.lower() in ("a", "an"):
        wanted = article_for(word)
        if before.text.lower() != wanted:
            capital = before.text[:1].isupper()
            edits.insert(0, Edit(before.start, before.end, wanted.capitalize() if capital else wanted))
    return edits


def tokenized(text: str) -> bool:
    """Whether the text is printed as separate tokens, with spaces before punctuation marks and inside contractions
    (`did n't`).
    """
    return bool(_TOKENIZED.search(text))
