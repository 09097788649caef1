"""How often a judge is said to be able to replace an annotator, and not to be below people: of uninformed judges, of a
noisy judge, and of a real further person.

In the model of bounded raters and in that of `worlds`, 10 systems, one criterion, texts whose length goes with quality
a little, so that the control and the judge that counts words know something. All judges of a study rate the same
stories. The verdicts are those of `judge summary`, with its 300 resamples.

    python -m tests.benchmarks.simulations.replacing --studies 1000
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from judge.analysis.agreement.replacement import replacement
from judge.analysis.options.agreement_options import ReplacementOptions
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.people import of_agreement
from tests.benchmarks.simulations.bounded_raters import POPULATIONS, Judges
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Floats, World

Making = Callable[[Judges], Floats]

UNINFORMED: dict[str, Making] = {
    "counts words": Judges.counts_words,
    "constant with jitter": Judges.constant,
    "knows the system alone": Judges.system_alone,
}
NOISY: dict[str, Making] = {
    "half a person's tau": lambda judges: judges.noisy(0.5),
    "60 % noise": lambda judges: judges.noisy(0.6),
}
PERSON = "one more person"
YES, NOT_BELOW, BELOW, ABOVE = "YES", "NOT BELOW", "BELOW", "ABOVE"
ALL = UNINFORMED | NOISY | {PERSON: Judges.one_more}


def study(seed: int, *, population: str, world: World) -> Outcome:
    """Which of these verdicts each judge gets."""
    drawn = POPULATIONS[population](world, np.random.default_rng(seed))
    made = drawn.study()
    judges = Judges(drawn, made)
    evidence = Evidence(made.with_judges(**{name: make(judges) for name, make in ALL.items()}).table(texts=True))
    options = ReplacementOptions(resamples=evidence.options.resamples)
    # Of all judges at once, which is what a summary of one judge asks for too.
    verdicts = replacement(evidence.table, options, evidence.control, evidence.correlations).verdicts
    outcome: Outcome = {}
    for margin in evidence.margins:
        words = of_agreement(margin).text.split(", ")
        verdict = verdicts[margin.dataset, margin.run, margin.judge, margin.eval_prompt]
        outcome[f"{margin.judge}: {YES}"] = float(verdict.word == "yes")
        outcome[f"{margin.judge}: {NOT_BELOW}"] = float("not below people" in words)
        if margin.judge == PERSON:
            outcome[f"{margin.judge}: {BELOW}"] = float("below people" in words)
            outcome[f"{margin.judge}: {ABOVE}"] = float("above people" in words)
    return outcome


BARS = {
    **{f"{name}: {YES}": Bar(high=2.0) for name in UNINFORMED | NOISY},
    **{f"{name}: {NOT_BELOW}": Bar(high=2.5) for name in NOISY},
    f"{PERSON}: {BELOW}": Bar(high=4.0),
}

SCENES = [
    scene(
        f"{population}; {people} people, {prompts} story-prompts",
        study,
        BARS,
        population=population,
        world=World(story_prompts=prompts, people=people),
    )
    for prompts in (30, 96, 300)
    for people in (2, 3, 5, 10)
    for population in POPULATIONS
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
