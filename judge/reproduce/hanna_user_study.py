"""The HANNA study's audit of 100 explanations by three annotators: agreement and error rates. The reader
(`judge.inputs.datasets.studies.hanna`) inverts the answers to the first question. Columns of the file are positions,
not persons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from judge.base.estimate import Estimate
from judge.inputs.datasets.studies.hanna import ANNOTATORS, ITEMS, QUESTIONS, read_items
from judge.reproduce.cell import Numbers, Place, Recipe
from judge.reproduce.study import Family
from judge.stats.agreement import chance_agreement
from judge.stats.estimation import means

AC1, HALF, ERROR_RATE = "user_study_AC1", "user_study_AC1_ci95_halfwidth", "user_study_error_rate"
UNUSED_NAME = "Incorrectness"
UNKNOWN_COUNT = (
    "the study does not say how it counted, and mean, majority, any and all of the released answers give other rates"
)
NO_EXPLANATION = "No Explanation"
RAW_ANSWERS = (
    "the study counts all answers, and the file holds the 100 that were audited; the raw answers give the rate: "
    "judge import FILE --judge NAME, judge run, judge ratings RUN (its column explanation)"
)


@dataclass(frozen=True, slots=True)
class UserStudy:
    """Answers of HANNA's user study; `errors` are 0 and 1, shape (100 explanations, 3 positions). `unused` answers the
    question that the study dropped; NaN where it was not asked."""

    path: Path
    errors: Mapping[str, NDArray[np.float64]]
    unused: NDArray[np.float64]


def read_user_study(path: Path) -> UserStudy:
    """`user_study.csv`. Raises DataError for a file that `hanna_user_study.read_items` refuses."""
    items = read_items(path)
    errors = {name: np.array([item.errors[name] for item in items], dtype=np.float64) for name in QUESTIONS}
    # None becomes NaN: an audit's export does not ask this question.
    return UserStudy(path, errors, np.array([item.unused for item in items], dtype=np.float64))


def user_study_family(study: UserStudy) -> Family:
    """AC1, half-width of its interval, and error rates."""
    return Family(
        numbers=cache(partial(user_study_numbers, study)),
        digits={AC1: 2, HALF: 2, ERROR_RATE: 2},
        switches=("unrounded",),
        estimates=partial(estimates, study),
        missing=lambda place: RAW_ANSWERS if place[1] == NO_EXPLANATION else None,
        known_cause=partial(_known_cause, study),
        remarks=partial(_remarks, study),
    )


def user_study_numbers(study: UserStudy, recipe: Recipe) -> Numbers:
    """AC1, the half-width of its interval, and the error rate as a share of 300 answers, for each error. The study's
    half-width is the rounded upper end minus the rounded AC1; with `unrounded`, AC1 minus the lower end."""
    values: Numbers = {}
    for name, answers in study.errors.items():
        agreement = chance_agreement.gwet(answers).estimate
        values[AC1, name, "AC1"] = agreement.value
        values[HALF, name, "AC1"] = _half_width(agreement, recipe)
        values[ERROR_RATE, name, "Rate"] = float(answers.mean())
    values[ERROR_RATE, NO_EXPLANATION, "Rate"] = None
    values[AC1, UNUSED_NAME, "AC1"] = chance_agreement.gwet(study.unused).estimate.value
    return values


def estimates(study: UserStudy) -> dict[Place, Estimate]:
    """Corrected AC1 with a t interval over explanations, its unrounded half-width, and the error rate. Intervals of
    error rates treat explanations as clusters."""
    cells: dict[Place, Estimate] = {}
    for name, answers in study.errors.items():
        agreement = chance_agreement.gwet(answers)
        cells[AC1, name, "AC1"] = agreement.estimate
        half = None if agreement.standard_error is None else float(stdtrit(ITEMS - 1, 0.975)) * agreement.standard_error
        cells[HALF, name, "AC1"] = Estimate(half, n=ITEMS)
        rate = means.clustered(answers.mean(axis=1), np.arange(ITEMS))
        cells[ERROR_RATE, name, "Rate"] = replace(rate, method="95 %, t, clustered by explanation")
    cells[AC1, UNUSED_NAME, "AC1"] = chance_agreement.gwet(study.unused).estimate
    return cells


def _half_width(agreement: Estimate, recipe: Recipe) -> float | None:
    if agreement.value is None or agreement.high is None or agreement.low is None:
        return None
    if recipe.unrounded:
        return agreement.value - agreement.low
    return round(agreement.high, 2) - round(agreement.value, 2)


def _known_cause(study: UserStudy, place: Place) -> str | None:
    return UNKNOWN_COUNT if place[0] == ERROR_RATE and place[1] in study.errors else None


def _counted(answers: NDArray[np.float64]) -> str:
    """The rate by mean, majority, any, all, and single positions."""
    given = answers.sum(axis=1)
    ways = f"mean {answers.mean():.3f}, majority {(given >= 2).mean():.2f}, any {(given >= 1).mean():.2f}"
    alone = ", ".join(f"{rate:.2f}" for rate in answers.mean(axis=0))
    return f"ways of counting: {ways}, all {(given == ANNOTATORS).mean():.2f}, positions {alone}"


def _remarks(study: UserStudy, place: Place) -> tuple[str, ...]:
    if place[0] == ERROR_RATE and place[1] in study.errors:
        return (_counted(study.errors[place[1]]),)
    if place[0] == AC1 and place[1] == UNUSED_NAME:
        return ("every answer to this question is the same",)
    if place[0] != AC1:
        return ()
    # Raw agreement and Fleiss' kappa differ from AC1 where nearly all answers are equal.
    kappa = chance_agreement.fleiss(study.errors[place[1]])
    value = "undefined" if kappa.estimate.value is None else f"{kappa.estimate.value:.2f}"
    return (f"raw agreement {kappa.raw.value:.2f}, Fleiss' kappa {value}",)
