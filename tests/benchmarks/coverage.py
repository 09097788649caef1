"""How often bootstrap intervals hold the true tau-b, by simulation. Prints; never asserts.

People and a judge rate the same stories on a scale of 1-5. A story's quality is the sum of its system's, its
story-prompt's and its own; the judge sees it with errors that go with the system and with the story-prompt; both sides
round. People's rating is the mean of three raters. So stories of a system, and of a story-prompt, are alike on both
sides, as in the studies.

The true value is what the resampled data set stands for: tau-b of an unlimited number of systems that write for as
many other story-prompts (boot-both) or for these (boot-systems), the mean over data sets of these systems with as many
other story-prompts (boot-inputs), tau-b of an unlimited number of stories (boot-stories). What is printed here stands
in `judge.stats.resampling.bootstrap_intervals`, from which the program warns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.correlation import coefficients, kendall
from judge.stats.resampling import bootstrap
from judge.stats.resampling import bootstrap_intervals as interval
from judge.stats.resampling import resampled_correlations as resampled_tau
from tests.benchmarks.figures import Figure, show
from tests.stats.resampling.over_means import tau_b_means

Floats = NDArray[np.float64]
LOW, HIGH = 93.0, 97.0


@dataclass(frozen=True, slots=True)
class Scene:
    """What is drawn, from how many systems and story-prompts; `sets` of what is held fixed."""

    draw: str
    systems: int
    prompts: int
    sets: int = 1

    @property
    def levels(self) -> tuple[str, ...]:
        return ("overall",) if self.draw == "boot-stories" else ("overall", "system")

    @property
    def title(self) -> str:
        stories = f"{self.draw}, {self.systems * self.prompts} stories"
        systems, prompts = f"{self.systems} systems", f"{self.prompts} story-prompts"
        size = {
            "boot-inputs": f" of {systems} (fixed) x {prompts}",
            "boot-systems": f" of {systems} x {prompts} (fixed)",
            "boot-both": f" of {systems} x {prompts}",
        }
        return stories + size.get(self.draw, "")


SCENES = (
    Scene("boot-stories", 200, 1),
    Scene("boot-inputs", 10, 40, sets=20),
    Scene("boot-systems", 40, 40, sets=20),
    Scene("boot-systems", 10, 40, sets=20),
    Scene("boot-both", 40, 40),
    Scene("boot-both", 10, 96),
)


class Studies:
    """Draws studies: a judge's and people's ratings, (systems, story-prompts) each."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def systems(self, count: int) -> Floats:
        """Quality of systems, and the judge's error about them, (2, count)."""
        return self.rng.normal(size=(2, count)) * np.array([[0.5], [0.3]])

    def prompts(self, count: int) -> Floats:
        """The same of story-prompts."""
        return self.rng.normal(size=(2, count)) * np.array([[0.4], [0.2]])

    def ratings(self, systems: Floats, prompts: Floats) -> tuple[Floats, Floats]:
        """One study of these systems and story-prompts."""
        shape = systems.shape[1], prompts.shape[1]
        quality = systems[0][:, None] + prompts[0] + 0.6 * self.rng.normal(size=shape)
        people = sum((_rounded(quality + 0.9 * self.rng.normal(size=shape)) for _ in range(3)), np.zeros(shape)) / 3
        seen = quality + systems[1][:, None] + prompts[1]
        return _rounded(seen + 0.7 * self.rng.normal(size=shape)), people


def _rounded(values: Floats) -> Floats:
    return np.clip(np.round(3 + values), 1, 5)


def taus(judge: Floats, people: Floats) -> dict[str, float]:
    """tau-b over all stories, and over system means."""
    sides = {"overall": (judge.reshape(-1), people.reshape(-1)), "system": (judge.mean(axis=1), people.mean(axis=1))}
    return {level: kendall.tau_b(kendall.codes(x), kendall.codes(y)) for level, (x, y) in sides.items()}


@dataclass(frozen=True, slots=True)
class Held:
    """The systems and story-prompts of a scene that are the same in all its data sets."""

    systems: Floats
    prompts: Floats

    def study(self, scene: Scene, studies: Studies, systems: int | None = None) -> tuple[Floats, Floats]:
        """One data set, of another number of systems if given; independent stories have no story-prompt in common."""
        of_systems = self.systems if scene.draw == "boot-inputs" else studies.systems(systems or scene.systems)
        if scene.draw == "boot-stories":
            return studies.ratings(of_systems, np.zeros((2, 1)))
        prompts = self.prompts if scene.draw == "boot-systems" else studies.prompts(scene.prompts)
        return studies.ratings(of_systems, prompts)

    def truth(self, scene: Scene, studies: Studies) -> dict[str, float]:
        """The true value at each level; its own error is far below an interval's width."""
        times, systems = {"boot-stories": (1, 1_000_000), "boot-inputs": (1000, None), "boot-systems": (4, 10_000)}.get(
            scene.draw, (60, 4000)
        )
        made = [taus(*self.study(scene, studies, systems)) for _ in range(times)]
        return {level: float(np.mean([each[level] for each in made])) for level in scene.levels}


