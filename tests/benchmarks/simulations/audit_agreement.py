"""Annotators of several explanations a story: do the intervals of AC1, kappa and alpha hold the true agreement?

Explanations of one story share much of what makes an annotator see an error, since they are about one text; errors are
rare or common, annotators differ in strictness and in care, and stories have from a few to twice as many explanations.
The truth is the coefficient of the same three annotators over 40,000 explanations. Through
`audit.results.rates.agreement`, which `judge audit report` prints.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np

from judge.explanations.audit.answer_matrix import Answered
from judge.explanations.audit.report import agreement
from judge.stats.agreement import chance_agreement, krippendorff
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Codes, Floats

COVERED = Bar(93.0, 97.0)
RATERS = 3


def answers(
    stories: int, each: int, rare: float, people: np.random.Generator, rng: np.random.Generator
) -> tuple[Floats, Codes]:
    """Answers (items, raters) of annotators drawn by `people`, and the story of each item."""
    strict, care = people.normal(0, 0.3, RATERS), people.uniform(0.5, 1.2, RATERS)
    count = np.maximum(1, rng.integers(each - each // 2, each + each // 2 + 1, stories))
    story = np.repeat(np.arange(stories), count)
    of_story = (rng.gamma(1.0, 1.0, stories) - 1.0)[story]
    shown = of_story + 0.6 * rng.standard_t(5, story.size) - rare
    seen = shown[:, None] + strict + care * rng.logistic(0, 0.4, (story.size, RATERS))
    return (seen > 0).astype(np.float64), story.astype(np.int64)


def found(given: Floats, story: Codes) -> Answered:
    """An audit's answers of one category."""
    names = tuple(f"w{i}" for i in range(RATERS))
    gap = np.full(story.size, np.nan)
    return Answered((), names, (), {"error": given}, {"error": gap}, 0, 0, gap, story, 0)


@cache
def truth(people: int, each: int, rare: float) -> dict[str, float]:
    """The three coefficients over very many stories."""
    draws = np.random.default_rng(people), np.random.default_rng(10**6 + people)
    given, _ = answers(40_000 // each, each, rare, *draws)
    both = np.array([0.0, 1.0])
    values = {
        "AC1": chance_agreement.gwet(given, categories=both).estimate.value,
        "Fleiss' kappa": chance_agreement.fleiss(given).estimate.value,
        "alpha": krippendorff.alpha(given, "nominal", np.random.default_rng(1), resamples=0).estimate.value,
        "raw agreement": chance_agreement.gwet(given).raw.value,
    }
    return {name: value for name, value in values.items() if value is not None}


def study(seed: int, *, stories: int, each: int, rare: float) -> Outcome:
    """Whether each interval holds the truth."""
    people = seed % 20
    draws = np.random.default_rng(people), np.random.default_rng(seed)
    given, story = answers(stories, each, rare, *draws)
    made = agreement(found(given, story), "error", resamples=1000, seed=1)
    true = truth(people, each, rare)
    values = {
        "AC1": made.ac1.estimate,
        "Fleiss' kappa": made.fleiss.estimate,
        "alpha": made.alpha.estimate,
        "raw agreement": made.ac1.raw,
    }
    return {
        f"{name}, truth inside": None
        if one.low is None or one.high is None
        else float(one.low <= true[name] <= one.high)
        for name, one in values.items()
    }


SCENES = [
    scene(
        f"{each} explanations a story of {stories} stories, errors {'rare' if rare > 1 else 'common'}",
        study,
        dict.fromkeys(
            (f"{name}, truth inside" for name in ("AC1", "Fleiss' kappa", "alpha", "raw agreement")), COVERED
        ),
        stories=stories,
        each=each,
        rare=rare,
    )
    for stories in (20, 40)
    for each in (1, 5, 10)
    for rare in (0.3, 1.2)
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
