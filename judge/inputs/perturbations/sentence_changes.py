"""Perturbations by sentences: repeated, paraphrased, unrelated, shuffled or cut ones, or another text in the story's
place."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from judge.base.late_pattern import late
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit, count
from judge.inputs.perturbations.sentences import PLACEHOLDER, Sentence, sentences

# Selects sentences of a story for which paraphrases are available.

_NO_PARAPHRASE = Unfit("too few sentences with a paraphrase")


def _paraphrased(material: Material, strength: int, rng: Random) -> list[tuple[Sentence, str]]:
    """`strength` random sentences, each with its paraphrase; empty if fewer have one."""
    text = material.story.text
    available = [
        (span, paraphrase)
        for span in sentences(text)
        if (paraphrase := material.paraphrases.get(text[span.start : span.end]))
        and paraphrase != text[span.start : span.end]
    ]
    rng.shuffle(available)
    return available[:strength] if len(available) >= strength else []


# Replaces sentences by some for other story-prompts (OpenMEVA, relatedness): one of ten at strength 1, at least one.

_UNRELATED_SHARE = 0.1


def unrelated_sentences(material: Material, strength: int, rng: Random) -> Made:
    """Edits to sentences of stories for other story-prompts, each of another one as long as there are enough; `Unfit`
    without such stories, or for a single sentence."""
    if not material.others:
        return Unfit("no story for another story-prompt")
    text = material.story.text
    places = sentences(text)
    if len(places) < 2:
        return Unfit("one sentence alone")
    rng.shuffle(places)
    others = list(material.others)
    rng.shuffle(others)
    edits = []
    for at, span in enumerate(places[: count(strength, _UNRELATED_SHARE, len(places))]):
        other = others[at % len(others)].text
        other_sentences = sentences(other)
        if other_sentences:
            # Where it stands in its own story, so that a first sentence takes the place of a first one.
            near = other_sentences[min(len(other_sentences) - 1, int(len(other_sentences) * span.start / len(text)))]
            edits.append(Edit(*span, other[slice(*near)]))
    return edits or Unfit("no sentence in the other stories")


# Repeats four words, with "and" between, or a whole sentence (OpenMEVA, lexical repetition).

_WORDS = 4
_RUN_WORD = late(PLACEHOLDER.pattern + r"|\w+(?:['’-]\w+)*|\s(?:n['’]t|['’]\w{1,2})\b")
_ARTICLES = ("a", "an", "the")
_BETWEEN = late(r"\s*\Z")


def repetitions(material: Material, strength: int, rng: Random) -> Made:
    """Edits that insert `strength` repetitions, each in another sentence; `Unfit` without a sentence."""
    text = material.story.text
    places = sentences(text)
    if not places:
        return Unfit("no sentence")
    rng.shuffle(places)
    return [_twice(text, run, rng.random(), rng.random()) for run in places[:strength]]


def _twice(text: str, sentence: Sentence, kind: float, where: float) -> Edit:
    # A sentence without four words in a row is repeated whole.
    runs = _runs(text, sentence)
    if kind < 0.5 or not runs:
        sentence_text = text[sentence.start : sentence.end]
        return Edit(sentence.end, sentence.end, f" {sentence_text}")
    start, end = runs[int(where * len(runs))]
    return Edit(end, end, f" and {_inside(text[start:end], start == sentence.start)}")


def _runs(text: str, sentence: Sentence) -> list[tuple[int, int]]:
    # They do not split a contraction or end in an article.
    words = list(_RUN_WORD.finditer(text, sentence.start, sentence.end))
    runs = []
    for at in range(len(words) - _WORDS + 1):
        some = words[at : at + _WORDS]
        joined = all(_BETWEEN.match(text, word.end(), after.start()) for word, after in pairwise(some))
        after = words[at + _WORDS] if at + _WORDS < len(words) else None
        whole = not some[0].group()[0].isspace() and (after is None or not after.group()[0].isspace())
        if joined and whole and some[-1].group().lower() not in _ARTICLES:
            runs.append((some[0].start(), some[-1].end()))
    return runs


def _inside(words: str, first: bool) -> str:
    # The initial capital goes, except from "I" and words all in capitals.
    start = words.split(maxsplit=1)[0]
    plain = first and start[:1].isupper() and start not in ("I",) and not start[1:2].isupper()
    return words[0].lower() + words[1:] if plain and not PLACEHOLDER.match(words) else words


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
_WORD = late(PLACEHOLDER.pattern + r"|(?<!\S)['’](?:s|m|d|re|ve|ll)\b|[^\W_]+(?:['’-][^\W_]+)*")
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


def sentence_shuffle(material: Material, strength: int, rng: Random) -> Made:
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


# Inserts a paraphrase of a sentence after it (OpenMEVA, semantic repetition).


def paraphrases_after(material: Material, strength: int, rng: Random) -> Made:
    """Edits that insert paraphrases after `strength` sentences; `Unfit` if too few have one."""
    return [
        Edit(span.end, span.end, f" {paraphrase}") for span, paraphrase in _paraphrased(material, strength, rng)
    ] or _NO_PARAPHRASE


# Replaces as many sentences as the strength by their paraphrases (OpenMEVA, invariance).


def paraphrases_instead(material: Material, strength: int, rng: Random) -> Made:
    """Edits that replace `strength` sentences by their paraphrases; `Unfit` if too few have one."""
    return [Edit(*span, paraphrase) for span, paraphrase in _paraphrased(material, strength, rng)] or _NO_PARAPHRASE
