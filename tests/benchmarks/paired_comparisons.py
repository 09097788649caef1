"""Speed of strengths with 1,000 bootstrap resamples, beside one fit of evalica and of choix. Prints; never asserts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from judge.stats.comparing import davidson
from judge.stats.comparing.paired_comparisons import Comparisons
from judge.stats.comparing.strengths import Bootstrap, strengths
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.statistics import seconds

MANY, SYSTEMS, PROMPTS, RESAMPLES, BAR = 100_000, 11, 96, 1_000, 10.0


def drawn(covariates: int = 0) -> Comparisons:
    """100,000 comparisons of 11 systems on 96 story-prompts, with ties and an advantage of the first place."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, SYSTEMS, MANY)
    second = (first + rng.integers(1, SYSTEMS, MANY)) % SYSTEMS
    quality = np.linspace(-1, 1, SYSTEMS)
    share = davidson.shares((quality[first] - quality[second] + 0.5) / 2, np.full(MANY, -0.5))
    ending = np.eye(3)[(rng.random(MANY)[:, None] > share.cumsum(axis=1)).sum(axis=1)]
    names = tuple(f"s{k}" for k in range(SYSTEMS))
    return Comparisons(
        names, first, second, ending, rng.integers(0, PROMPTS, MANY), rng.normal(size=(MANY, covariates))
    )


def main() -> int:
    """Measure and print; process time, so set OMP_NUM_THREADS=1 for one thread."""
    figures = []
    for covariates, name in ((0, "position and ties"), (1, "position, ties and length")):
        found = drawn(covariates)
        taken = seconds(lambda found=found: strengths(found, bootstrap=Bootstrap(RESAMPLES)), 3)
        figures.append(Figure(f"{RESAMPLES:,} bootstraps, {name}", taken, f"<= {BAR:g}", "s"))
        taken = seconds(lambda found=found: strengths(found), 3)
        figures.append(Figure(f"clustered intervals, {name}", taken, unit="s"))
    found = drawn()
    ours = seconds(lambda: davidson.fit(found), 3)
    figures.append(Figure("one fit with position and ties", ours, unit="s"))
    for name, fit in peers(found).items():
        taken = seconds(fit, 3)
        figures.append(Figure(f"one fit of {name}", taken, unit="s", remark=f"{taken / ours:.2f} times ours"))
    show(f"{MANY:,} comparisons, {SYSTEMS} systems", figures)
    return 0


def peers(found: Comparisons) -> dict[str, Callable[[], object]]:
    """Fits by other programs, as far as they are installed: neither knows places, choix knows no ties."""
    known: dict[str, Callable[[], object]] = {}
    ending = found.ended.argmax(axis=1)
    if find_spec("evalica"):
        import evalica

        names = np.array(found.systems, dtype=object)
        words = [evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw]
        sides = names[found.first].tolist(), names[found.second].tolist(), [words[k] for k in ending]
        known["evalica, newman"] = lambda: evalica.newman(*sides)
    if find_spec("choix"):
        import choix

        won = np.flatnonzero(ending < 2)
        sides_won = np.where(ending == 0, found.first, found.second), np.where(ending == 0, found.second, found.first)
        pairs = list(zip(*(side[won].tolist() for side in sides_won), strict=True))
        known["choix, ilsr"] = lambda: choix.ilsr_pairwise(SYSTEMS, pairs)
    return known


if __name__ == "__main__":
    raise SystemExit(main())
