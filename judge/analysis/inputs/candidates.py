"""Who is set beside people: each judge cell, the control out of fold, and people one by one. Never pairs by position.

The tables of accuracy, labels, drift and replacement share it, so that all of them compare the same ratings and say
alike what cannot be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE, Predict, Remarks, control_label, control_note
from judge.analysis.inputs.criterion_matching import Match, match
from judge.printing.tables import Column
from judge.rating_matrix import Raters, RatingMatrix
from judge.wording import joined

Floats = NDArray[np.float64]

NO_TEXTS = "control unavailable: the stories' texts are not in the result folder"


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Ratings of n stories by one judge cell, by the control, or (ceiling) by people one at a time.

    Attributes
    ----------
    kind : str
        ``judge``, ``control`` or ``ceiling``.
    labels : dict
        `dataset, run, judge, eval_prompt, criterion, against, repeats, unrated, missing`.
    ratings, people : array, shape (n,), or None
        Ratings, and the people's means they are set against; None where `reason` says why there are none.
    raters : Raters or None
        For the ceiling, where people are known.
    """

    kind: str
    labels: dict[str, Any]
    ratings: Floats | None
    people: Floats | None
    raters: Raters | None = None
    reason: str | None = None

    @property
    def sides(self) -> tuple[Floats, Floats]:
        """Ratings and the people's means; only for those that can be compared (see `comparable`)."""
        if self.ratings is None or self.people is None:
            raise ValueError(self.reason or "people one by one have no single rating")
        return self.ratings, self.people


def comparable(
    matrices: Sequence[RatingMatrix], against: str | None, predict: Predict | None
) -> tuple[list[tuple[RatingMatrix, Candidate]], Remarks]:
    """Judges and control that have ratings to compare, with their dataset; notes say who has none, and why."""
    remarks = Remarks()
    found = []
    for matrix in matrices:
        for one in candidates(matrix, against, predict, remarks, ceiling=False):
            if one.ratings is None or one.people is None:
                remarks.notes[joined(f"{matrix.dataset}, {one.labels['criterion']}: ", one.reason or "")] = None
            else:
                found.append((matrix, one))
    return found, remarks


def candidates(
    matrix: RatingMatrix, against: str | None, predict: Predict | None, remarks: Remarks, *, ceiling: bool
) -> Iterator[Candidate]:
    """Criterion by criterion of the people: ceiling if asked for, judges, control; last, criteria nobody rated."""
    found = match(matrix, against)
    remarks.notes.update(dict.fromkeys(found.notes))
    for j in range(len(matrix.criteria)):
        cells = [i for i, partner in enumerate(found.partner) if partner == j]
        if not cells and matrix.cells:
            continue
        if ceiling:
            yield _ceiling(matrix, j)
        for i in cells:
            yield Candidate(JUDGE, cell_labels(matrix, i, matrix.criteria[j]), matrix.judge[i], matrix.people[j])
        if predict is not None:
            yield control(matrix, j, predict, remarks)
    yield from _unpaired(matrix, found)


def control(matrix: RatingMatrix, j: int, predict: Predict, remarks: Remarks) -> Candidate:
    """The control judge's ratings for one criterion of the people, out of fold or by the shipped model."""
    labels, people = _people_labels(matrix, CONTROL, j), matrix.people[j]
    if not (matrix.stories["text"].astype(bool).any() or len(matrix.features.columns)):
        return Candidate("control", labels, None, people, reason=NO_TEXTS)
    made = predict(matrix.stories, pd.Series(people, index=matrix.stories.index), matrix.criteria[j])
    remarks.made[f"control:{made.how}"] = None
    for note in (control_note(made.how), made.reason and f"control: {made.reason}"):
        if note:
            remarks.notes[note] = None
    labels |= {"judge": control_label([made.how])}
    return Candidate("control", labels, np.asarray(made.values, dtype=np.float64), people)


def cell_labels(matrix: RatingMatrix, i: int, against: str | None) -> dict[str, Any]:
    """What a row says of judge cell i."""
    asked, valid = matrix.asked[i], matrix.valid[i]
    rated = valid[valid > 0]
    return {
        "dataset": matrix.dataset,
        **matrix.cells[i]._asdict(),
        "against": against,
        "repeats": float(rated.mean()) if rated.size else 0.0,
        "unrated": int(((asked > 0) & (valid == 0)).sum()),
        "missing": ", ".join(f"{status} {count}" for status, count in matrix.missing[i].items()),
    }


def first_columns(rows: list[dict[str, Any]]) -> list[Column]:
    """The columns that say what a row is about: dataset and people's criterion only where rows differ in them."""
    columns = [Column("dataset", "dataset")] if len({row["dataset"] for row in rows}) > 1 else []
    columns += [Column("criterion", "criterion"), Column("judge", "judge"), Column("eval_prompt", "eval prompt")]
    if any(row["against"] not in (None, row["criterion"]) for row in rows):
        columns.append(Column("against", "against people's"))
    return columns


def last_columns() -> list[Column]:
    """The columns that say what was lost."""
    return [Column("unrated", "unrated"), Column("missing", "repeats lost")]


def _ceiling(matrix: RatingMatrix, j: int) -> Candidate:
    raters, labels = matrix.by_rater(j), _people_labels(matrix, CEILING, j)
    if not raters.known:
        return Candidate("ceiling", labels, None, None, reason=f"human ceiling unavailable: {raters.reason}")
    return Candidate("ceiling", labels, None, matrix.people[j], raters=raters)


def _unpaired(matrix: RatingMatrix, found: Match) -> Iterator[Candidate]:
    for i, partner in enumerate(found.partner):
        if partner is None:
            reason = found.reason or "nobody rated this criterion"
            yield Candidate(JUDGE, cell_labels(matrix, i, None), None, None, reason=reason)


def _people_labels(matrix: RatingMatrix, label: str, j: int) -> dict[str, Any]:
    name = matrix.criteria[j]
    labels = {"dataset": matrix.dataset, "run": None, "judge": label, "eval_prompt": None, "criterion": name}
    return labels | {"against": name, "repeats": None, "unrated": None, "missing": None}
