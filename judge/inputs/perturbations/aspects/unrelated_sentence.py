"""Replaces sentences by some for other story-prompts (OpenMEVA, relatedness): one of ten at strength 1, at least
one."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.sentences import sentences
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit, count

_SHARE = 0.1


def change(material: Material, strength: int, rng: Random) -> Made:
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
    for at, span in enumerate(places[: count(strength, _SHARE, len(places))]):
        other = others[at % len(others)].text
        other_sentences = sentences(other)
        if other_sentences:
            # Where it stands in its own story, so that a first sentence takes the place of a first one.
            near = other_sentences[min(len(other_sentences) - 1, int(len(other_sentences) * span.start / len(text)))]
            edits.append(Edit(*span, other[slice(*near)]))
    return edits or Unfit("no sentence in the other stories")
