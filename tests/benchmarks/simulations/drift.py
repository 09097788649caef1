"""Is a judge found to drift that follows people equally well in every system?

Systems lie at different levels of a bounded scale; each person and the judge (one more person) answers through
thresholds of their own. Printed are the shares of studies with p < .05 of the test over systems, through
`stats.correlation.heterogeneity` as `judge correlate --layout drift` prints it. Beside it: a judge that reads one
system with noise of its own, twice as large as a story's quality.
"""

from __future__ import annotations

import sys

import numpy as np

from judge.stats.correlation.heterogeneity import by_group, homogeneity
from tests.benchmarks.simulations.runner import Bar, Outcome, Scene, run, scene
from tests.benchmarks.simulations.worlds import Studies, World

FALSE = Bar(high=6.0)
LEVELS = {
    "one level": (0.0, 0.0),
    "levels .5 apart": (0.5, 0.0),
    "levels .5 apart, near the ceiling": (0.5, 1.5),
    "levels 1.5 apart": (1.5, 0.0),
    "levels 1.5 apart, near the ceiling": (1.5, 1.0),
}
"""Standard deviation of systems' levels, and how far all are moved, in those of a story's quality."""


def study(seed: int, *, world: World, noise: float) -> Outcome:
    """One study: is the judge found to drift over systems?"""
    rng = np.random.default_rng(seed)
    studies = Studies(world, rng)
    drawn = studies.study()
    read = drawn.quality + noise * rng.standard_normal(drawn.quality.shape) * (drawn.system == 0)
    judge, people = studies.person(read)[0], drawn.mean[0]
    groups = by_group(judge, people, drawn.system, world.systems)
    found = homogeneity([group.latent for group in groups])
    return {"drift found": None if found.p is None else float(found.p < 0.05)}


def _scenes() -> list[Scene]:
    made = []
    for systems, prompts in ((10, 12), (10, 30), (10, 96), (5, 200)):
        for name, (apart, moved) in LEVELS.items():
            world = World(systems=systems, story_prompts=prompts, system_sd=apart, shift=moved)
            made.append(scene(f"{systems} x {prompts}, {name}", study, {"drift found": FALSE}, world=world, noise=0.0))
        world = World(systems=systems, story_prompts=prompts)
        made.append(scene(f"{systems} x {prompts}, one system read badly", study, {}, world=world, noise=2.0))
    return made


if __name__ == "__main__":
    sys.exit(run(_scenes(), __doc__))
