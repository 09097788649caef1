"""How often the score interval of an AUC holds the true area, with few texts and with few books.

Scores of seen and unseen texts are heavy-tailed around books whose levels are skewed; skewed within books and between
them (exponential); or normal, with seen texts spread twice as widely. The share of the books' levels in the spread is
stated. Through `contamination.area.area`, which `judge contamination auc` prints. The true area is that of a seen text
and an unseen text of other books. One study's scores are moved to five true areas.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np

from judge.contamination.thresholds import area
from tests.benchmarks.simulations.clean_contamination import NAME, scores_file
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Floats

AREAS = (0.5, 0.7, 0.85, 0.95, 0.983)
WORLDS = ("heavy tails", "skewed", "unlike spreads")
TEXTS = ((10, 10), (20, 20), (10, 40), (50, 50))
BOOKS = ((5, 5, 3, 0.4), (5, 5, 10, 0.1), (5, 5, 10, 0.4), (5, 5, 10, 0.8), (10, 10, 10, 0.4), (20, 20, 10, 0.4))
"""Seen and unseen books, texts of each, and the books' share of the spread."""
COVERAGE = Bar(93.0, 97.0)


def drawn(world: str, books: int, texts: int, shared: float, seen: bool, rng: np.random.Generator) -> Floats:
    """Scores (books, texts) of one class, around 0."""
    shape = (books, texts)
    if world == "heavy tails":
        level, own = (rng.gamma(2.0, 1.0, (books, 1)) - 2.0) / np.sqrt(2), rng.standard_t(5, shape) * np.sqrt(3 / 5)
    elif world == "skewed":
        level, own = rng.exponential(size=(books, 1)) - 1, rng.exponential(size=shape) - 1
    else:
        level, own = rng.standard_normal((books, 1)), rng.standard_normal(shape)
    spread = 2.0 if seen and world == "unlike spreads" else 1.0
    return np.asarray(spread * (np.sqrt(shared) * level + np.sqrt(1 - shared) * own), dtype=np.float64)


@cache
def shifts(world: str, shared: float) -> tuple[float, ...]:
    """How far the seen texts' scores are moved for each true area."""
    rng = np.random.default_rng(0)
    seen, unseen = (drawn(world, 400_000, 1, shared, side, rng).reshape(-1) for side in (True, False))
    return tuple(float(np.quantile(unseen - seen, true)) for true in AREAS)


def study(seed: int, *, world: str, seen: int, unseen: int, texts: int, shared: float) -> Outcome:
    """One labelled set: does the interval hold each true area, and how wide is it?"""
    rng = np.random.default_rng(seed)
    sides = [drawn(world, n, texts, shared, own, rng) for n, own in ((seen, True), (unseen, False))]
    label = np.repeat([True, False], [seen * texts, unseen * texts])
    book = np.repeat(np.arange(seen + unseen), texts)
    found: Outcome = {}
    for true, shift in zip(AREAS, shifts(world, shared), strict=True):
        values = np.concatenate([(sides[0] + shift).reshape(-1), sides[1].reshape(-1)])
        estimate = area(scores_file("books", values, label, book if texts > 1 else None), NAME, label)
        assert estimate.low is not None
        assert estimate.high is not None
        found[f"holds {true:g}"] = float(estimate.low <= true <= estimate.high)
        found[f"width at {true:g}"] = estimate.high - estimate.low
        found[f"no width at {true:g}"] = float(estimate.high - estimate.low <= 0)
    return found


SCENES = [
    scene(
        f"{world}: {seen} + {unseen} "
        + (f"books of {texts} texts, {shared:g} of the spread" if texts > 1 else "texts"),
        study,
        {f"holds {true:g}": COVERAGE for true in AREAS} | {f"no width at {true:g}": Bar(high=0.0) for true in AREAS},
        world=world,
        seen=seen,
        unseen=unseen,
        texts=texts,
        shared=shared,
    )
    for world in WORLDS
    for seen, unseen, texts, shared in (*((*sizes, 1, 0.0) for sizes in TEXTS), *BOOKS)
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
