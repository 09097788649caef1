"""Notes on how well mean human ratings separate the systems. System-level correlations depend on this."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.estimation import paired_differences
from judge.stats.resampling import true_means


def notes(matrix: RatingMatrix) -> Iterator[str]:
    """Notes for a system-level table on how well mean human ratings separate the systems.

    They give the number of pairs of systems that differ significantly and the reliability of the systems' means. They
    also say if systems do not share their story-prompts.
    """
    systems = len(matrix.systems)
    if systems < 2:
        return
    sentences, shared = [], True
    for name, people in zip(matrix.criteria, matrix.people, strict=True):
        if np.isnan(people).all():
            continue
        table = paired_differences.by_story_prompt(people, matrix.system, matrix.story_prompt, systems)
        family = paired_differences.adjusted(paired_differences.all_pairs(table))
        apart = int(paired_differences.told_apart(family, systems).sum())
        rated = ~np.isnan(table)
        shared &= bool((rated.all(axis=1) | ~rated.any(axis=1)).all())
        reliability = true_means.reliability(people, matrix.system, matrix.story_prompt)
        reliable = f"{reliability.value:.2f}" if reliability.value is not None else str(reliability.reason)
        sentences.append(f"{name} {apart} of {len(family)} pairs, reliability {reliable}")
    if sentences:
        yield (
            f"{matrix.dataset}: systems that people's means tell apart (paired t over story-prompts, Holm, 5 %), and "
            f"the share of the means' variance that is not noise: {'; '.join(sentences)}"
        )
    if not shared:
        yield (
            f"{matrix.dataset}: the systems do not share their story-prompts, so that differences between their means "
            "are also differences between their story-prompts"
        )
