"""Is one of two judges better? What `judge compare` says where both are equally good over new systems, and where not.

Both judges read a story as people do and through the same thresholds, with opinions of their own about systems and
story-prompts, which all stories of a system (a story-prompt) share. Equal judges have opinions of the same size: over
new systems and story-prompts neither is better, though on the stories at hand one of them always is. Printed are the
shares of studies in which each view sees a difference (p < .05 with one test a family; an interval without 0); of the
permutation test for every unit that may be swapped, and of boot-both as a plain percentile interval too. The word for
the best of two, three or five equal judges is that of `judge compare` and `judge summary`.

    python -m tests.benchmarks.simulations.compare_null --studies 300 --jobs 1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from judge.analysis.comparison.contrasts import Outcome as Compared
from judge.analysis.comparison.result import compared, of_two
from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.options.table_options import CompareOptions, ContrastLevel, Swap
from judge.questions.summary import rules
from judge.ratings.ratings_table import RatingsTable
from tests.benchmarks.simulations.runner import Bar, Outcome, Scene, run, scene
from tests.benchmarks.simulations.worlds import THRESHOLDS, Floats, Studies, Study, World

Opinions = tuple[float, float]
"""Standard deviations of a judge's opinions of systems and of story-prompts, in those of the stories' quality."""

FALSE = Bar(high=7.0)
WORD = Bar(high=5.0)
RESAMPLES = 400


def compared_study(
    seed: int, world: World, level: ContrastLevel, first: Opinions, second: Opinions, noise: tuple[float, float]
) -> Outcome:
    """One study of two judges, by the steps of `judge compare --by judge`."""
    table = _table(seed, world, [(first, noise[0]), (second, noise[1])])
    found: Outcome = {}
    for swap in get_args(Swap):
        if swap == "auto":
            continue
        options = CompareOptions(by="judge", level=level, swap=swap, resamples=RESAMPLES if swap == "stories" else 5)
        outcome, adjusted = _only(table, options)
        default = ", the default" if options.swapped == CompareOptions(level=level).swapped else ""
        found[f"permutation of {swap}{default}"] = None if adjusted is None else float(adjusted < 0.05)
        if swap == "stories":
            found |= _intervals(outcome)
    return found


def named_study(seed: int, world: World, sizes: Opinions, judges: int) -> Outcome:
    """The word for the best of several judges that are equally good over new systems and story-prompts."""
    table = _table(seed, world, [(sizes, 1.0)] * judges)
    options = CompareOptions(by="judge", level="overall", resamples=RESAMPLES, permutations=20)
    found = compared(table, options)
    ranking = found.ranking or of_two(found.entries)
    others = [(row.variant, row.below, row.both) for row in ranking if row.below is not None]
    word = rules.of_variants(others).text
    return {"leads": float(word == "leads"), "leads with these systems": float(word == "leads with these systems")}


def _table(seed: int, world: World, kinds: Sequence[tuple[Opinions, float]]) -> RatingsTable:
    rng = np.random.default_rng(seed)
    study = Studies(world, rng).study()
    thresholds = np.sort(THRESHOLDS * rng.uniform(0.7, 1.3) + rng.normal(0, 0.3, THRESHOLDS.size))
    judges = {name: _judge(study, thresholds, *kind, rng) for name, kind in zip("abcde", kinds, strict=False)}
    return study.with_judges(**judges).table()


def _judge(study: Study, thresholds: Floats, sizes: Opinions, spread: float, rng: np.random.Generator) -> Floats:
    """A judge with opinions of its own; its errors are heavy-tailed."""
    world = study.world
    systems, prompts = rng.normal(0, sizes[0], world.systems), rng.normal(0, sizes[1], world.story_prompts)
    error = spread * np.sqrt(0.6) * rng.standard_t(5, study.quality.shape)
    opinion = study.quality + systems[study.system] + prompts[study.story_prompt] + error
    return np.asarray(1.0 + np.searchsorted(thresholds, opinion), dtype=np.float64)


def _only(table: RatingsTable, options: CompareOptions) -> tuple[Compared, float | None]:
    found = compared(table, options)
    ((_, outcome),) = found.outcomes()
    return outcome, outcome.permutation.adjusted


def _intervals(outcome: Compared) -> Outcome:
    """Whether intervals leave 0 out, and how wide boot-both's are in points of tau x100."""
    tau, both = outcome.estimate("tau"), outcome.estimate("tau_both")
    drawn = outcome.measured["tau_both"].draws.get("both", np.empty(0))
    drawn = drawn[~np.isnan(drawn)]
    low, high = np.percentile(drawn, [2.5, 97.5]) if drawn.size else (np.nan, np.nan)
    seen = {"boot-inputs": leaves_zero_out(tau), "boot-both, as printed": leaves_zero_out(both)}
    seen["boot-both, percentile"] = bool(low > 0 or high < 0)
    found: Outcome = {name: None if said is None else float(said) for name, said in seen.items()}
    found["width of boot-both, as printed"] = (
        None if both.low is None or both.high is None else 100 * (both.high - both.low)
    )
    found["width of boot-both, percentile"] = 100 * float(high - low)
    return found


def _scenes() -> list[Scene]:
    made = []
    equal = {"no opinions": (0.0, 0.0), "of systems": (0.5, 0.0), "of story-prompts": (0.0, 0.5), "of both": (0.5, 0.5)}
    of_these = ("no opinions", "of story-prompts")
    for systems, prompts in ((10, 30), (6, 60), (20, 12), (10, 12)):
        world = World(systems=systems, story_prompts=prompts)
        levels: tuple[ContrastLevel, ...] = get_args(ContrastLevel)
        for level in levels:
            of = f"{level}, {systems} systems x {prompts} story-prompts"
            size = "systems" if level == "system" else "story-prompts"
            for name, sizes in equal.items():
                # Story-prompts swapped speak of these systems, of which equal judges' opinions differ.
                asked = level == "system" or name in ("no opinions", "of story-prompts")
                bars = {f"permutation of {size}, the default": FALSE} if asked else {}
                bars |= {"permutation of systems": FALSE} if level == "overall" and name == "of systems" else {}
                bars |= {"boot-both, as printed": FALSE} | ({"boot-inputs": FALSE} if name in of_these else {})
                settings = {"world": world, "level": level, "first": sizes, "second": sizes, "noise": (1.0, 1.0)}
                made.append(scene(f"equal, opinions: {name}; {of}", compared_study, bars, **settings))
            settings = {"world": world, "level": level, "noise": (1.0, 1.0)}
            unequal = {"first": (0.1, 0.1), "second": (0.8, 0.8)}
            made.append(scene(f"unequal opinions, .1 and .8; {of}", compared_study, {}, **settings, **unequal))
            settings |= {"noise": (1.0, 3.0 if level == "system" else 1.8), "first": (0.1, 0.1), "second": (0.1, 0.1)}
            made.append(scene(f"unequal noise; {of}", compared_study, {}, **settings))
    for name, sizes in equal.items():
        for judges in (2, 3, 5):
            title = f"the best of {judges} equal judges, opinions: {name}; 10 systems x 30 story-prompts"
            made.append(scene(title, named_study, {"leads": WORD}, world=World(), sizes=sizes, judges=judges))
    return made


if __name__ == "__main__":
    raise SystemExit(run(_scenes(), __doc__))
