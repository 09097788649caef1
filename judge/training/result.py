"""Result of a training: the folder, the card, and the checks out of fold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.analysis.preference.agreement import Agreement
from judge.training.evaluation import Calibrations, RatingAgreement


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A trained model: its folder, its card, and its checks, which are None where people gave no preferences or no
    ratings.
    """

    folder: Path
    card: dict[str, Any]
    preferences: Agreement | None
    ratings: RatingAgreement | None
    calibrations: Calibrations
