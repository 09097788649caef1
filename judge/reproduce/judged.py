"""What a study's judge comes to: the same six answers for every judge, a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from judge.base.estimate import ALPHA, Estimate
from judge.reproduce.cell import Cell
from judge.stats.estimation.paired_differences import holm

# The six questions, and their titles on a page.
QUESTIONS = {
    "replace": "may it replace a person?",
    "control": "above the control?",
    "consistent": "consistent?",
    "prompt": "best prompt?",
    "faults": "faults?",
    "cells": "cells that change",
}
ONE_PROMPT = "one prompt was used"
ONE_ANSWER = "not known: one answer an item"
NO_PEOPLE = "cannot be tested: who gave which rating is not released"


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge of a study with its answers. `replace` and `control` begin with yes, no, above, below or cannot tell;
    words but the last hold by a test at 5 % over all that the line counts (Holm's method)."""

    judge: str
    replace: str
    control: str
    consistent: str
    prompt: str
    faults: str
    cells: str


# What becomes of a printed cell, as a line says it, by the cell's verdict.
_BECOMES = {"differs": "differ", "moves": "move", "holds": "hold", "reproduced": "hold"}
_NOT_AT_HAND = "not at hand"


def changing(cells: Iterable[Cell]) -> str:
    """How many printed cells are those of others, move, or hold, and how many are not at hand."""
    counted = Counter(_becomes(cell) for cell in cells if cell.in_print)
    names = (*dict.fromkeys(_BECOMES.values()), _NOT_AT_HAND)
    return ", ".join(f"{counted[name]:,} {name}" for name in names if counted[name]) or "none in print"


def _becomes(cell: Cell) -> str:
    if cell.verdict is not None:
        return _BECOMES.get(cell.verdict, _NOT_AT_HAND)
    # Of a study that gives no verdicts: by the numbers, or the interval, beside the printed one.
    if cell.state in ("differ", "off"):
        return "differ"
    if cell.missing:
        return _NOT_AT_HAND
    low, high = cell.corrected.low, cell.corrected.high
    if low is None or high is None or not isinstance(cell.published, float):
        return "move" if cell.corrected_differs else "hold"
    half = 0.5 * 10**-cell.digits
    return "hold" if low - half <= cell.published <= high + half else "move"


def sides(differences: Sequence[tuple[Estimate, float]]) -> tuple[int, int]:
    """How many differences, each with its p, are told above 0 and below it by Holm's method at 5 %."""
    if not differences:
        return 0, 0
    adjusted = holm(np.array([p for _, p in differences]))
    told = [estimate.value or 0.0 for (estimate, _), p in zip(differences, adjusted, strict=True) if p <= ALPHA]
    return sum(value > 0 for value in told), sum(value < 0 for value in told)


def beside(above: int, below: int, of: int, what: str) -> str:
    """A control's line: above or below it on how many of so many."""
    if not above and not below:
        return f"cannot tell ({what})"
    parts = [f"above on {above} of {of}" if above else "", f"below on {below} of {of}" if below else ""]
    return f"{', '.join(part for part in parts if part)} ({what})"
