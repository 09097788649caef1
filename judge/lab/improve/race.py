"""Successive halving of candidates on the same story-prompts, whose number grows in equal steps.

In round r of R every candidate that is left has answered r / R of the story-prompts of a part; the better half goes on.
Compared with asking all candidates about all story-prompts, this costs about half and chooses as well (Karnin, Koren &
Somekh 2013, ICML; `tests/benchmarks/simulations/improving.py`). Every comparison is on equal sets of story-prompts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

# Scores of candidates in a round, on all story-prompts up to it; NaN: undefined, which loses.
Scores = Callable[[Sequence[str], int], Mapping[str, float]]
# Story-prompts that are added in a round, at least: with fewer, the first round leaves out good candidates by chance.
LEAST = 8
# Digits by which scores are compared: closer ones are tied, and the earlier candidate goes on.
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Race:
    """The rounds, each the scores of the candidates asked in it on all story-prompts up to it,
    and the winner of each pool (None: empty pool). `base` is the original's score in the last round.

    The first pool holds candidates, the second paraphrases, a third more repeats, which are asked in any case.
    """

    rounds: tuple[Mapping[str, float], ...]
    winners: tuple[str | None, ...]
    base: float

    @property
    def winner(self) -> str | None:
        """The best of all that are no paraphrases; with equal scores the candidate before more repeats."""
        names = [name for name in (self.winners[0], *self.winners[2:]) if name is not None]
        return ranked(names, self.rounds[-1])[0] if names else None

    def promised(self, name: str) -> float:
        """What the last round promised of a winner: its score minus the original's."""
        return self.rounds[-1][name] - self.base


def rounds_for(candidates: int, story_prompts: int) -> int:
    """Number of rounds that halve so many candidates to one, each with `LEAST` story-prompts or more; at least 1."""
    halvings = math.ceil(math.log2(candidates)) if candidates > 1 else 1
    return max(1, min(halvings, story_prompts // LEAST))


def steps(story_prompts: int, rounds: int) -> list[int]:
    """Numbers of story-prompts that are asked by the end of each round, in equal steps up to all."""
    rounds = max(1, min(rounds, story_prompts))
    return [round(story_prompts * (step + 1) / rounds) for step in range(rounds)]


def race(base: str, pools: Sequence[Sequence[str]], rounds: int, scores: Scores) -> Race:
    """Race each pool by itself, with the original `base` beside them in every round.

    `scores` is asked for the original and all candidates left, in the order of their pools; each round is numbered from
    0. The original is never left out and wins no pool.
    """
    left = [list(pool) for pool in pools]
    told: list[Mapping[str, float]] = []
    for number in range(rounds):
        asked = list(dict.fromkeys([base, *(name for pool in left for name in pool)]))
        found = dict(scores(asked, number))
        told.append(found)
        last = number == rounds - 1
        left = [ranked(pool, found)[: 1 if last else math.ceil(len(pool) / 2)] for pool in left]
    winners = tuple(_defined(pool, told[-1]) for pool in left)
    return Race(tuple(told), winners, told[-1][base])


def ranked(names: Sequence[str], scores: Mapping[str, float]) -> list[str]:
    """Names by score, highest first; undefined ones last, ties in the order given."""

    def key(name: str) -> float:
        score = scores[name]
        return math.inf if math.isnan(score) else -round(score, _DIGITS)

    return sorted(names, key=key)


def _defined(pool: Sequence[str], scores: Mapping[str, float]) -> str | None:
    return pool[0] if pool and not math.isnan(scores[pool[0]]) else None


def asked(pools: Sequence[int], story_prompts: int, rounds: int) -> int:
    """Number of candidates x story-prompts that a race asks, with the original; `pools` are their sizes."""
    total, before, left = 0, 0, list(pools)
    for step in steps(story_prompts, rounds):
        total += (step - before) * (1 + sum(left))
        before, left = step, [math.ceil(size / 2) for size in left]
    return total
