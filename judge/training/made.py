"""What either rung makes of its material. Never holds how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge.backends.trained.model import Encoder, Head
from judge.training.evaluation import PreferenceCheck, RatingCheck


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """Heads, checks out of fold, further facts for the card, the encoder if one was trained, and notes for tables."""

    heads: Sequence[Head]
    preferences: Sequence[PreferenceCheck]
    ratings: Sequence[RatingCheck]
    facts: dict[str, Any]
    encoder: Encoder | None = None
    notes: tuple[str, ...] = ()
