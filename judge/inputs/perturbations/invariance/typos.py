"""Typing errors: letters swapped, doubled or dropped, at strength 1 in one word of fifty (OpenMEVA: fewer than 2 % of
words)."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.sentences import Piece, words
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit

_SHARE = 0.02
# An error comes after the first letter and before the last: a word of three letters leaves one place for it.
_SHORTEST = 4


def change(material: Material, strength: int, rng: Random) -> Made:
    """Edits with one typing error per chosen word, never in its first letter; `Unfit` without a word of four
    letters."""
    text = material.story.text
    all_words = list(words(text))
    places = [word for word in all_words if word.end - word.start >= _SHORTEST and text[slice(*word)].isalpha()]
    if not places:
        return Unfit("no word of four letters")
    rng.shuffle(places)
    slips = [(long_word, rng.random(), rng.random()) for long_word in places]
    count = strength * max(1, round(_SHARE * len(all_words)))
    return [_slip(text, long_word, kind, where) for long_word, kind, where in slips[:count]]


def _slip(text: str, word: Piece, kind: float, where: float) -> Edit:
    at = word.start + 1 + int(where * (word.end - word.start - 2))
    here, after = text[at], text[at + 1]
    if kind < 1 / 3 and here != after:
        return Edit(at, at + 2, after + here)
    return Edit(at, at + 1, "") if kind < 2 / 3 else Edit(at, at, here)
