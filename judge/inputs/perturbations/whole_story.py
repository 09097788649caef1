"""Perturbations of a whole story: changed order, a removed end, or another text in its place."""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from judge.inputs.perturbations.english.sentences import PLACEHOLDER, Sentence, sentences
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit

# Perturbations that replace the whole story: by another story, by its story-prompt, by a punctuation mark, or by
# nothing.

# Among so many stories of the most similar length one is drawn, so that length tells nothing.
_NEAREST = 10

# What Zhao et al. (2025) found judges of reasoning to be fooled by; neither tells a story.
_REPLACED_WORD, _MARK = "Solution", ":"


def wrong_story(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001  there is one
    """Puts a story for another story-prompt, of about the same length, in its place; `Unfit` without any."""
    story = material.story
    others = [other for other in material.others if other.text != story.text and other.text.strip()]
    near = heapq.nsmallest(_NEAREST, others, key=lambda other: abs(len(other.text) - len(story.text)))
    return _instead(story.text, rng.choice(near).text) if near else Unfit("no other story")


def prompt_as_story(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """Puts the story-prompt in the story's place; `Unfit` if it is not known."""
    story_prompt = material.story.story_prompt
    return _instead(material.story.text, story_prompt) if story_prompt.strip() else Unfit("no story-prompt")


def empty(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """Removes the story's whole text."""
    return _instead(material.story.text, "")


def one_token(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """Puts a punctuation mark in the story's place; at strength 2, a word and a punctuation mark."""
    mark = Edit(0, len(material.story.text), _MARK)
    return [mark] if strength == 1 else [Edit(0, 0, _REPLACED_WORD), mark]


def _instead(text: str, other: str) -> list[Edit]:
    return [Edit(0, len(text), other)]


# Perturbations that truncate stories: they remove the last sentences or the second half.

# A single sentence has no boundary inside at which it could be cut.
_FEWEST = 2


def truncate_end(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001  nothing is drawn
    """Removes the last `strength` sentences; `Unfit` if none would remain."""
    text = material.story.text
    spans = sentences(text)
    return _without(text, spans, len(spans) - strength) if len(spans) > strength else Unfit("too few sentences")


def truncate_half(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """Removes the text after the sentence end that is nearest to the middle; `Unfit` for a single sentence."""
    text = material.story.text
    spans = sentences(text)
    if len(spans) < _FEWEST:
        return Unfit("one sentence alone")
    kept = min(range(1, len(spans)), key=lambda count: abs(2 * spans[count - 1].end - len(text)))
    return _without(text, spans, kept)


def _without(text: str, spans: Sequence[Sentence], kept: int) -> list[Edit]:
    # The last edit also removes all remaining text.
    ends = [*(span.end for span in spans[kept - 1 : -1]), len(text)]
    return [Edit(begin, end, "") for begin, end in pairwise(ends)]


# Perturbation that shuffles the words within sentences; punctuation, spaces and placeholders stay in place.

# In tokenised texts 's is a word of its own, and moves whole.
_WORD = re.compile(PLACEHOLDER.pattern + r"|(?<!\S)['’](?:s|m|d|re|ve|ll)\b|[^\W_]+(?:['’-][^\W_]+)*")
# The strength at which every sentence is shuffled.
_ALL = 4


def word_shuffle(material: Material, strength: int, rng: Random) -> Made:
    """Shuffles the words within a quarter (strength 1), half (2) or all (4) of the sentences with different words, at
    least one; `Unfit` without any."""
    text = material.story.text
    shuffled = [edits for span in sentences(text) if (edits := _shuffled(text, span, rng))]
    rng.shuffle(shuffled)
    count = -(-len(shuffled) * min(strength, _ALL) // _ALL)
    return [edit for edits in shuffled[:count] for edit in edits] or Unfit("no sentence of different words")


def _shuffled(text: str, sentence: Sentence, rng: Random) -> list[Edit]:
    matches = [match for match in _WORD.finditer(text, *sentence) if PLACEHOLDER.fullmatch(match.group()) is None]
    old_words = [match.group() for match in matches]
    if len({word.lower() for word in old_words}) <= 1:
        return []
    order = old_words[:]
    while order == old_words:
        rng.shuffle(order)
    return [Edit(*match.span(), new) for match, old, new in zip(matches, old_words, order, strict=True) if new != old]


# Perturbation that exchanges pairs of a story's sentences, so that the sentences are in another order.


def change(material: Material, strength: int, rng: Random) -> Made:
    """Exchanges a quarter (strength 1), half (2) or all (4) of random pairs of sentences; `Unfit` if this changes
    nothing."""
    text = material.story.text
    places = sentences(text)
    if len(places) < 2:
        return Unfit("one sentence alone")
    rng.shuffle(places)
    pairs = [(first_span, other) for first_span, other in zip(places[::2], places[1::2], strict=False)]
    edits: list[Edit] = []
    for first_span, other in pairs[: -(-len(pairs) * strength // _ALL)]:
        first, second = text[slice(*first_span)], text[slice(*other)]
        if first != second:
            edits += [Edit(*first_span, second), Edit(*other, first)]
    return edits or Unfit("sentences that are all the same")
