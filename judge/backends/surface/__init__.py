"""Back-end `surface`, the control judge: a regression on a story's surface features, not a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from judge.backends.protocol import Backend, Settings
from judge.backends.surface.backend import SurfaceBackend
from judge.backends.surface.model import model_card, read_card, shipped_model
from judge.base.errors import SpecError
from judge.base.judge_name import JudgeName
from judge.base.records import Story
from judge.inputs.text_features import length

__all__ = ["SurfaceBackend", "fitted_on", "has_model", "model_card", "open"]


def open(model: str, settings: Settings) -> Backend:  # noqa: A001, ARG001 - every back-end's loader has this name
    """`surface` uses the shipped model, `surface/FILE.json` another file of the same format."""
    if model and not model.endswith(".json"):
        raise SpecError(
            f"surface has no model {model!r}",
            hint="write `surface`, or `surface/FILE.json` for a model fitted elsewhere",
        )
    return SurfaceBackend(read_card(Path(model) if model else shipped_model()))


def fitted_on(judge: str, criteria: Sequence[str], stories: Iterable[Story]) -> Iterator[bool]:
    """For each story, whether the control judge's regression for any of the criteria was fitted on its story-prompt."""
    model = JudgeName.of(judge).model
    card = read_card(Path(model) if model else shipped_model())
    for story in stories:
        tokens = length(story.text)
        yield any(card.was_fitted_on(card.choose(name, tokens), story.story_prompt) for name in criteria)


def has_model(criterion: str) -> bool:
    """Whether the shipped judge was fitted on this criterion; if not, it uses its model of overall quality."""
    return criterion.casefold().strip() in read_card(shipped_model()).by_criterion
