"""How often the default intervals of `judge correlate` hold what they are about, by coefficient, level and study size.

The estimand. Over stories: the correlation of this judge with these people over stories of these systems, in the limit
of many story-prompts like these. System level: the correlation of these systems' true means, the judge's and these
people's, over story-prompts like these. Both are taken from one study of 20,000 story-prompts with the same systems,
people and judge; ten studies of each such set are drawn at the size of the scene.

A judge is one more person, so that true means agree (the true correlation is near 1, and an interval that reaches 1 can
miss on one side alone: 97.5 % or more), or one that likes some systems better than people do ("with opinions"), so that
it lies in between. "lead" is the difference of these two, on the same resamples. Ten equally good systems have no true
correlation; there the figure is how often the interval holds 0.

`judge.stats.resampling.bootstrap_intervals` quotes what is printed here at 2,000 studies; of stories in place of too
few story-prompts, at 200.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from judge.analysis.correlation.statistic import Intervals, Side, Statistic
from judge.analysis.options.table_options import Coefficient, CorrelationOptions, Level
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.correlation import coefficients
from tests.benchmarks.simulations.runner import Bar, Outcome, Scene, run, scene
from tests.benchmarks.simulations.worlds import Reader, Studies, Study, World

Floats = NDArray[np.float64]
COEFFICIENTS: tuple[Coefficient, ...] = ("kendall", "spearman", "pearson")
LEVELS: tuple[Level, ...] = ("overall", "system")
SIZES = (6, 8, 12, 30, 96)
WITHIN, AT_LEAST = Bar(93, 97), Bar(low=93)
OPINIONS = 0.4
"""Standard deviation of a judge's opinions of systems."""

_MANY = 20_000
_STUDIES_A_SET = 10
_SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What is the same in all studies of a set: systems, people and the two judges; and the true correlations."""

    systems: Floats
    people: tuple[Reader, ...]
    judge: Reader
    opinions: Floats
    true: dict[tuple[str, Level, Coefficient], float]

    @classmethod
    def of(cls, world: World, number: int) -> Held:
        """Set of that number, with the truth from a very large study."""
        studies = Studies(world, np.random.default_rng([number, 5]))
        systems, people = studies.system_effects(), tuple(studies.reader() for _ in range(world.people))
        opinions = OPINIONS * studies.rng.standard_normal(world.systems)
        held = cls(systems, people, studies.reader(), opinions, {})
        large = held.study(studies, _MANY)
        mean = large.mean[0]
        for name, said in large.judges.items():
            ratings = said[0, :, 0]
            means = [np.bincount(large.system, weights=side) / np.bincount(large.system) for side in (ratings, mean)]
            for coefficient in COEFFICIENTS:
                held.true[name, "overall", coefficient] = coefficients.coefficient_of(ratings, mean, coefficient)
                held.true[name, "system", coefficient] = coefficients.coefficient_of(means[0], means[1], coefficient)
        return held

    def study(self, studies: Studies, story_prompts: int | None = None) -> Study:
        """One study of these systems, people and judges on new story-prompts."""
        made = studies.study(self.systems, self.people, story_prompts)
        return made.with_judges(
            person=studies.read(self.judge, made.quality),
            opinionated=studies.read(self.judge, made.quality + self.opinions[made.system]),
        )


@lru_cache(maxsize=4)
def _held(world: World, number: int) -> Held:
    return Held.of(world, number)


def study(seed: int, *, world: World) -> Outcome:
    """Whether each default interval of one study holds the true value, and how wide those of tau-b are."""
    held = _held(world, seed // _STUDIES_A_SET)
    (matrix,) = build(held.study(Studies(world, np.random.default_rng([seed, 6]))).table())
    outcome: Outcome = {}
    for level, coefficient in itertools.product(LEVELS, COEFFICIENTS):
        made = _intervals(matrix, level, coefficient)
        for name, one in made.items():
            if name == "lead":
                true = held.true["person", level, coefficient] - held.true["opinionated", level, coefficient]
            else:
                true = held.true[name, level, coefficient]
            if world.system_sd == 0 and level == "system":
                true = 0.0
            holds = None
            if one.low is not None and one.high is not None:
                holds = float(one.low - _SAME <= true <= one.high + _SAME)
            outcome[f"{level}, {coefficient}, {name}"] = holds
            if coefficient == "kendall" and one.low is not None and one.high is not None:
                outcome[f"width, {level}, {name}"] = one.high - one.low
    return outcome


def _intervals(matrix: RatingMatrix, level: Level, coefficient: Coefficient) -> dict[str, Estimate]:
    """The default intervals of both judges, and of their difference."""
    options = CorrelationOptions(coefficient=coefficient, level=level)
    statistic = Statistic.of(matrix, options)
    intervals = Intervals.of(matrix, options, statistic)
    people = Side(matrix.people[0], matrix.people_codes[0])
    values = intervals.values(matrix.judge, people.values)
    found: dict[str, Estimate] = {}
    for i, cell in enumerate(matrix.cells):
        judge = Side(matrix.judge[i], matrix.judge_codes[i])
        found[cell.judge] = intervals.of_values(statistic.estimate(judge, people), tuple(one[i] for one in values))
    first, second = found["person"], found["opinionated"]
    if first.value is not None and second.value is not None:
        at = {cell.judge: i for i, cell in enumerate(matrix.cells)}
        apart = tuple(one[at["person"]] - one[at["opinionated"]] for one in values)
        found["lead"] = intervals.of_values(Estimate(first.value - second.value, n=first.n), apart)
    return found


def bars(*, equal: bool = False) -> dict[str, Bar]:
    """93-97 % everywhere, but at least 93 % where the true value can lie at the end of its range or not exist."""
    made = {}
    for level, coefficient, name in itertools.product(LEVELS, COEFFICIENTS, ("person", "opinionated", "lead")):
        open_end = level == "system" and (equal or name != "opinionated")
        made[f"{level}, {coefficient}, {name}"] = AT_LEAST if open_end else WITHIN
    return made


def _scenes() -> list[Scene]:
    made: list[Scene] = []
    for size in SIZES:
        made.append(
            scene(f"plain world, 10 systems x {size} story-prompts", study, bars(), world=World(story_prompts=size))
        )
    variations: dict[str, dict[str, float]] = {
        "people with noise .7": {"noise": 0.7},
        "people with noise 2": {"noise": 2.0},
        "story-prompts alike (.2)": {"prompt_sd": 0.2},
        "story-prompts apart (1)": {"prompt_sd": 1.0},
        "systems alike (.2)": {"system_sd": 0.2},
        "systems apart (1)": {"system_sd": 1.0},
        "systems equal (0)": {"system_sd": 0.0},
    }
    for size, (what, changed) in itertools.product((6, 12, 30), variations.items()):
        world = World(story_prompts=size, **changed)  # type: ignore[arg-type]
        title = f"{what}, 10 systems x {size} story-prompts"
        made.append(scene(title, study, bars(equal=world.system_sd == 0), world=world))
    few = "stories in place of too few: 10 systems x 4 story-prompts of 7 stories"
    made.append(scene(few, study, {}, world=World(story_prompts=4, stories=7)))
    return made


if __name__ == "__main__":
    raise SystemExit(run(_scenes(), __doc__))
