"""A rater whose scale is turned round, and a judge that repeats one rater: how often is one named, and rightly?

Through `judge.analysis.diagnose`, p adjusted by Holm's method over all tests of the study, in the model of bounded
raters and in that of `worlds`, 10 systems, three criteria. A false alarm is a study in which anybody is named wrongly
on any criterion. Noise stands for the hardest case: a judge, or a person, whose ratings have nothing to do with the
stories, so that the correlation is 0.

    python -m tests.benchmarks.simulations.named_raters --studies 1000
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from judge.analysis.diagnose import diagnose
from judge.analysis.diagnose.kinds import COPY, REVERSED, REVERSED_RATER
from tests.benchmarks.simulations.bounded_raters import POINTS, POPULATIONS, Judges
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Floats, Study, World

Making = Callable[[Judges], Floats]
ALARM, NAMED = "a judge or person is named wrongly", "the judge or person is named"
KINDS = (COPY, REVERSED, REVERSED_RATER)
POOL = 20


def _noise(judges: Judges) -> Floats:
    return judges.noisy(1.0)


def _mostly(judges: Judges) -> Floats:
    return judges.repeats_rater(0, 0.8)


def _as_they_are(study: Study, rng: np.random.Generator) -> Floats:
    return study.people


def _one_turned(study: Study, rng: np.random.Generator) -> Floats:
    people = study.people.copy()
    people[..., 0] = POINTS + 1 - people[..., 0]
    return people


def _one_noise(study: Study, rng: np.random.Generator) -> Floats:
    people = study.people.copy()
    people[..., 0] = rng.permuted(people[..., 0], axis=1)
    return people


def _three_of_pool(study: Study, rng: np.random.Generator) -> Floats:
    turn = np.argsort(rng.random((study.n, study.people.shape[2])), axis=1)
    return np.where(turn < 3, study.people, np.nan)


People = Callable[[Study, np.random.Generator], Floats]


def study(seed: int, *, population: str, making: Making, people: People, world: World, planted: str | None) -> Outcome:
    """Who is named in one study. `planted` is the kind of test that is to name the judge, or the first person."""
    rng = np.random.default_rng(seed)
    drawn = POPULATIONS[population](world, rng)
    made = drawn.study()
    made = replace(made, people=people(made, rng))
    result = diagnose(made.with_judges(judge=making(Judges(drawn, made))).table())
    named = {
        (finding.diagnostic, finding.label)
        for finding in result.found
        if finding.diagnostic in KINDS and (finding.adjusted or 0.0) <= result.options.alpha
    }
    if planted is None:
        return {ALARM: float(bool(named))}
    right = {(planted, None if planted == REVERSED else "w0")}
    return {NAMED: float(right <= named), ALARM: float(bool(named - right))}


CASES: dict[str, tuple[Making, People, str | None, dict[str, int]]] = {
    "one more person": (Judges.one_more, _as_they_are, None, {}),
    "one more person, 2 people": (Judges.one_more, _as_they_are, None, {"people": 2}),
    "one more person, 5 people": (Judges.one_more, _as_they_are, None, {"people": 5}),
    f"one more person, 3 of {POOL} workers a story": (Judges.one_more, _three_of_pool, None, {"people": POOL}),
    "honest model": (Judges.honest_model, _as_they_are, None, {}),
    "constant": (Judges.constant, _as_they_are, None, {}),
    "noise": (_noise, _as_they_are, None, {}),
    "one more person, one of the people noise": (Judges.one_more, _one_noise, None, {}),
    "judge turned round": (Judges.turned_round, _as_they_are, REVERSED, {}),
    "one of the people turned round": (Judges.one_more, _one_turned, REVERSED_RATER, {}),
    "repeats one rater": (Judges.repeats_rater, _as_they_are, COPY, {}),
    "repeats one rater on 80 %": (_mostly, _as_they_are, COPY, {}),
}

SCENES = [
    scene(
        f"{population}; {prompts} story-prompts; {name}",
        study,
        {ALARM: Bar(high=5.0)},
        population=population,
        making=making,
        people=people,
        planted=planted,
        world=World(story_prompts=prompts, criteria=3, **size),
    )
    for population in POPULATIONS
    for prompts in (12, 30)
    for name, (making, people, planted, size) in CASES.items()
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
