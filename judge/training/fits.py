"""Data class for the result of fitting, the same for linear models and encoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge.backends.trained.model import Encoder, Head
from judge.training.evaluation import PreferenceCheck, RatingCheck


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Result of fitting: heads (the model's outputs, one for each criterion), out-of-fold predictions for preferences
    and ratings, further facts for the model card, the encoder if one was trained, and notes for tables.
    """

    heads: Sequence[Head]
    preferences: Sequence[PreferenceCheck]
    ratings: Sequence[RatingCheck]
    facts: dict[str, Any]
    encoder: Encoder | None = None
    notes: tuple[str, ...] = ()
