"""Perturbations that replace the whole story: by another story, by its story-prompt, by a punctuation mark, or by
nothing.
"""

from __future__ import annotations

import heapq
from random import Random

from judge.inputs.perturbations.edit import Edit
from judge.inputs.perturbations.perturbation import Made, Material, Unfit

_NEAREST = 10
"""Among so many stories of the most similar length one is drawn, so that length tells nothing."""

_WORD, _MARK = "Solution", ":"
"""What Zhao et al. (2025) found judges of reasoning to be fooled by; neither tells a story."""


def wrong_story(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001  there is one
    """The edit that replaces the story by a story for another story-prompt that has about the same length; an `Unfit`
    if there is no such story.
    """
    story = material.story
    others = [other for other in material.others if other.text != story.text and other.text.strip()]
    near = heapq.nsmallest(_NEAREST, others, key=lambda other: abs(len(other.text) - len(story.text)))
    return _instead(story.text, rng.choice(near).text) if near else Unfit("no other story")


def prompt_as_story(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """The edit that replaces the story by its story-prompt; an `Unfit` if the story-prompt is not known."""
    story_prompt = material.story.story_prompt
    return _instead(material.story.text, story_prompt) if story_prompt.strip() else Unfit("no story-prompt")


def empty(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """The edit that removes the story's whole text."""
    return _instead(material.story.text, "")


def one_token(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """The edits that replace the story by a punctuation mark; at strength 2, by a word and a punctuation mark."""
    mark = Edit(0, len(material.story.text), _MARK)
    return [mark] if strength == 1 else [Edit(0, 0, _WORD), mark]


def _instead(text: str, other: str) -> list[Edit]:
    return [Edit(0, len(text), other)]
