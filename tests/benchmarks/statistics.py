"""Speed of resampling, swap tests and tau-b against scipy and plain loops, on one thread. Prints; never asserts.

Sizes are those of HANNA without its people's system: 10 systems x 96 story-prompts, means of three ratings on 1-5 (13
levels) on either side. Times are CPU times of the one thread, so that waiting on a busy machine does not count. Remarks
give the largest difference from scipy's numbers.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from judge.stats.agreement import icc
from judge.stats.correlation import kendall
from judge.stats.resampling import bootstrap, swap_test
from judge.stats.resampling import resampled_correlations as resampled_tau
from tests.benchmarks.figures import Figure, median, show
from tests.stats.resampling.over_means import tau_b_means

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
SYSTEMS, PROMPTS, JUDGES, CRITERIA, RESAMPLES = 10, 96, 20, 6, 10_000
MANY = 1_000_000


def seconds(work: Callable[[], object], rounds: int) -> float:
    """Median CPU time of a piece of work on its one thread, after one round that is not counted."""
    work()
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return median(taken)


def thirds(quality: Floats, rng: np.random.Generator) -> Floats:
    """Means of three ratings on 1-5."""
    ratings = np.clip(np.round(3 + quality + rng.normal(size=(3, quality.size))), 1, 5)
    return np.asarray(ratings.mean(axis=0), dtype=np.float64)


def resampling(rng: np.random.Generator, rounds: int) -> list[Figure]:
    """10,000 resamples of the overall tau-b of 20 judges x 6 criteria, drawing included."""
    n = SYSTEMS * PROMPTS
    system, prompt = np.divmod(np.arange(n), PROMPTS)
    quality = rng.normal(size=(CRITERIA, n))
    people = [kendall.codes(thirds(row, rng)) for row in quality]
    judges = [np.stack([kendall.codes(thirds(row, rng)) for _ in range(JUDGES)]) for row in quality]
    alone = seconds(lambda: [kendalltau(row, people[0]) for row in judges[0]], 5) / JUDGES
    figures = [Figure("scipy.stats.kendalltau, one resample", alone * 1000, unit="ms")]
    draws: dict[str, Callable[[np.random.Generator], bootstrap.Resamples]] = {
        "boot-inputs": lambda g: bootstrap.draw(prompt, RESAMPLES, g, "boot-inputs"),
        "boot-both": lambda g: bootstrap.draw_both(system, prompt, RESAMPLES, g),
        "boot-stories": lambda g: bootstrap.draw(np.arange(n), RESAMPLES, g, "boot-stories"),
    }
    for name, draw in draws.items():
        drawn = draw(np.random.default_rng(1))

        def table(draw: Callable[[np.random.Generator], bootstrap.Resamples] = draw) -> None:
            made = draw(np.random.default_rng(1))
            for x, y in zip(judges, people, strict=True):
                resampled_tau.tau_b(made, x, y)

        taken = seconds(table, rounds)
        worst = _worst(drawn, judges[0][0], people[0])
        ratio = alone * RESAMPLES * JUDGES * CRITERIA / taken
        what = f"{name}: {JUDGES} judges x {CRITERIA} criteria x {RESAMPLES:,}"
        figures.append(Figure(what, taken, "<= 6", "s", f"differs from scipy by {worst:.0e} at most"))
        figures.append(Figure("  times faster than scipy in a loop", ratio, ">= 100"))
    return figures + _others(draws["boot-both"](rng), judges[0] / 3, people[0] / 3, system, prompt, rounds)


def _worst(drawn: bootstrap.Resamples, x: Codes, y: Codes) -> float:
    values, weights = resampled_tau.tau_b(drawn, x, y)[:20], drawn.weights(slice(0, 20))
    theirs = [kendalltau(np.repeat(x, w), np.repeat(y, w)).statistic for w in weights]
    return float(np.abs(values - theirs).max())


def _others(both: bootstrap.Resamples, x: Floats, y: Floats, system: Codes, prompt: Codes, rounds: int) -> list[Figure]:
    """Other statistics in the same 10,000 resamples of systems and story-prompts, of one judge among 20."""
    codes, people = np.stack([kendall.codes(row) for row in x]), kendall.codes(y)
    works: dict[str, Callable[[], object]] = {
        "over system means": lambda: tau_b_means(both, x, y, system),
        "within story-prompts": lambda: resampled_tau.tau_b_within(both, codes, people, prompt),
        "within systems": lambda: resampled_tau.tau_b_within(both, codes, people, system),
        "jackknife for BCa": lambda: [resampled_tau.tau_b(made, codes, people) for made in both.jackknife()],
    }
    figures = [
        Figure(f"boot-both: {name}", seconds(work, rounds) * 1000 / JUDGES, unit="ms a judge")
        for name, work in works.items()
    ]
    family = seconds(lambda: both.values(icc.resampled(x[:3].T)), rounds)
    return [*figures, Figure("boot-both: all six ICCs of three repeats", family * 1000, unit="ms")]


def swapping(rng: np.random.Generator, rounds: int) -> list[Figure]:
    """10,000 swaps of one pair of judges, against a loop of two scipy taus a swap."""
    n = SYSTEMS * PROMPTS
    quality = rng.normal(size=n)
    a, b, y = (thirds(quality, rng) for _ in range(3))
    first, second = ((side - side.mean()) / side.std() for side in (a, b))
    masks = rng.random((100, n)) < 0.5

    def loop() -> None:
        for mask in masks:
            kendalltau(np.where(mask, second, first), y)
            kendalltau(np.where(mask, first, second), y)

    naive = seconds(loop, 3) * RESAMPLES / len(masks)
    figures = [Figure(f"loop of two scipy taus, {RESAMPLES:,} swaps", naive, unit="s", remark="from 100 swaps")]
    system = np.arange(n) // PROMPTS
    for name, group in (("over all stories", None), ("over system means", system)):
        taken = seconds(
            lambda group=group: swap_test.swap_test(
                a, b, y, np.arange(n), RESAMPLES, np.random.default_rng(0), group=group
            ),
            rounds,
        )
        figures.append(Figure(f"PERM-BOTH {name}", taken * 1000, unit="ms"))
        if group is None:
            figures.append(Figure("  times faster than the loop", naive / taken, ">= 50"))
    return figures


def large(rng: np.random.Generator, rounds: int) -> list[Figure]:
    """tau-b of 1,000,000 pairs with 13 levels a side, and without ties."""
    quality = rng.normal(size=MANY)
    x, y = thirds(quality, rng), thirds(quality, rng)
    untied = [quality + rng.normal(size=MANY) for _ in range(2)]
    codes = kendall.codes(x), kendall.codes(y)
    cases: list[tuple[str, str, Callable[[], float], Callable[[], float]]] = [
        ("integer codes", ">= 20", lambda: kendalltau(*codes).statistic, lambda: kendall.tau_b(*codes)),
        ("raw ratings", ">= 3", lambda: kendalltau(x, y).statistic, lambda: _from_floats(x, y)),
        ("numbers without ties", "", lambda: kendalltau(*untied).statistic, lambda: _from_floats(*untied)),
    ]
    figures = []
    for name, bar, theirs, ours in cases:
        scipys = seconds(theirs, rounds)
        taken = seconds(ours, rounds)
        remark = f"{1000 * taken:.1f} ms, scipy {1000 * scipys:.1f} ms; differs by {abs(ours() - theirs()):.0e}"
        figures.append(Figure(f"{MANY:,} pairs, {name}: times faster", scipys / taken, bar, remark=remark))
    return figures


def _from_floats(x: Floats, y: Floats) -> float:
    return kendall.tau_b(kendall.codes(x), kendall.codes(y))


def main() -> int:
    """Measure and print, on one thread."""
    if os.environ.get("OMP_NUM_THREADS") != "1":  # read when numpy is loaded, hence a fresh start
        command = [sys.executable, "-m", "tests.benchmarks.statistics", *sys.argv[1:]]
        single = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.run(command, env=single, check=False).returncode
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rounds", type=int, default=3, help="rounds of each figure, of which the median counts")
    rounds = made.parse_args().rounds
    show("Resamples of the overall tau-b, n = 960", resampling(np.random.default_rng(1), rounds))
    show("Swap tests, n = 960", swapping(np.random.default_rng(2), rounds))
    show("tau-b of many pairs", large(np.random.default_rng(3), rounds))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