@dataclass(slots=True)
class Tally:
    """Intervals of one method: how often the true value lay below or above them, how many there were, how wide."""

    below: int = 0
    above: int = 0
    none: int = 0
    widths: list[float] = field(default_factory=list)

    def add(self, made: Estimate, true: float) -> None:
        if made.low is None or made.high is None:
            self.none += 1
            return
        self.below += true < made.low - 1e-12
        self.above += true > made.high + 1e-12
        self.widths.append(made.high - made.low)

    def figure(self, what: str) -> Figure:
        count = len(self.widths)
        if not count:
            return Figure(what, None, remark="no interval at all")
        covered = 100 * (1 - (self.below + self.above) / count)
        verdict = "within 93-97" if LOW <= covered <= HIGH else "TOO NARROW" if covered < LOW else "too wide"
        missed = f"true value below {100 * self.below / count:.1f} %, above {100 * self.above / count:.1f} %"
        lost = f", {self.none} without an interval" if self.none else ""
        return Figure(what, covered, unit="%", remark=f"{verdict}; {missed}; width {np.mean(self.widths):.3f}{lost}")


def intervals(
    scene: Scene, judge: Floats, people: Floats, resamples: int, rng: np.random.Generator
) -> Iterator[tuple[str, str, Estimate]]:
    """Level, method and interval, of one data set."""
    x, y = judge.reshape(-1), people.reshape(-1)
    system, prompt = np.divmod(np.arange(x.size), judge.shape[1])
    if scene.draw == "boot-both":
        drawn = bootstrap.draw_both(system, prompt, resamples, rng)
    else:
        unit = {"boot-inputs": prompt, "boot-systems": system, "boot-stories": np.arange(x.size)}[scene.draw]
        drawn = bootstrap.draw(unit, resamples, rng, scene.draw)
    codes = kendall.codes(x), kendall.codes(y)
    of: dict[str, Callable[[bootstrap.Resamples], Floats]] = {
        "overall": lambda r: resampled_tau.tau_b(r, *codes),
        "system": lambda r: tau_b_means(r, x, y, system),
    }
    for level in scene.levels:
        point = coefficients.correlate(x, y) if level == "overall" else coefficients.correlate_means(x, y, system)
        values, jackknife = of[level](drawn), [of[level](made) for made in drawn.jackknife()]
        yield level, "percentile", interval.percentile(point, values, "percentile")
        yield level, "BCa", interval.bca(point, values, jackknife, "BCa")
        if scene.draw != "boot-both":
            yield level, "expanded", drawn.interval(point, values)
        if scene.draw == "boot-both":
            alone = [of[level](one) for one in drawn.one_way()]
            drawn_in = interval.calibrated(values, alone, judge.shape)
            yield level, "calibrated percentile", interval.percentile(point, drawn_in, "percentile")
            yield level, "calibrated BCa", interval.bca(point, drawn_in, jackknife, "BCa")


def simulate(scene: Scene, simulations: int, resamples: int, seed: int) -> dict[tuple[str, str], Tally]:
    """Tallies of each level and method."""
    rng = np.random.default_rng(seed)
    studies = Studies(rng)
    tallies: dict[tuple[str, str], Tally] = {}
    for _ in range(scene.sets):
        held = Held(studies.systems(scene.systems), studies.prompts(scene.prompts))
        true = held.truth(scene, studies)
        for _ in range(simulations // scene.sets):
            data = held.study(scene, studies)
            for level, method, made in intervals(scene, *data, resamples, rng):
                tallies.setdefault((level, method), Tally()).add(made, true[level])
    return tallies


def main() -> int:
    """Simulate and print, scene by scene."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--simulations", type=int, default=2000, help="data sets of each scene (default 2000)")
    made.add_argument("--resamples", type=int, default=1000, help="resamples of each data set (default 1000)")
    made.add_argument("--seed", type=int, default=1)
    given = made.parse_args()
    error = 100 * np.sqrt(0.05 * 0.95 / given.simulations)
    for scene in SCENES:
        start = time.perf_counter()
        tallies = simulate(scene, given.simulations, given.resamples, given.seed)
        figures = [tally.figure(f"{level}, {method}") for (level, method), tally in tallies.items()]
        taken = time.perf_counter() - start
        size = f"{given.simulations} data sets (+- {error:.1f} %), {given.resamples} resamples, {taken:.0f} s"
        show(f"Coverage of 95 % intervals, {scene.title}; {size}", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
