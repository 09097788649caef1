"""Random generator for each story and perturbation, independent of all other perturbations."""

from __future__ import annotations

from random import Random

from judge.base.fingerprint import digest


def rng_of(seed: int, perturbation: str, story: str) -> Random:
    """Random generator, the same for all strengths, so that a higher strength includes a lower one's edits."""
    return Random(int.from_bytes(digest(f"{seed}\x00{perturbation}\x00{story}"), "little"))
