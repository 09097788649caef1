"""Honest judges in `judge diagnose` and its layout `criteria`: what is found that is not there? And planted faults.

A judge is honest in a diagnostic when what that diagnostic names is not there. Its scale may be another than people's
(narrower, or off the end of the scale that people crowd at), it may be steadier than a person, and it may think more of
some systems than people do, its own among them by chance. A diagnostic is counted for those judges only that do not
have its fault: one with a scale of its own does rate higher or lower than people, and a narrow one does use less of the
scale and give its middle more often. The own system is the best one, and longer stories are better.

`python -m tests.benchmarks.simulations.diagnostics --studies 200 --only floor`
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from judge.analysis.criteria import criteria
from judge.analysis.diagnose import diagnose
from judge.analysis.options.table_options import CriteriaOptions, DiagnoseOptions
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Floats, Studies, Study, World

HONEST, FOUND = Bar(high=7.0), Bar(low=60.0)
CRITERION = "criterion 0"
ALL = ("leniency", "length", "compression", "stuck", "halo", "self-preference", "loss")
AT_EQUAL_QUALITY = ("length", "halo", "self-preference", "loss")
"""What a judge with a scale of its own is honest in."""

Opinion = Callable[[Floats, Study, np.random.Generator], Floats]


@dataclass(frozen=True, slots=True)
class Judge:
    """One kind of judge: what it thinks of stories of a quality (criteria, n), how noisy, and what is not its fault."""

    name: str
    opinion: Opinion
    honest: tuple[str, ...]
    noise: float = 1.0
    planted: str | None = None


def _same(quality: Floats, study: Study, rng: np.random.Generator) -> Floats:
    return quality


def _narrow(quality: Floats, study: Study, rng: np.random.Generator) -> Floats:
    return study.world.shift + 0.6 * (quality - study.world.shift)


def _off_end(quality: Floats, study: Study, rng: np.random.Generator) -> Floats:
    return quality - study.world.shift


def _at_floor(quality: Floats, study: Study, rng: np.random.Generator) -> Floats:
    return quality - 2.0


def _opinions(quality: Floats, study: Study, rng: np.random.Generator) -> Floats:
    """Opinions of systems are zero on average: what they are on average is leniency."""
    opinion = 0.3 * rng.standard_normal(study.world.systems)
    return np.asarray(quality + (opinion - opinion.mean())[study.system], dtype=np.float64)


def _compressed(quality: Floats, study: Study, rng: np.random.Generator) -> Floats:
    return study.world.shift + 0.7 * (quality - study.world.shift)


def _haloed(quality: Floats, study: Study, rng: np.random.Generator) -> Floats:
    overall = quality.mean(axis=0, keepdims=True)
    return np.asarray(overall + 0.4 * (quality - overall), dtype=np.float64)


def _partial(quality: Floats, study: Study, rng: np.random.Generator) -> Floats:
    return np.asarray(quality + 1.0 * (study.system == _best(study)), dtype=np.float64)


def _lengthy(quality: Floats, study: Study, rng: np.random.Generator) -> Floats:
    log = np.log(study.words)
    return np.asarray(quality + 0.5 * (log - log.mean()) / log.std(), dtype=np.float64)


JUDGES = (
    Judge("as people", _same, ALL),
    Judge("steadier", _same, ("compression", *AT_EQUAL_QUALITY), noise=0.3),
    Judge("narrow", _narrow, AT_EQUAL_QUALITY),
    Judge("scale of its own", _off_end, AT_EQUAL_QUALITY),
    Judge("at the floor", _at_floor, AT_EQUAL_QUALITY),
    Judge("opinions of systems", _opinions, ALL),
    Judge("opinions, steadier", _opinions, ("compression", *AT_EQUAL_QUALITY), noise=0.3),
    Judge("compressed .7", _compressed, (), planted="compression"),
    Judge("haloed .6", _haloed, (), planted="halo"),
    Judge("partial 1", _partial, (), planted="self-preference"),
    Judge("lengthy .5", _lengthy, (), planted="length"),
)


def study_of(seed: int, world: World, judge: Judge, repeats: int, length: float = 0.6) -> Outcome:
    """One study with one judge: which diagnostics find something (1), nothing (0), or are undefined (None)."""
    rng = np.random.default_rng(seed)
    study = _longer_is_better(Studies(world, rng).study(), length, rng)
    reader = Studies(replace(world, noise=judge.noise * world.noise), rng)
    said = reader.person(judge.opinion(study.quality, study, rng), repeats)
    said = np.where(rng.random(said.shape) < 0.05, np.nan, said)
    table = study.with_judges(judge=said).table()
    rows = diagnose(table, DiagnoseOptions(own=(f"system {_best(study)}",))).frame
    rows = rows[rows["criterion"].isin([CRITERION, "all criteria"])].set_index("diagnostic")
    counted = judge.honest if judge.planted is None else (judge.planted,)
    found: Outcome = {name: _found(rows.loc[name, "p"]) for name in counted}
    if "halo" in counted:
        low = criteria(table, CriteriaOptions(resamples=2)).frame.set_index("judge").loc["judge", "excess_low"]
        found["halo, in criteria"] = None if low is None or np.isnan(low) else float(low > 0)
    return found


def _found(p: float | None) -> float | None:
    return None if p is None or np.isnan(p) else float(p < 0.05)


def _best(study: Study) -> int:
    means = [study.quality[0][study.system == s].mean() for s in range(study.world.systems)]
    return int(np.argmax(means))


def _longer_is_better(study: Study, correlation: float, rng: np.random.Generator) -> Study:
    quality = study.quality.mean(axis=0)
    scaled = (quality - quality.mean()) / quality.std()
    log = correlation * scaled + np.sqrt(1 - correlation**2) * rng.standard_normal(study.n)
    return replace(study, words=np.maximum(np.round(np.exp(5.2 + 0.45 * log)), 20))


def main() -> int:
    """Every kind of judge in every world, with one repeat and with three."""
    middle = World(criteria=3, own_scales=0.0)
    worlds = {
        "middle": middle,
        "floor": replace(middle, shift=-2.0),
        "ceiling": replace(middle, shift=2.0),
        "people's own scales": World(criteria=3),
        "5 people, 100 story-prompts, towards the floor": replace(middle, people=5, story_prompts=100, shift=-1.0),
        "2 people": replace(middle, people=2),
    }
    scenes = []
    for (place, world), judge, repeats in product(worlds.items(), JUDGES, (1, 3)):
        one = judge
        if place == "people's own scales" and judge.planted is None:
            one = replace(judge, honest=AT_EQUAL_QUALITY)
        counted = one.honest if one.planted is None else (one.planted,)
        # Power is asked for where people use the whole scale.
        bar = HONEST if one.planted is None else FOUND if place == "middle" else None
        bars = dict.fromkeys((*counted, "halo, in criteria"), bar) if bar else {}
        title = f"{place}; {one.name}, {repeats} repeat{'s' if repeats > 1 else ''}"
        scenes.append(scene(title, study_of, bars, world=world, judge=one, repeats=repeats))
    return run(scenes, __doc__)


if __name__ == "__main__":
    sys.exit(main())
