"""How many careless raters the six signs find: 30 raters, three a story, 20 % careless in five kinds.

python -m tests.benchmarks.simulations.careless_raters [REPEATS]
"""

from __future__ import annotations

import sys

import numpy as np

from judge.lab.people.signs import DROP, SPEEDS, USES, Judged, Work, judged

KINDS = ("uniform", "own centre", "straight line", "half attentive", "skimmer")
CRITERIA, SHARED = 3, 0.6


def study(
    stories: int, icc: float, rng: np.random.Generator, *, raters: int = 30, k: int = 3, times: bool = True
) -> tuple[Work, np.ndarray]:
    """Work of `raters` who read `stories` each, and who of them is careless."""
    n = stories * raters // k
    table = np.zeros((n, raters), dtype=bool)
    for i in range(n):
        table[i, [(i * k + j + 7 * (i // raters)) % raters for j in range(k)]] = True
    careless = np.zeros(raters, dtype=bool)
    careless[rng.choice(raters, raters // 5, replace=False)] = True
    kind = np.where(careless, rng.integers(0, 5, raters), -1)
    noise = 1 - icc

    def shared(*shape: int) -> np.ndarray:
        return np.sqrt(SHARED) * rng.normal(size=(*shape, 1)) + np.sqrt(1 - SHARED) * rng.normal(
            size=(*shape, CRITERIA)
        )

    truth, lenient = np.sqrt(icc) * shared(n), np.sqrt(noise / 4) * shared(raters)
    use, centre = np.exp(USES * rng.normal(size=raters)), rng.integers(2, 5, raters)

    def rated(r: int, quality: np.ndarray) -> np.ndarray:
        honest = 3 + lenient[r] + use[r] * (quality + np.sqrt(noise * 0.75) * shared())
        if kind[r] == 0 or (kind[r] == 3 and rng.random() < 0.5):
            return rng.integers(1, 6, CRITERIA).astype(float)
        if kind[r] == 1:
            honest = centre[r] + 0.8 * rng.normal(size=CRITERIA)
        if kind[r] == 2:
            honest = np.full(CRITERIA, centre[r]) + (rng.random() < 0.1)
        if kind[r] == 4:
            honest = 3 + lenient[r] + use[r] * (0.4 * quality + np.sqrt(noise * 0.75 + 0.84 * icc) * shared())
        return np.clip(np.round(honest), 1, 5)

    ratings = np.full((n, raters, CRITERIA), np.nan)
    for i, r in zip(*np.nonzero(table), strict=True):
        ratings[i, r] = rated(r, truth[i])
    number = max(2, stories // 6)
    keys: dict[str, list[tuple[int, int]]] = {"repeat": [], "check": []}
    for r in range(raters):
        own = rng.permutation(np.flatnonzero(table[:, r]))[: 2 * number]
        keys["repeat"] += [(r, int(i)) for i in own[:number]]
        keys["check"] += [(r, int(i)) for i in own[number:]]
    repeated = np.array([rated(r, truth[i]) for r, i in keys["repeat"]])
    checked = np.array([rated(r, truth[i] - DROP) for r, i in keys["check"]])
    faster = np.where(careless & (rng.random(raters) < 0.6), rng.uniform(2.5, 6, raters), 1.0)
    pace = 230 * np.exp(SPEEDS * rng.normal(size=raters)) * faster
    if not times:
        pace = np.full(raters, np.nan)
    return Work(ratings, tuple(keys["repeat"]), repeated, tuple(keys["check"]), checked, pace, 1, 5), careless


def found(stories: int, icc: float, repeats: int, *, times: bool = True, seed: int = 1) -> tuple[float, float]:
    """Share of careless raters in doubt, and of attentive ones."""
    rng = np.random.default_rng(seed)
    hits, false = [], []
    for _ in range(repeats):
        work, careless = study(stories, icc, rng, times=times)
        result: Judged = judged(work, false=0.03, simulated=400, rng=rng)
        hits.append(result.doubted[careless].mean())
        false.append(result.doubted[~careless].mean())
    return float(np.mean(hits)), float(np.mean(false))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    for n in (12, 24, 48):
        for icc in (0.3, 0.5):
            for times in (True, False):
                hit, wrong = found(n, icc, count, times=times)
                how = "with" if times else "without"
                print(f"{n} stories, ICC {icc}, {how} times: found {hit:.2f}, false {wrong:.3f}")
