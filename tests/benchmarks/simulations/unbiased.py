"""How often `judge certify --require unbiased` holds for judges with a planted fault, and for honest ones.

In the model of bounded raters and in that of `worlds`, 10 systems, one criterion. The planted faults are one more
person with the own system raised by a standard deviation of quality, with half of one for a standard deviation of log
length, and without ratings of the middling 46 % of the stories; and one more person beside a single rater. Honest are
one more person, and a model that gives the rounded mean of four persons. The figures are those of
`judge.analysis.diagnose` and its limits.

    python -m tests.benchmarks.simulations.unbiased --studies 1000
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from judge.analysis.diagnose import diagnose
from judge.analysis.diagnose.kinds import bounded, found_without_limit
from judge.analysis.options.table_options import DiagnoseOptions
from tests.benchmarks.simulations.bounded_raters import POPULATIONS, Judges
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Floats, World

Making = Callable[[Judges], Floats]

HONEST: dict[str, Making] = {"one more person": Judges.one_more, "honest model": Judges.honest_model}
FAULTS: dict[str, Making] = {
    "own system + 1 sd": Judges.favours_own,
    "half a sd for length": Judges.rewards_length,
    "loses the middling 46 %": Judges.loses_middling,
    "scale turned round": Judges.turned_round,
    "repeats one rater": Judges.repeats_rater,
}
OWN = DiagnoseOptions(own=("system 0",))


def study(seed: int, *, population: str, making: Making, world: World) -> Outcome:
    """Whether `unbiased` holds, and which kinds of bias are not shown to be within their limits."""
    drawn = POPULATIONS[population](world, np.random.default_rng(seed))
    made = drawn.study()
    result = diagnose(made.with_judges(judge=making(Judges(drawn, made))).table(), OWN)
    found = [finding for finding in result.found if (finding.adjusted or 0.0) <= result.options.alpha]
    bounds = bounded(result.findings)
    outcome: Outcome = {
        "unbiased holds": float(all(bound.within for bound in bounds) and not found_without_limit(found))
    }
    return outcome | {f"{bound.finding.diagnostic} within": float(bound.within) for bound in bounds}


SCENES = [
    scene(
        f"{population}; {prompts} story-prompts, {people} {'people' if people > 1 else 'person'}; {name}",
        study,
        {"unbiased holds": Bar(high=5.0)} if name in FAULTS or people == 1 else {},
        population=population,
        making=making,
        world=World(story_prompts=prompts, people=people),
    )
    for population in POPULATIONS
    for prompts, people, judges in (
        (12, 3, FAULTS | HONEST),
        (30, 3, FAULTS | HONEST),
        (30, 1, FAULTS | HONEST),
        (96, 3, FAULTS | HONEST),
        (300, 3, HONEST),
    )
    for name, making in judges.items()
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
