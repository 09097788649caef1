"""Runs one function over many seeds in processes, and counts. Every simulation's command line is this one."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from tests.benchmarks.figures import Figure, show

Outcome = dict[str, float | None]
"""What one study gave: name of a figure -> 0 or 1 (did it happen), or a number; None = undefined there."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a mean is to lie, in the unit printed (percent for shares)."""

    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"<= {self.high:g}" if self.low is None else f">= {self.low:g}"
        return f"{self.low:g}-{self.high:g}"

    def verdict(self, value: float) -> str:
        """met or MISSED."""
        low, high = self.low if self.low is not None else -np.inf, self.high if self.high is not None else np.inf
        return "met" if low <= value <= high else "MISSED"


@dataclass(frozen=True, slots=True)
class Scene:
    """One cell of a simulation: its title, the function from a seed to an outcome, and the bars of its figures."""

    title: str
    study: Callable[[int], Outcome]
    bars: dict[str, Bar]


def run(scenes: Sequence[Scene], description: str | None) -> int:
    """Parse the command line, simulate every scene and print its figures: shares in percent with their error."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--studies", type=int, default=2000, help="simulated studies a scene (default 2000)")
    made.add_argument("--seed", type=int, default=1, help="seed of the first study (default 1)")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    made.add_argument("--only", default="", help="only scenes whose title contains this")
    given = made.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    # Spawned, not forked: numerical libraries keep threads that do not survive a fork.
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for scene in scenes:
            if given.only not in scene.title:
                continue
            start = time.perf_counter()
            seeds = range(given.seed, given.seed + given.studies)
            outcomes = list(pool.map(scene.study, seeds, chunksize=max(1, min(25, given.studies // given.jobs // 4))))
            taken = time.perf_counter() - start
            show(f"{scene.title}; {given.studies} studies, {taken:.0f} s", _figures(scene, outcomes))
    return 0


def scene(title: str, study: Callable[..., Outcome], bars: dict[str, Bar], **settings: Any) -> Scene:
    """A scene whose study function takes settings beside its seed."""
    return Scene(title, partial(study, **settings), bars)


def _figures(scene: Scene, outcomes: Sequence[Outcome]) -> list[Figure]:
    made = []
    for name in dict.fromkeys(name for outcome in outcomes for name in outcome):
        asked = [outcome[name] for outcome in outcomes if name in outcome]
        values = np.array([value for value in asked if value is not None], dtype=np.float64)
        lost = f"; undefined in {len(asked) - values.size} of {len(asked)}" if values.size < len(asked) else ""
        if not values.size:
            made.append(Figure(name, None, remark="undefined in every study"))
            continue
        shares = bool(np.isin(values, (0.0, 1.0)).all())
        factor = 100.0 if shares else 1.0
        mean, error = factor * float(values.mean()), factor * float(values.std()) / float(np.sqrt(values.size))
        bar = scene.bars.get(name)
        verdict = f"bar {bar}: {bar.verdict(mean)}; " if bar else ""
        made.append(Figure(name, mean, unit="%" if shares else "", remark=f"{verdict}+- {error:.2f}{lost}"))
    return made
