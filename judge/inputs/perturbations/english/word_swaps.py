"""Replaces words by those of a list, restricted to a part of speech where the list gives one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from judge.inputs.perturbations.edit import Edit
from judge.inputs.perturbations.english.forms import like, replaced
from judge.inputs.perturbations.english.parse import Parse


def swaps(parse: Parse, listed: Mapping[str, str], left: Sequence[tuple[str, ...]] = ()) -> list[list[Edit]]:
    """Edits that replace listed words; one list of edits for each place where such a word occurs. `listed` maps a word
    to its replacement; an entry `word|POS` applies only to this part of speech.

    A word is not replaced if it and an adjacent word are one of the pairs in `left`.
    """
    swaps_found = []
    for at, token in enumerate(parse.tokens):
        word = token.text.lower()
        instead = listed.get(f"{word}|{token.pos}", listed.get(word))
        around = [neighbour.text.lower() for neighbour in parse.tokens[max(0, at - 1) : at + 2]]
        fixed = any(pair in left for pair in pairwise(around))
        if instead is not None and not fixed and "-" not in around:
            swaps_found.append(replaced(parse.tokens, at, like(instead, token.text)))
    return swaps_found
