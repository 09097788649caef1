"""Data class for the result of fitting, used for linear models and for encoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge.backends.trained.model import Encoder, Head
from judge.lab.training.evaluation import PreferenceCheck, RatingCheck


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Result of fitting a linear model or an encoder.

    Attributes
    ----------
    heads : sequence of Head
        The model's outputs, one for each criterion.
    preferences, ratings : sequence
        Out-of-fold predictions of people's preferences and of their ratings.
    facts : dict
        Further facts for the model card.
    encoder : Encoder or None
        The encoder, if one was trained.
    notes : tuple of str
        Notes for tables.
    """

    heads: Sequence[Head]
    preferences: Sequence[PreferenceCheck]
    ratings: Sequence[RatingCheck]
    facts: dict[str, Any]
    encoder: Encoder | None = None
    notes: tuple[str, ...] = ()
