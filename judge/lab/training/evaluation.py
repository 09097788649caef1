"""Out-of-fold evaluation: agreement with people against text length and the control, and calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judge.analysis.frames import flat as flat_cells
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.agreement import Agreement, AgreementRow, agreement_rows
from judge.analysis.preference.ranked import agreement_tables
from judge.analysis.preference.sides import Side
from judge.backends.trained.model import Encoder, Head
from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain
from judge.stats.correlation.coefficients import spearman
from judge.stats.correlation.kendall import codes
from judge.stats.correlation.kendall import tau_b as kendall_tau
from judge.stats.resampling import resampled_correlations as resampled_tau
from judge.stats.resampling.bootstrap import draw, expanded

# Fifths: with the least that is trained on, 40 units, eight stand in each.
BINS = 5
MODEL, LONGER, CONTROL = "trained, out of fold", "longer is better", "control (surface), out of fold"


@dataclass(frozen=True, slots=True, eq=False)
class PreferenceCheck:
    """Out-of-fold predictions of preferences on one criterion. `odds`, (repetitions, pairs), is the log odds that story
    a is preferred to story b."""

    criterion: str
    dataset: str
    side: Side
    odds: Floats

    @property
    def by_folding(self) -> list[float]:
        """Accuracy on the pairs that people decided, in each repetition; a tie of the model counts one half."""
        net = self.side.net
        decided = np.nan_to_num(net) != 0
        return [float(np.mean((np.sign(odds[decided]) * net[decided] + 1) / 2)) for odds in self.odds]


@dataclass(frozen=True, slots=True, eq=False)
class RatingCheck:
    """Out-of-fold predictions of ratings on one criterion, with the control's, and text length. `people` (stories,) is
    the mean rating, NaN = none; `scores` is (repetitions, stories). `groups` are held out together."""

    criterion: str
    dataset: str
    people: Floats
    scores: Floats
    control: Floats
    length: Floats
    groups: Sequence[str]


@dataclass(frozen=True, slots=True)
class RatingRow:
    """Correlation of a predictor (model, length, control) with mean human ratings over all stories. `tau` is Kendall's
    tau-b, `over_control` minus the control's on the same stories. `lowest` and `highest` are the model's tau over
    repetitions; None for others."""

    dataset: str
    criterion: str
    predictor: str
    tau: Estimate
    rho: float
    over_control: Estimate
    lowest: float | None
    highest: float | None

    def record(self) -> dict[str, object]:
        return cells_of(self, *(field.name for field in fields(self)), n=self.tau.n)


@dataclass(frozen=True, slots=True, eq=False)
class RatingAgreement(Signed):
    """Correlations of the model, of length and of the control with people's ratings."""

    rows: tuple[RatingRow, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each criterion of a dataset and each predictor."""
        flat = []
        for row in self.rows:
            plain = row.record()
            estimates = {name: getattr(row, name) for name in ("tau", "over_control")}
            flat.append({**{k: v for k, v in plain.items() if k not in estimates}, **flat_cells(estimates)})
        return self.signed(flat)


@dataclass(frozen=True, slots=True)
class CalibrationRow:
    """One of five bins of pairs (or stories), ordered by prediction. `predicted` is the mean probability that people
    prefer the model's story, or the rating; `people` the share of pairs where they do, or their mean rating."""

    criterion: str
    what: str
    bin: int
    n: int
    predicted: float
    people: float


@dataclass(frozen=True, slots=True, eq=False)
class Calibrations(Signed):
    """Calibration of predictions in the form that the trained judge returns: probabilities and ratings."""

    rows: tuple[CalibrationRow, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row per bin."""
        names = ("criterion", "what", "bin", "n", "predicted", "people")
        return self.signed([cells_of(row, *names) for row in self.rows], names)


def preference_rows(check: PreferenceCheck, options: RankOptions, name: str) -> Iterator[AgreementRow]:
    """Agreement on the same pairs of every person, of length (longer is preferred), of the control and of the model."""
    net, pairs = np.sign(check.odds.mean(axis=0)), check.side.pairs
    defined = np.flatnonzero(~np.isnan(net))
    ended = np.column_stack([net[defined] > 0, net[defined] < 0, net[defined] == 0]).astype(np.float64)
    nobody = np.full(defined.size, None, dtype=object)
    forward = np.ones(defined.size, dtype=bool)
    lost = pairs.n - defined.size
    side = Side(
        pairs,
        "judge",
        None,
        name,
        None,
        check.criterion,
        defined,
        forward,
        ended,
        net[defined],
        nobody,
        lost,
        placed=False,
    )
    yield from agreement_rows(pairs, (check.side, side), options)


def rating_rows(check: RatingCheck, resamples: int, seed: int) -> Iterator[RatingRow]:
    """Correlations of model, length and control, with intervals by resampled story-prompts."""
    mean = check.scores.mean(axis=0)
    kept = ~(np.isnan(check.people) | np.isnan(mean) | np.isnan(check.control))
    people = codes(check.people[kept])
    unit = np.unique(np.asarray(check.groups)[kept], return_inverse=True)[1].reshape(-1).astype(np.int64)
    predictors = {MODEL: mean[kept], LONGER: check.length[kept], CONTROL: check.control[kept]}
    drawn = draw(unit, resamples, np.random.default_rng(seed), "boot-inputs")
    values = {name: kendall_tau(codes(x), people) for name, x in predictors.items()}
    again = {name: resampled_tau.tau_b(drawn, codes(x), people) for name, x in predictors.items()}
    method = "boot-inputs, expanded percentile, 95 %"
    units = int(unit.max()) + 1

    def estimate(value: float, resampled: Floats) -> Estimate:
        if np.isnan(value):
            return Estimate.undefined("undefined: all values are equal")
        return expanded(Estimate(value, int(kept.sum())), resampled, units, method)

    each = [kendall_tau(codes(folding_scores[kept]), people) for folding_scores in check.scores]
    for name, x in predictors.items():
        apart = estimate(values[name] - values[CONTROL], again[name] - again[CONTROL])
        yield RatingRow(
            check.dataset,
            check.criterion,
            name,
            estimate(values[name], again[name]),
            spearman(x, check.people[kept]),
            Estimate.undefined("the control itself") if name == CONTROL else apart,
            min(each) if name == MODEL else None,
            max(each) if name == MODEL else None,
        )


def preference_bins(check: PreferenceCheck, slope: float) -> Iterator[CalibrationRow]:
    """Five bins of pairs by the model's certainty; `slope` is the factor that calibrates log odds."""
    odds, net = slope * check.odds.mean(axis=0), check.side.net
    decided = (np.nan_to_num(net) != 0) & ~np.isnan(odds)
    sure, right = expit(np.abs(odds[decided])), np.sign(odds[decided]) == net[decided]
    yield from _bins(check.criterion, "p of the preferred", sure, right.astype(np.float64))


def rating_bins(check: RatingCheck, predicted: Floats) -> Iterator[CalibrationRow]:
    """Five bins of stories by predicted rating, with both means."""
    kept = ~(np.isnan(predicted) | np.isnan(check.people))
    yield from _bins(check.criterion, "rating", predicted[kept], check.people[kept])


def _bins(criterion: str, quantity: str, predicted: Floats, people: Floats) -> Iterator[CalibrationRow]:
    order = np.argsort(predicted, kind="stable")
    for k, part in enumerate(np.array_split(order, BINS)):
        if part.size:
            yield CalibrationRow(
                criterion, quantity, k + 1, int(part.size), float(predicted[part].mean()), float(people[part].mean())
            )


def agreement(
    checks: Sequence[PreferenceCheck], name: str, seed: int, parts: tuple[str, ...], notes: tuple[str, ...]
) -> Agreement | None:
    """Agreement of the model with people on all criteria; None without preferences. `parts` are added to the signature,
    and `notes` to those under the table."""
    if not checks:
        return None
    options = RankOptions(seed=seed)
    rows = tuple(row for check in checks for row in preference_rows(check, options, name))
    spreads = tuple(
        f"{check.criterion}: {len(check.by_folding)} foldings by story-prompt gave "
        f"{100 * min(check.by_folding):.1f} to {100 * max(check.by_folding):.1f} %"
        for check in checks
    )
    return Agreement(rows=rows, options=options, signature_parts=parts, notes=(*spreads, *notes))


# Data class for the result of training: the model's folder, its card, and its out-of-fold evaluation.


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A trained model with its card, agreement with people (None without their data) and calibration."""

    folder: Path
    card: dict[str, Any]
    preferences: Agreement | None
    ratings: RatingAgreement | None
    calibrations: Calibrations


# Data class for the result of fitting, used for linear models and for encoders.


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Result of fitting a linear model or an encoder; `facts` are for the model card."""

    heads: Sequence[Head]
    preferences: Sequence[PreferenceCheck]
    ratings: Sequence[RatingCheck]
    facts: dict[str, Any]
    encoder: Encoder | None = None
    notes: tuple[str, ...] = ()


# Tables for printing the results of training.


def training_tables(result: Trained) -> list[Table]:
    """Tables of agreement with people, then of calibration."""
    agreements = [] if result.preferences is None else agreement_tables(result.preferences)
    agreements += [] if result.ratings is None else [_ratings(result.ratings)]
    return [*agreements, _calibration(result.calibrations)]


def _ratings(result: RatingAgreement) -> Table:
    columns = [
        *([Column("dataset", "dataset")] if len({row.dataset for row in result.rows}) > 1 else []),
        *plain("criterion", "predictor"),
        Column("tau", "tau x 100", digits=1, factor=100),
        Column("lowest", "lowest folding", digits=1, factor=100),
        Column("highest", "highest folding", digits=1, factor=100),
        Column("rho", "rho x 100", digits=1, factor=100),
        Column("over_control", "tau minus control", digits=1, factor=100),
        Column("n", "stories"),
    ]
    keys = [column.key for column in columns]
    rows = [{key: row.record()[key] for key in keys} for row in result.rows]
    return Table("Agreement with people's ratings, out of fold", columns, rows, result.signature, result.notes)


def _calibration(result: Calibrations) -> Table:
    columns = [
        Column("criterion", "criterion"),
        Column("what", "quantity"),
        Column("bin", "fifth"),
        *plain("predicted", "people", "n"),
    ]
    rows = [cells_of(row, *(column.key for column in columns)) for row in result.rows]
    return Table("Calibration, out of fold", columns, rows, result.signature, result.notes)
