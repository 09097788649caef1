"""Options of training, all of which the model card lists, and its messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.asking.execution.progress import Progress
from judge.base.choices import RESAMPLES
from judge.base.errors import OptionError

# Messages and progress bar of a training. They go to stderr, because tables go to stdout.


@dataclass(frozen=True, slots=True)
class Telling:
    """Messages about a training; `quiet` switches off the progress bar."""

    tell: Callable[[str], None]
    quiet: bool = True

    def progress(self, total: int) -> Progress:
        """Context manager with a progress bar over `total` steps."""
        return Progress(total, parser=None, quiet=self.quiet)


LEAST_FOLDS = 2
# Fewer leave little room for the story beside the question.
LEAST_TOKENS = 16


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """Options for training a cross-encoder from the pretrained `model` (a folder or a name on the hub).

    `epochs` is the maximum; training stops where the loss on a fold of the training story-prompts no longer decreases.
    `batch_size` counts lists or stories, `learning_rate` is reached after a warm-up, and texts are cut after
    `max_length` tokens (None = the model's limit). `criteria` is a set with definitions; None = the shipped one that
    has most."""

    model: str
    epochs: int = 4
    batch_size: int = 8
    learning_rate: float = 2e-5
    max_length: int | None = None
    criteria: str | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise OptionError(name, getattr(self, name), "must be 1 or more")
        if not 0 < self.learning_rate < 1:
            raise OptionError("learning_rate", self.learning_rate, "must be between 0 and 1")
        if self.max_length is not None and self.max_length < LEAST_TOKENS:
            raise OptionError("max_length", self.max_length, f"must be {LEAST_TOKENS} or more")


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """Options of training; cross-validation has `folds` folds of story-prompts, repeated `foldings` times.

    `negatives` is a file of `judge stress make`, whose perturbed stories count as worse. No `criteria` = all. With
    `encoder`, an encoder is trained in place of a linear model on surface features and, if given, embeddings by
    `embed`. `resamples` are for intervals of correlations."""

    criteria: tuple[str, ...] = ()
    embed: str | None = None
    encoder: EncoderOptions | None = None
    negatives: Path | None = None
    folds: int = 5
    foldings: int = 5
    seed: int = 1
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        if self.folds < LEAST_FOLDS:
            raise OptionError("folds", self.folds, f"must be {LEAST_FOLDS} or more")
        if self.foldings < 1:
            raise OptionError("foldings", self.foldings, "must be 1 or more")
        if self.embed is not None and self.encoder is not None:
            raise OptionError("embed", self.embed, "has no part in an encoder, which reads the texts themselves")


def encoder_options(model: str | None, **chosen: Any) -> EncoderOptions | None:
    """Options for an encoder; None where `model` is None. In `chosen`, None = the default. Raises OptionError where
    such options are given without a model."""
    given = {name: value for name, value in chosen.items() if value is not None}
    if model is None:
        for name, value in given.items():
            raise OptionError(name, value, "is of an encoder, and none is trained", hint="name its model as well")
        return None
    return EncoderOptions(model, **given)
