"""Truncates stories: removes the last sentences or the second half."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

from judge.perturbations.edit import Edit
from judge.perturbations.english.sentences import Sentence, sentences
from judge.perturbations.perturbation import Made, Material, Unfit

# A single sentence has no boundary inside at which it could be cut.
_FEWEST = 2


def truncate_end(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001  nothing is drawn
    """Remove sentences at the end; their number is the strength. Unfit where none would remain."""
    text = material.story.text
    spans = sentences(text)
    return _without(text, spans, len(spans) - strength) if len(spans) > strength else Unfit("too few sentences")


def truncate_half(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """Remove the text after the sentence end that is nearest to the middle."""
    text = material.story.text
    spans = sentences(text)
    if len(spans) < _FEWEST:
        return Unfit("one sentence alone")
    kept = min(range(1, len(spans)), key=lambda count: abs(2 * spans[count - 1].end - len(text)))
    return _without(text, spans, kept)


def _without(text: str, spans: Sequence[Sentence], kept: int) -> list[Edit]:
    """One edit for each removed sentence, with the spaces before it; the last edit also removes all remaining text."""
    ends = [*(span.end for span in spans[kept - 1 : -1]), len(text)]
    return [Edit(begin, end, "") for begin, end in pairwise(ends)]
