"""Studies whose truth is known: story-prompts favour systems of their own, so that comparisons are not independent."""

from __future__ import annotations

import numpy as np

from judge.stats.comparing import davidson
from judge.stats.comparing.paired_comparisons import Comparisons


def study(
    rng: np.random.Generator, prompts: int, *, systems: int = 4, taste: float = 0.6, position: float = 0.5
) -> Comparisons:
    """Both orders of all pairs for each story-prompt, strengths -.6 to .6, ν = .5, and tastes of each story-prompt."""
    i, j = np.triu_indices(systems, 1)
    first, second = np.concatenate([i, j]), np.concatenate([j, i])
    quality = np.linspace(-0.6, 0.6, systems) + rng.normal(0, taste, (prompts, systems))
    lead = quality[:, first] - quality[:, second] + position
    share = davidson.shares(lead / 2, np.full(lead.shape, np.log(0.5)))
    ending = (rng.random(lead.shape)[..., None] > share.cumsum(axis=-1)).sum(axis=-1).reshape(-1)
    return Comparisons(
        tuple(f"s{k}" for k in range(systems)),
        np.tile(first, prompts),
        np.tile(second, prompts),
        np.eye(3)[ending],
        np.repeat(np.arange(prompts), first.size),
    )
