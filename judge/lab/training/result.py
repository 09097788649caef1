"""Data class for the result of training: the model's folder, its card, and its out-of-fold evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.analysis.preference.agreement import Agreement
from judge.lab.training.evaluation import Calibrations, RatingAgreement


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A trained model: its folder, its model card, its out-of-fold agreement with human preferences (None without
    preferences) and with human ratings (None without ratings), and the calibration of its predictions.
    """

    folder: Path
    card: dict[str, Any]
    preferences: Agreement | None
    ratings: RatingAgreement | None
    calibrations: Calibrations
