"""Simulated studies unlike what planning assumes: whole points, skewed story-prompts, noise that differs between them.

Planning takes scores as smooth and intervals as Student's; here ratings are 1 to 5 by uneven thresholds, story-prompts
have exponential effects, and every story-prompt has its own noise, drawn from t with 5 degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

THRESHOLDS = np.array([-1.2, -0.1, 0.5, 1.6])


@dataclass(frozen=True)
class Study:
    """Stories' story-prompts, people's ratings (n, people) and judges' ratings (judges, n, repeats)."""

    story_prompt: Codes
    system: Codes
    people: Floats
    judges: Floats

    @property
    def means(self) -> Floats:
        return np.asarray(self.people.mean(axis=1), dtype=np.float64)


def simulate(
    rng: np.random.Generator,
    story_prompts: int,
    *,
    systems: int = 5,
    people: int = 3,
    noise: tuple[float, ...] = (1.0,),
    repeats: int = 1,
    person_noise: float = 1.0,
) -> Study:
    """A study; `noise` is each judge's own, on top of quality."""
    prompt = np.repeat(np.arange(story_prompts), systems)
    system = np.tile(np.arange(systems), story_prompts)
    n = prompt.size
    quality = 0.6 * (rng.exponential(size=story_prompts) - 1)[prompt] + np.linspace(-0.6, 0.6, systems)[system]
    quality = quality + 0.7 * rng.standard_t(5, n)
    rough = rng.gamma(4, 0.25, story_prompts)[prompt]

    def rated(scale: float, count: int) -> Floats:
        noisy = quality[:, None] + scale * rough[:, None] * rng.standard_t(5, (n, count))
        return np.digitize(noisy, THRESHOLDS).astype(np.float64) + 1

    return Study(prompt, system, rated(person_noise, people), np.stack([rated(scale, repeats) for scale in noise]))
