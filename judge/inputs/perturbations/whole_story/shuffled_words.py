"""Perturbation that shuffles the words within sentences; punctuation, spaces and placeholders stay in place."""

from __future__ import annotations

import re
from random import Random

from judge.inputs.perturbations.edit import Edit
from judge.inputs.perturbations.english.sentences import Sentence, sentences
from judge.inputs.perturbations.english.tokens import PLACEHOLDER
from judge.inputs.perturbations.perturbation import Made, Material, Unfit

# In tokenised texts 's is a word of its own, and moves whole.
_WORD = re.compile(PLACEHOLDER.pattern + r"|(?<!\S)['’](?:s|m|d|re|ve|ll)\b|[^\W_]+(?:['’-][^\W_]+)*")
_ALL = 4
"""The strength at which every sentence is shuffled."""


def word_shuffle(material: Material, strength: int, rng: Random) -> Made:
    """The edits that shuffle the words within a quarter (strength 1), half (2) or all (4) of the sentences that have
    different words, at least one sentence. The result is an `Unfit` if there is no such sentence.
    """
    text = material.story.text
    shuffled = [edits for span in sentences(text) if (edits := _shuffled(text, span, rng))]
    rng.shuffle(shuffled)
    count = -(-len(shuffled) * min(strength, _ALL) // _ALL)
    return [edit for edits in shuffled[:count] for edit in edits] or Unfit("no sentence of different words")


def _shuffled(text: str, sentence: Sentence, rng: Random) -> list[Edit]:
    """One edit for each word of a sentence that is replaced by another word when the sentence's words are shuffled;
    none where all words are equal.
    """
    matches = [match for match in _WORD.finditer(text, *sentence) if PLACEHOLDER.fullmatch(match.group()) is None]
    old_words = [match.group() for match in matches]
    if len({word.lower() for word in old_words}) <= 1:
        return []
    order = old_words[:]
    while order == old_words:
        rng.shuffle(order)
    return [Edit(*match.span(), new) for match, old, new in zip(matches, old_words, order, strict=True) if new != old]
