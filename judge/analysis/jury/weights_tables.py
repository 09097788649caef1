"""Printed weights of a jury's members and predictors."""

from __future__ import annotations

from dataclasses import asdict

from judge.analysis.jury.criterion_columns import cells_of, criterion_columns
from judge.analysis.jury.result import Juries
from judge.analysis.jury.weights import by_member
from judge.base.printing.tables import Column, Table

_UNITS = (
    "weight: people's points (ordinal: logits) per standard deviation of the predictor among training stories, mean "
    "over the folds that used the combiner; of a stack: people's points per point of the stacked combiner's rating"
)
_SHARED = (
    "predictors are correlated, and a ridge regression divides a weight among them: interpret sums rather "
    "than single weights"
)
_EQUAL = "mean, median and calibrated weight all members equally and have no rows"


def tables(juries: Juries, *, predictors: bool) -> list[Table]:
    """A table of weights summed by member; with `predictors`, also a table of each predictor's weights."""
    return [_by_member(juries), *([_by_predictor(juries)] if predictors else [])]


def _by_member(juries: Juries) -> Table:
    rows = [
        cells_of(held, verdict) | asdict(member)
        for held, verdict in juries.verdicts()
        for member in by_member(verdict.weights)
    ]
    columns = [
        *criterion_columns(juries),
        Column("combiner", "combiner"),
        Column("source", "member"),
        Column("own", "its ratings of the criterion", digits=3),
        Column("others", "of other criteria, net", digits=3),
        Column("total", "sum", digits=3),
        Column("folds", "folds"),
    ]
    return Table(
        "Weights of the jury's members, mean over folds",
        columns,
        rows,
        juries.bare_signature,
        [_UNITS, _SHARED, _EQUAL],
    )


def _by_predictor(juries: Juries) -> Table:
    rows = [
        cells_of(held, verdict)
        | {
            "combiner": weight.combiner,
            "predictor": weight.predictor,
            "weight": weight.mean,
            "spread": weight.spread,
            "folds": weight.folds,
        }
        for held, verdict in juries.verdicts()
        for weight in verdict.weights
    ]
    columns = [
        *criterion_columns(juries),
        Column("combiner", "combiner"),
        Column("predictor", "predictor"),
        Column("weight", "weight", digits=3),
        Column("spread", "sd over folds", digits=3),
        Column("folds", "folds"),
    ]
    return Table(
        "Weights of the jury's predictors, mean over folds",
        columns,
        rows,
        juries.bare_signature,
        [_UNITS, _SHARED, _EQUAL],
    )
