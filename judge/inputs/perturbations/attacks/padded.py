"""Attack by length: sentences of other stories are added after the end of the story."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.sentences import sentences, words
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit

# The greatest strength: so many sentences are drawn whatever the strength, so that those of a lower one come first.
_MOST = 4

_FEWEST_WORDS = 5
# A story drawn may have no neutral sentence, or only one that was taken before: the loop needs an end.
_TRIES = 40


def verbosity(material: Material, strength: int, rng: Random) -> Made:
    """Edits that append `strength` sentences of other stories, without direct speech; `Unfit` with too few."""
    story = material.story
    others = material.others
    drawn: list[str] = []
    for _ in range(_TRIES if others else 0):
        text = rng.choice(others).text
        plain = [filler for filler in (text[start:end] for start, end in sentences(text)) if _neutral(filler)]
        filler = rng.choice(plain) if plain else ""
        if filler and filler not in drawn and filler not in story.text:
            drawn.append(filler)
        if len(drawn) == _MOST:
            break
    if len(drawn) < strength:
        return Unfit("too few sentences of other stories")
    end = len(story.text.rstrip())
    return [Edit(end, end, f" {filler}") for filler in drawn[:strength]]


def _neutral(sentence: str) -> bool:
    return (
        len(list(words(sentence))) >= _FEWEST_WORDS
        and not any(mark in sentence for mark in '"“”«»`?!')
        and "''" not in sentence
    )
