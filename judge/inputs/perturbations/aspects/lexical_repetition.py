"""Repeats four words, with "and" between, or a whole sentence (OpenMEVA, lexical repetition)."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

from judge.inputs.perturbations.english.sentences import PLACEHOLDER, Sentence, sentences
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit

_WORDS = 4
_WORD = re.compile(PLACEHOLDER.pattern + r"|\w+(?:['’-]\w+)*|\s(?:n['’]t|['’]\w{1,2})\b")
_ARTICLES = ("a", "an", "the")
_BETWEEN = re.compile(r"\s*\Z")


def change(material: Material, strength: int, rng: Random) -> Made:
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
    words = list(_WORD.finditer(text, sentence.start, sentence.end))
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
