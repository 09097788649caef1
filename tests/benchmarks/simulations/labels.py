"""Labels: how often intervals of `confusion` hold what they are about, and what `diagnose` finds of yes-biases.

People and judges answer Yes where their opinion of a story passes a point; stories of one story-prompt hang together.

The estimand is the statistic of this judge's labels against the majority of these people's, and of its distance from
one person, over stories of these systems in the limit of many story-prompts: that of a study of 20,000 stories. Ten
studies of each such set are drawn at the size of the scene. A yes-bias is a judge that passes stories half a standard
deviation too easily; the others pass as people do, so that what is found of them is a false alarm.

`python -m tests.benchmarks.simulations.labels --studies 200`
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import lru_cache

import numpy as np

from judge.analysis import labels
from judge.analysis.diagnose import diagnose
from judge.analysis.diagnose.kinds import YES_BIAS
from judge.analysis.labels.items import ALL
from judge.analysis.options.agreement_options import ConfusionOptions
from judge.base.estimate import Estimate
from judge.ratings.ratings_table import RatingsTable
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Floats, Studies, World
from tests.labels.tables import labelled_table

STATISTICS = ("balanced_accuracy", "f1", "kappa")
HELD, ONE_SIDED = Bar(93, 97.5), Bar(high=7.0)
FOUND = Bar(low=80.0)
PASSES = 3.5
"""Between 3 and 4 of a scale of five: a third of the stories pass."""
_MANY = 20_000
_STUDIES_A_SET = 10


def _table(systems: Floats, seed: object, world: World, *, bias: float, prompts: int | None = None) -> RatingsTable:
    """One study of these systems as labels: three people, one judge asked three times, 3 % of its answers refused."""
    studies = Studies(world, np.random.default_rng(seed))  # type: ignore[arg-type]
    study = studies.study(systems, story_prompts=prompts)
    said = studies.person(study.quality + bias, 3)
    said = np.where(studies.rng.random(said.shape) < 0.03, np.nan, said)
    names = [f"criterion {c}" for c in range(world.criteria)]
    people = {name: (study.people[c] > PASSES).astype(float) for c, name in enumerate(names)}
    judge = {name: np.where(np.isnan(said[c]), np.nan, said[c] > PASSES) for c, name in enumerate(names)}
    return labelled_table(people, {"judge": judge}, story_prompt=study.story_prompt, system=study.system)


def _found(table: RatingsTable, options: ConfusionOptions, criterion: str) -> dict[str, Estimate]:
    (row,) = [row for row in labels.confusions(table, options).judges if row.subject.criterion == criterion]
    found = {name: row.statistics[name] for name in STATISTICS}
    return found | {f"{name}, minus person": row.beside[name].over for name in STATISTICS}


@lru_cache(maxsize=4)
def _truth(world: World, number: int, criterion: str) -> dict[str, float | None]:
    found = _found(
        _table(_systems(world, number), [number, 8], world, bias=0.3, prompts=_MANY // world.systems), PLAIN, criterion
    )
    return {name: one.value for name, one in found.items()}


PLAIN = ConfusionOptions(ci="none")


def _systems(world: World, number: int) -> Floats:
    return Studies(world, np.random.default_rng([number, 7])).system_effects()


def held(seed: int, *, world: World) -> Outcome:
    """Whether each interval of one study holds the true value, and its width."""
    number, criterion = seed // _STUDIES_A_SET, ALL if world.criteria > 1 else "criterion 0"
    table = _table(_systems(world, number), [seed, 9], world, bias=0.3)
    outcome: Outcome = {}
    for name, one in _found(table, ConfusionOptions(), criterion).items():
        true = _truth(world, number, criterion)[name]
        known = one.low is not None and one.high is not None and true is not None
        outcome[name] = float(one.low <= true <= one.high) if known else None  # type: ignore[operator]
    return outcome


def yes_bias(seed: int, *, world: World, bias: float) -> Outcome:
    """Whether the test of one criterion, and the one of all, finds something."""
    table = _table(_systems(world, seed), [seed, 10], world, bias=bias)
    rows = {one.criterion: one for one in diagnose(table).findings if one.diagnostic == YES_BIAS}
    found = {"criterion 0": "one criterion"} | ({"all criteria": ALL} if world.criteria > 1 else {})
    return {title: float(rows[name].finds(0.05)) for name, title in found.items()}


def main() -> int:
    """Intervals by size and number of criteria; judges without and with a bias."""
    plain = World(systems=4, own_scales=0.0)
    worlds = {f"4 systems x {prompts} story-prompts": replace(plain, story_prompts=prompts) for prompts in (12, 30, 96)}
    worlds["4 systems x 12 story-prompts, 5 criteria"] = replace(plain, story_prompts=12, criteria=5)
    worlds["4 systems x 30 story-prompts, 5 criteria"] = replace(plain, story_prompts=30, criteria=5)
    bars = {name: HELD for one in STATISTICS for name in (one, f"{one}, minus person")}
    scenes = [scene(f"intervals; {title}", held, bars, world=world) for title, world in worlds.items()]
    for title, world in worlds.items():
        for name, bias, bar in (
            ("no bias", 0.0, ONE_SIDED),
            ("bias .5", 0.5, FOUND if world.story_prompts > 12 else None),
        ):
            bars = dict.fromkeys(("one criterion", ALL), bar) if bar else {}
            scenes.append(scene(f"{name}; {title}", yes_bias, bars, world=world, bias=bias))
    return run(scenes, __doc__)


if __name__ == "__main__":
    sys.exit(main())
