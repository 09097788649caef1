"""Ranking of several variants by agreement with people, from pairwise contrasts.

Variants are values of what is compared, e.g. Eval-Prompts. A variant is tied with the best if the interval of their
difference includes 0. A variant's score is the mean of its differences of tau from all other variants. Each difference
is computed on the stories that the two variants share, so that variants with different missing stories can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judge.analysis.comparison.result import Entry, Ranked
from judge.analysis.comparison.sentence import leaves_zero_out
from judge.base.estimate import Estimate

LEAST = 3
"""Variants from which a ranking says more than their contrast."""


def ranked(entries: Sequence[Entry]) -> list[Ranked]:
    """Ranks of variants: one item for each variant, group after group, the best of each group first.

    Variants are the things that are compared, for example several Eval-Prompts. A group is the variants of one dataset
    that share all other settings. It is ranked if it has three or more variants and every pair has a difference in tau.
    """
    return [rank for group in _groups(entries) for rank in _ranking(group)]


def _groups(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Yield lists of contrasts of one dataset that share all settings except the one that is compared."""
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.dataset, entry.result.contrast.shared), []).append(entry)
    yield from groups.values()


def _ranking(entries: Sequence[Entry]) -> Iterator[Ranked]:
    variants = list(
        dict.fromkeys(name for e in entries for name in (e.result.contrast.first, e.result.contrast.second))
    )
    pairs = len(variants) * (len(variants) - 1) // 2
    between = {(e.result.contrast.first, e.result.contrast.second): e.result.means["tau"] for e in entries}
    if len(variants) < LEAST or len(between) < pairs or any(estimate.value is None for estimate in between.values()):
        return
    score = {name: _score(name, between) for name in variants}
    order = sorted(variants, key=lambda name: -score[name])
    best = order[0]
    for rank, name in enumerate(order, 1):
        if name == best:
            yield Ranked(rank, name, None, None, entries[0])
            continue
        below = between[best, name] if (best, name) in between else _reversed(between[name, best])
        shown = leaves_zero_out(below)
        yield Ranked(rank, name, below, None if shown is None else not shown, entries[0])


def _score(name: str, between: dict[tuple[str, str], Estimate]) -> float:
    """Sum of the differences in tau between a variant and each other variant, this variant minus the other.

    `between` maps (first, second) to the difference second minus first. All variants have the same number of
    differences.
    """
    gained = sum(estimate.value or 0.0 for (_, second), estimate in between.items() if second == name)
    lost = sum(estimate.value or 0.0 for (first, _), estimate in between.items() if first == name)
    return gained - lost


def _reversed(difference: Estimate) -> Estimate:
    """The difference between two sides with its sign reversed, that is first minus second instead of second minus
    first.
    """
    value, low, high = difference.value, difference.low, difference.high
    return replace(
        difference,
        value=None if value is None else -value,
        low=None if high is None else -high,
        high=None if low is None else -low,
    )
