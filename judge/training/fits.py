"""Result of fitting, the same for linear models and encoders: heads, checks out of fold, facts for the card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge.backends.trained.model import Encoder, Head
from judge.training.evaluation import PreferenceCheck, RatingCheck


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Result of training: heads, out-of-fold checks, further facts for the model card, the encoder if one was trained,
    and notes for tables.
    """

    heads: Sequence[Head]
    preferences: Sequence[PreferenceCheck]
    ratings: Sequence[RatingCheck]
    facts: dict[str, Any]
    encoder: Encoder | None = None
    notes: tuple[str, ...] = ()
