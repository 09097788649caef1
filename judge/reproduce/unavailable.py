"""Published cells that the released score file and audit cannot give: why, and what would. Never guesses one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

import numpy as np

from judge.reproduce.cell import Numbers, Place
from judge.reproduce.family import Family
from judge.reproduce.recipe import OURS, Recipe
from judge.reproduce.scores import EVAL_PROMPTS, NAMES, Scores
from judge.stats import icc
from judge.stats.estimate import Estimate

HUMAN_ICC, HUMAN_HALF, JUDGE_ICC = "icc2k_human", "icc2k_human_ci95_halfwidth", "icc2k_judge"
LIKERT = "mean_likert_by_eval_prompt"
ELSEWHERE = {
    "contamination_rate": "Min-K% Prob of five models on WritingPrompts: neither texts, model scores nor the threshold "
    "are released, and the printed values are not at hand; this version has no command for it",
    "contamination_auc": "Min-K% Prob of five models on BookMIA: no model scores are released, and the printed values "
    "are not at hand; this version has no command for it",
    "keywords": "chosen by hand from 30 extracted keywords a criterion; the explanations are not released with the "
    "score file, and this version has no command for it",
}
"""Tables of which not even the printed cells are at hand."""

_RERUN = "judge import hanna-answers FILE --judge NAME, judge run, {}"
REASONS: Mapping[str, str] = {
    HUMAN_ICC: "needs to know who gave which rating, and the file has positions; with the annotations: "
    "judge data fetch hanna, judge consistency of a run on it",
    HUMAN_HALF: f"as {HUMAN_ICC}: judge consistency of a run on dataset hanna",
    JUDGE_ICC: "needs the three repeats, and the file holds their mean; with the study's raw answers: "
    + _RERUN.format("judge consistency RUN --parser as-published"),
    LIKERT: "over a set of systems that is not named, stories by language models among them; with the raw answers: "
    + _RERUN.format("judge systems RUN"),
}

_EVERY_SYSTEM = Recipe(keep_human=True)


def family(scores: Scores, printed: Mapping[Place, float | None]) -> Family:
    """Every cell in print that the files cannot give, and one for each table that is not at hand at all."""
    return Family(
        numbers=cache(partial(numbers, printed)),
        digits=dict.fromkeys((*REASONS, *ELSEWHERE), 2),
        estimates=partial(estimates, scores),
        missing=lambda place: REASONS.get(place[0]) or ELSEWHERE.get(place[0]),
        remarks=_remarks,
    )


def numbers(printed: Mapping[Place, float | None], recipe: Recipe) -> Numbers:  # noqa: ARG001  as all families
    """No recipe gives them."""
    found: Numbers = {place: None for place in printed if place[0] in REASONS}
    return found | {(table, "all", "all"): None for table in ELSEWHERE}


def estimates(scores: Scores) -> dict[Place, Estimate]:
    """What the file does say: people's one-way ICC, and judges' means over its eleven systems."""
    found: dict[Place, Estimate] = {}
    for short in NAMES:
        positions = scores.positions(short, _EVERY_SYSTEM)
        found[HUMAN_ICC, short, "Human"] = icc.family(positions.reshape(3, -1).T)["ICC(1,k)"].estimate
    for judge in ("Beluga-13B", "Llama-13B", "Mistral-7B"):
        for number in EVAL_PROMPTS:
            recipe = Recipe(on_scale=OURS.on_scale, keep_human=True)
            values = np.stack([scores.side(f"{judge} {number}", short, recipe) for short in NAMES])
            known = values[~np.isnan(values)]
            found[LIKERT, judge, f"EP {number}"] = Estimate(float(known.mean()), n=known.size)
    return found


def _remarks(place: Place) -> tuple[str, ...]:
    if place[0] == HUMAN_ICC:
        return ("corrected: ICC(1,k), the form that does not need to know the raters, eleven systems",)
    if place[0] == LIKERT:
        return ("corrected: the eleven systems of the file, six criteria, means off the scale left out",)
    return ()
