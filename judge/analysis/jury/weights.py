"""Whom a jury listens to: weights of members, means over the folds that fitted them. Never one fold's alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge.analysis.jury.jury import Held, Verdict
from judge.printing.tables import Column, Table

_UNITS = (
    "weight: people's points (ordinal: logits) per standard deviation of the predictor among training stories, mean "
    "over the folds that used the combiner; of a stack: people's points per point of the stacked combiner's rating"
)
_SHARED = "predictors are correlated, and a ridge shares a weight out among them: read sums rather than single weights"
_EQUAL = "mean, median and calibrated weigh all members alike and have no rows"


@dataclass(frozen=True, slots=True)
class Weight:
    """One predictor's weight in one combiner: mean and standard deviation over the folds that used it."""

    combiner: str
    source: str
    predictor: str
    own: bool
    mean: float
    spread: float
    folds: int


def weights_of(verdict: Verdict) -> list[Weight]:
    """Weights of one criterion's jury, in order of combiner and predictor."""
    panel = verdict.panel
    known: dict[tuple[str, str, str, bool], list[float]] = {}
    for folding in verdict.foldings:
        for fold in folding.weights:
            if fold.combiner == "stack":
                names = [(f"combiner: {base}", f"combiner: {base}", False) for base in fold.stacked]
            else:
                names = list(zip(panel.sources, panel.labels, panel.own.tolist(), strict=True))
            for (source, label, own), weight in zip(names, fold.weights.tolist(), strict=True):
                if own or fold.combiner != "weighted":  # which reads own columns only
                    known.setdefault((fold.combiner, source, label, own), []).append(weight)
    return [Weight(*key, float(np.mean(v)), float(np.std(v)), len(v)) for key, v in known.items()]


def tables(juries: Sequence[Held], line: str, *, predictors: bool) -> list[Table]:
    """Weights summed by member, and, where asked for, of each predictor."""
    found = [_by_member(juries, line)]
    if predictors:
        found.append(_by_predictor(juries, line))
    return found


def place_columns(juries: Sequence[Held]) -> list[Column]:
    """Columns that say which dataset and criterion a row is about."""
    several = [Column("dataset", "dataset")] if len(juries) > 1 else []
    return [*several, Column("criterion", "criterion")]


def _by_member(juries: Sequence[Held], line: str) -> Table:
    rows: list[Mapping[str, Any]] = []
    for held in juries:
        for verdict in held.verdicts:
            found: dict[tuple[str, str], list[Weight]] = {}
            for weight in weights_of(verdict):
                found.setdefault((weight.combiner, weight.source), []).append(weight)
            place = {"dataset": held.matrix.dataset, "criterion": verdict.panel.criterion}
            for (combiner, source), parts in sorted(found.items(), key=_heaviest_first):
                own, others = [w.mean for w in parts if w.own], [w.mean for w in parts if not w.own]
                sums = {"own": sum(own) if own else None, "others": sum(others) if others else None}
                last = {"total": sum(own) + sum(others), "folds": parts[0].folds}
                rows.append({**place, "combiner": combiner, "source": source, **sums, **last})
    columns = [
        *place_columns(juries),
        Column("combiner", "combiner"),
        Column("source", "member"),
        Column("own", "its ratings of the criterion", digits=3),
        Column("others", "of other criteria, net", digits=3),
        Column("total", "sum", digits=3),
        Column("folds", "folds"),
    ]
    return Table("Weights of the jury's members, mean over folds", columns, rows, line, [_UNITS, _SHARED, _EQUAL])


def _heaviest_first(item: tuple[tuple[str, str], list[Weight]]) -> tuple[str, float]:
    (combiner, _), parts = item
    return combiner, -sum(weight.mean for weight in parts)


def _by_predictor(juries: Sequence[Held], line: str) -> Table:
    rows = [
        {
            "dataset": held.matrix.dataset,
            "criterion": verdict.panel.criterion,
            "combiner": weight.combiner,
            "predictor": weight.predictor,
            "weight": weight.mean,
            "spread": weight.spread,
            "folds": weight.folds,
        }
        for held in juries
        for verdict in held.verdicts
        for weight in weights_of(verdict)
    ]
    columns = [
        *place_columns(juries),
        Column("combiner", "combiner"),
        Column("predictor", "predictor"),
        Column("weight", "weight", digits=3),
        Column("spread", "sd over folds", digits=3),
        Column("folds", "folds"),
    ]
    return Table("Weights of the jury's predictors, mean over folds", columns, rows, line, [_UNITS, _SHARED, _EQUAL])
