"""How often intervals of detection hold the truth with few pairs, counted over all outcomes: no error of simulation.

`python -m tests.benchmarks.detection_intervals`: planted judges that detect 0 to 10 of ten pairs, and else tie, throw
a coin, or half of both; outside 93 to 97 % by interval, as docs/stress_report.md prints it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.stats.ordering.detection import intervals

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]
Z = float(special.ndtri(0.975))


def outcomes(n: int) -> Ends:
    """Every (wins, losses) of n pairs."""
    wins, losses = (each.ravel() for each in np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij"))
    return wins[wins + losses <= n], losses[wins + losses <= n]


def chances(n: int, wins: Floats, losses: Floats, won: float, lost: float) -> Floats:
    """Their chances."""
    ties, tied = n - wins - losses, max(1 - won - lost, 0.0)
    ways = special.gammaln(n + 1) - sum(special.gammaln(each + 1) for each in (wins, losses, ties))
    logs = special.xlogy(wins, won) + special.xlogy(losses, lost) + special.xlogy(ties, tied)
    return np.asarray(np.exp(ways + logs), dtype=np.float64)


def ours(n: int, wins: Floats, losses: Floats) -> Ends:
    """Tango's, as the program has it."""
    place = np.arange(n)
    samples = np.where(place < wins[:, None], 1.0, np.where(place >= n - losses[:, None], 0.0, 0.5))
    found = intervals(samples, place)
    return 2 * found.low - 1, 2 * found.high - 1


def bonett_price(n: int, wins: Floats, losses: Floats) -> Ends:
    """Bonett and Price 2012: Wald with one added to wins and to losses, of n + 2."""
    a, b = (wins + 1) / (n + 2), (losses + 1) / (n + 2)
    half = Z * np.sqrt((a + b - (a - b) ** 2) / (n + 2))
    return a - b - half, a - b + half


def halves(n: int, wins: Floats, losses: Floats) -> Ends:
    """Wald with one half added to wins and to losses, of n + 1."""
    a, b = (wins + 0.5) / (n + 1), (losses + 0.5) / (n + 1)
    half = Z * np.sqrt((a + b - (a - b) ** 2) / (n + 1))
    return a - b - half, a - b + half


def judges() -> Iterator[tuple[str, float, float]]:
    """Each planted judge: its name, its chances of a win and of a loss; none that always ends alike."""
    for tenths in range(11):
        for name, coins in (("ties", 0.0), ("coin", 0.5), ("both", 0.25)):
            won, lost = tenths / 10 + coins * (1 - tenths / 10), coins * (1 - tenths / 10)
            if won + lost > 0 and won < 1:
                yield f"{tenths} of ten, else {name}", won, lost


def outside(n: int, interval: Callable[[int, Floats, Floats], Ends]) -> dict[str, float]:
    """Coverage in per cent of the planted judges that it leaves out of 93 to 97."""
    wins, losses = outcomes(n)
    low, high = interval(n, wins, losses)
    found = {}
    for name, won, lost in judges():
        held = (low <= won - lost + 1e-9) & (won - lost <= high + 1e-9)
        found[name] = float(100 * chances(n, wins, losses, won, lost)[held].sum())
    return {name: value for name, value in found.items() if not 93 <= value <= 97}


def main() -> int:
    """Count and print."""
    for n in (30, 60, 100, 200):
        for name, interval in (("Tango", ours), ("Bonett-Price", bonett_price), ("halves added", halves)):
            left = outside(n, interval)
            said = "; ".join(f"{judge} {value:.1f}" for judge, value in left.items())
            print(f"{n:4} pairs  {name:14} {len(left)} outside  {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
