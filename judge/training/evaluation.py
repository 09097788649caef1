"""Out-of-fold evaluation of a trained model: its agreement with people compared with that of text length and of the
control (a surface-feature baseline), and its calibration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from judge.analysis.options.signed import Signed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.agreement import Agreement, AgreementRow, agreement_rows, flat_estimates
from judge.analysis.preference.sides import Side
from judge.stats.correlation.coefficients import spearman
from judge.stats.correlation.kendall import codes
from judge.stats.correlation.kendall import tau_b as kendall_tau
from judge.stats.estimate import Estimate
from judge.stats.resampling import resampled_tau
from judge.stats.resampling.bootstrap import draw, expanded

Floats = NDArray[np.float64]

BINS = 5
"""Fifths: with the least that is trained on, 40 units, eight stand in each."""
MODEL, LONGER, CONTROL = "trained, out of fold", "longer is better", "control (surface), out of fold"


@dataclass(frozen=True, slots=True, eq=False)
class PreferenceCheck:
    """Out-of-fold predictions for one criterion's pairs of stories: `odds` (repetitions of cross-validation, pairs) are
    log odds that story a is preferred, and `side` holds people's preferences.
    """

    criterion: str
    dataset: str
    side: Side
    odds: Floats

    @property
    def by_folding(self) -> list[float]:
        """Accuracy in each repetition of the cross-validation, where ties count one half."""
        net = self.side.net
        decided = np.nan_to_num(net) != 0
        return [float(np.mean((np.sign(odds[decided]) * net[decided] + 1) / 2)) for odds in self.odds]


@dataclass(frozen=True, slots=True, eq=False)
class RatingCheck:
    """Out-of-fold predictions for one criterion's stories: `scores` (repetitions of cross-validation, stories), the
    mean human ratings, and for comparison the control's scores and text length.
    """

    criterion: str
    dataset: str
    people: Floats
    scores: Floats
    control: Floats
    length: Floats
    groups: Sequence[str]


@dataclass(frozen=True, slots=True)
class RatingRow:
    """Correlation of one predictor (model, length or control) with mean human ratings over all stories. `over_control`
    is its difference from the control on the same stories. `lowest` and `highest` are the range of tau over repetitions
    of the cross-validation, None for length and control.
    """

    dataset: str
    criterion: str
    predictor: str
    tau: Estimate
    rho: float
    over_control: Estimate
    lowest: float | None
    highest: float | None

    def record(self) -> dict[str, object]:
        """The row as plain data, by column."""
        about: dict[str, object] = {"dataset": self.dataset, "criterion": self.criterion, "predictor": self.predictor}
        return about | {
            "tau": self.tau,
            "rho": self.rho,
            "over_control": self.over_control,
            "lowest": self.lowest,
            "highest": self.highest,
            "n": self.tau.n,
        }


@dataclass(frozen=True, slots=True, eq=False)
class RatingAgreement(Signed):
    """Agreement of the trained model, of length and of the control with people's ratings."""

    rows: tuple[RatingRow, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row per predictor and criterion."""
        flat = []
        for row in self.rows:
            plain = row.record()
            estimates = {name: getattr(row, name) for name in ("tau", "over_control")}
            flat.append({**{k: v for k, v in plain.items() if k not in estimates}, **flat_estimates(estimates)})
        return self.signed(flat)


@dataclass(frozen=True, slots=True)
class CalibrationRow:
    """One bin with a fifth of the pairs or stories, ordered by prediction: the mean prediction, and the share of pairs
    in which people agreed or the mean human rating.
    """

    criterion: str
    what: str
    bin: int
    n: int
    predicted: float
    people: float


@dataclass(frozen=True, slots=True, eq=False)
class Calibrations(Signed):
    """Calibration of out-of-fold predictions, in the form in which the back-end returns them, against human preferences
    and ratings.
    """

    rows: tuple[CalibrationRow, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row per bin."""
        names = ("criterion", "what", "bin", "n", "predicted", "people")
        return self.signed([{name: getattr(row, name) for name in names} for row in self.rows], names)


def preference_rows(check: PreferenceCheck, options: RankOptions, name: str) -> Iterator[AgreementRow]:
    """Agreement with people's preferences on the same pairs, with one row each for every person, for length (preferring
    the longer story), for the control and for the model.
    """
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
    """Agreement of the model, of length and of the control with people's ratings, with intervals from resampled
    story-prompts.
    """
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
    """Calibration of preferences in five bins of pairs, ordered by the model's certainty: its mean probability of the
    story it prefers, and the share of pairs in which people prefer the same story.
    """
    odds, net = slope * check.odds.mean(axis=0), check.side.net
    decided = (np.nan_to_num(net) != 0) & ~np.isnan(odds)
    sure, right = expit(np.abs(odds[decided])), np.sign(odds[decided]) == net[decided]
    yield from _bins(check.criterion, "p of the preferred", sure, right.astype(np.float64))


def rating_bins(check: RatingCheck, predicted: Floats) -> Iterator[CalibrationRow]:
    """Calibration of ratings in five bins of stories, ordered by predicted rating: mean predicted rating and mean human
    rating.
    """
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
    """Agreement with people's preferences on all criteria as one result; None without any preferences."""
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
