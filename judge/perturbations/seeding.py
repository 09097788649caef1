"""The random generator of one perturbation of one story, independent of all other perturbations."""

from __future__ import annotations

from random import Random

from judge.fingerprint import digest


def rng_of(seed: int, perturbation: str, story: str) -> Random:
    """The random generator of a story's perturbation. All strengths share it, so that the edits of a lower strength are
    among those of a higher one.
    """
    return Random(int.from_bytes(digest(f"{seed}\x00{perturbation}\x00{story}"), "little"))
