"""Resolves "the former" and "the latter" to a story where the words before them are unambiguous."""

from __future__ import annotations

import re

from judge.answers.parsing.verdict.sides import FIRST, OTHER, SECOND

LATTER = re.compile(
    r"(?<!\w)the[ \t](?P<word>former|latter)(?:[ \t](?:story|one|option|text|response))?"
    r"(?=[ \t*_\"'”)]{0,3}(?:[.,;:!—–\n]|\Z)"
    r"|[ \t](?:is|was|wins|over|because|since|as|for|due|feels|seems|remains|has[ \t]the[ \t]edge)\b)"
)
_NOTHING_NAMED = re.compile(
    r"\W*(?:(?:overall|personally|ultimately|honestly|therefore|so|thus|in the end|on balance)\W+)?"
    r"(?:(?:i|we)(?:['’][a-z]{1,2})?(?:[ ][a-z]{2,12}){1,4}[ ])"
)
_PAIR = 2


def meant(word: str, before: str, named: list[str]) -> str | None:
    """Symbol of the story that "former" or "latter" means; None where this is unclear. `named` are the stories named
    before the word in the answer.

    If stories are named before, the words are clear only where the answer names first one story and then only the
    other. If none is named, "former" means the story shown first and "latter" the story shown second, but only where
    the answer begins with the choice: in "wit and heart; I prefer the latter" no story is meant.
    """
    if not named:
        order = [FIRST, SECOND] if _NOTHING_NAMED.fullmatch(before) else []
    else:
        order = [symbol for i, symbol in enumerate(named) if i == 0 or named[i - 1] != symbol]
    if len(order) != _PAIR or order[1] != OTHER.get(order[0]):
        return None
    return order[0] if word == "former" else order[1]
