"""The random numbers of one perturbation of one story: the same whatever else is made, and in whatever order."""

from __future__ import annotations

from random import Random

from judge.fingerprint import digest


def rng_of(seed: int, perturbation: str, story: str) -> Random:
    """The generator; all strengths share it, so that the edits of one are among those of the next."""
    return Random(int.from_bytes(digest(f"{seed}\x00{perturbation}\x00{story}"), "little"))
