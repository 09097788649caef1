"""Perturbations that truncate stories: they remove the last sentences or the second half."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

from judge.inputs.perturbations.edit import Edit
from judge.inputs.perturbations.english.sentences import Sentence, sentences
from judge.inputs.perturbations.perturbation import Made, Material, Unfit

# A single sentence has no boundary inside at which it could be cut.
_FEWEST = 2


def truncate_end(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001  nothing is drawn
    """Edits that remove the last sentences of the story, as many as `strength`; an `Unfit` if no sentence would
    remain.
    """
    text = material.story.text
    spans = sentences(text)
    return _without(text, spans, len(spans) - strength) if len(spans) > strength else Unfit("too few sentences")


def truncate_half(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """The edits that remove the text after the sentence end that is nearest to the story's middle; an `Unfit` if the
    story is a single sentence.
    """
    text = material.story.text
    spans = sentences(text)
    if len(spans) < _FEWEST:
        return Unfit("one sentence alone")
    kept = min(range(1, len(spans)), key=lambda count: abs(2 * spans[count - 1].end - len(text)))
    return _without(text, spans, kept)


def _without(text: str, spans: Sequence[Sentence], kept: int) -> list[Edit]:
    """One edit for each sentence after the first `kept`, which removes it with the spaces before it. The last edit also
    removes all remaining text.
    """
    ends = [*(span.end for span in spans[kept - 1 : -1]), len(text)]
    return [Edit(begin, end, "") for begin, end in pairwise(ends)]
