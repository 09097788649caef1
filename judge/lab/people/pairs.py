"""Pairs of stories that people compare: which pairs, who compares which, and on which side a story stands.

The stories of a story-prompt are joined in a ring, in an order drawn so that all pairs of systems come about equally
often: each story stands in two pairs, and wins connect all stories of the story-prompt. A pair carries two systems, so
each person's pairs are chosen so that the person meets every system equally often, to within 1. Sides follow the trails
of each person's graph of systems, which leaves every system as often left as right, to within 1; a trail is walked in
the direction that turns round what others saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from judge.base.arrays import Codes, Masks
from judge.base.errors import SpecError
from judge.lab.people.design import Design, counts, greedy, groups_of, refusal

# Rings that are drawn for a story-prompt, of which the one that evens the pairs of systems is kept.
_RINGS = 20
# Tries of the whole table, rounds of exchanges in each, and people with whom one exchange is looked for.
_TRIES, _ROUNDS, _OTHERS = 12, 400, 12


@dataclass(frozen=True, slots=True, eq=False)
class PairDesign:
    """Who compares what: `pairs` (pairs, 2) are indices of stories; `design` has pairs where a study of ratings has
    stories; `swapped` says for each rater, in reading order, whether the pair's second story stands left. `uneven` is
    the largest difference between two systems that one person meets."""

    pairs: Codes
    design: Design
    swapped: tuple[tuple[bool, ...], ...]
    uneven: int


def rings(prompts: Codes, systems: Codes, rng: np.random.Generator) -> Codes:
    """Pairs (pairs, 2) of stories of one story-prompt: a ring of all its stories, or the one pair of two."""
    met = np.zeros((int(systems.max(initial=0)) + 1,) * 2)
    pairs: list[tuple[int, int]] = []
    for prompt in rng.permutation(int(prompts.max(initial=-1)) + 1):
        stories = np.flatnonzero(prompts == prompt)
        if stories.size < 2:
            continue
        drawn = [rng.permutation(stories) for _ in range(_RINGS if stories.size > 2 else 1)]
        # Of two stories the ring goes there and back.
        edges = [np.stack([ring, np.roll(ring, -1)], axis=1)[: 1 if ring.size == 2 else None] for ring in drawn]
        best = min(edges, key=lambda each: float(met[systems[each[:, 0]], systems[each[:, 1]]].sum()))
        for a, b in best:
            met[systems[a], systems[b]] += 1
            met[systems[b], systems[a]] += 1
            pairs.append((int(a), int(b)))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def pair_design(prompts: Codes, systems: Codes, raters: int, per_pair: int, rng: np.random.Generator) -> PairDesign:
    """A design for stories with codes `prompts` and `systems` (stories,), each pair compared by `per_pair` people.
    Raises SpecError with the reason where there is none."""
    pairs = rings(prompts, systems, rng)
    if not len(pairs):
        raise SpecError("no story-prompt has two stories to compare", hint="a dataset with several stories a prompt")
    if why := refusal(len(pairs), raters, per_pair, "pair", "pairs"):
        raise SpecError(why, hint="more stories, more people a pair, or fewer raters")
    of, prompt = systems[pairs], prompts[pairs[:, 0]]
    tables = []
    for _ in range(_TRIES):
        table = greedy(prompt, of, raters, per_pair, (), rng)
        _even(table, of, rng)
        tables.append((int(groups_of(table).max() > 0), _spread(counts(table, of)), table))
        if tables[-1][:2] <= (0, 1):
            break
    apart, uneven, table = min(tables, key=lambda each: each[:2])
    if apart:
        raise SpecError("the raters fall into groups that share no pair", hint="more ratings a pair, or another seed")
    turned = np.zeros(len(pairs))
    orders, swapped, adjacent = [], [], 0
    for rater in range(raters):
        own = _order(np.flatnonzero(table[:, rater]), of, prompt, rng)
        adjacent += sum(bool(prompt[a] == prompt[b]) for a, b in pairwise(own))
        own_sides = sides([(int(of[p, 0]), int(of[p, 1])) for p in own], [float(turned[p]) for p in own])
        turned[own] += np.where(own_sides, 1, -1)
        orders.append(tuple(own))
        swapped.append(tuple(own_sides))
    return PairDesign(pairs, Design(table, tuple(orders), (), adjacent), tuple(swapped), uneven)


def _spread(met: Codes) -> int:
    """Largest difference between two systems that one rater meets; where the study has some systems more often than
    others, between two raters who meet one system."""
    return int(min(np.ptp(met, axis=1).max(), np.ptp(met, axis=0).max()))


def _even(table: Masks, of: Codes, rng: np.random.Generator) -> None:
    """While somebody's systems differ by 2 or more: the exchange of pairs with another rater that lowers the sum of
    squares of both most."""
    met = counts(table, of).astype(np.float64)
    both = np.zeros((len(of), met.shape[1]))
    np.add.at(both, (np.arange(len(of)), of[:, 0]), 1)
    np.add.at(both, (np.arange(len(of)), of[:, 1]), 1)
    for _ in range(_ROUNDS):
        spread = np.ptp(met, axis=1)
        if spread.max() <= 1:
            return
        r = int(rng.choice(np.flatnonzero(spread == spread.max())))
        best: tuple[float, int, int, int] | None = None
        for q in rng.permutation(len(met))[:_OTHERS]:
            if q == r:
                continue
            gives, takes = (np.flatnonzero(table[:, x] & ~table[:, y]) for x, y in ((r, q), (q, r)))
            # Half the change of both sums of squares, for giving each of r's pairs against each of q's.
            given, taken = both[gives], both[takes]
            apart = ((given**2).sum(axis=1)[:, None] + (taken**2).sum(axis=1)) - 2 * given @ taken.T
            change = taken @ (met[r] - met[q]) - (given @ (met[r] - met[q]))[:, None] + apart
            if change.size and (best is None or change.min() < best[0]):
                g, t = np.unravel_index(int(np.argmin(change)), change.shape)
                best = (float(change.min()), int(q), int(gives[g]), int(takes[t]))
        if best is None or best[0] > 0 or (best[0] == 0 and rng.random() < 0.2):
            return
        _, q, give, take = best
        table[[give, take], r], table[[give, take], q] = (False, True), (True, False)
        met[r] += both[take] - both[give]
        met[q] += both[give] - both[take]


def _order(own: Codes, of: Codes, prompt: Codes, rng: np.random.Generator) -> list[int]:
    """One rater's pairs in reading order: each next one has the systems that came least so far, and not the
    story-prompt of the one before, if any such is left."""
    left = list(rng.permutation(own))
    met = np.zeros(int(of.max()) + 1)
    order: list[int] = []
    while left:
        # Story-prompts with most pairs left go first, or they are left over in a row at the end.
        waiting = np.bincount(prompt[left], minlength=int(prompt.max()) + 1)
        last = prompt[order[-1]] if order else -1
        cost = [
            (bool(prompt[p] == last), bool(2 * waiting[prompt[p]] <= len(left)), met[of[p]].sum(), -waiting[prompt[p]])
            for p in left
        ]
        chosen = left.pop(min(range(len(left)), key=cost.__getitem__))
        met[of[chosen]] += 1
        order.append(int(chosen))
    return order


def sides(edges: Sequence[tuple[int, int]], turned: Sequence[float]) -> list[bool]:
    """For each pair of systems whether the second stands left, so that every system is as often left as right to
    within 1. `turned` is how often others saw the second left, less how often the first: a trail is walked so as to
    even it."""
    at: dict[int, list[int]] = {}
    for e, (a, b) in enumerate(edges):
        at.setdefault(a, []).append(e)
        at.setdefault(b, []).append(e)
    second = [False] * len(edges)
    used = [False] * len(edges)

    def trail(node: int) -> list[tuple[int, bool]]:
        walked: list[tuple[int, bool]] = []
        while True:
            while at[node] and used[at[node][-1]]:
                at[node].pop()
            if not at[node]:
                return walked
            e = at[node].pop()
            used[e] = True
            # Whoever the trail leaves stands left.
            walked.append((e, edges[e][1] == node and edges[e][0] != node))
            node = edges[e][0] if edges[e][1] == node else edges[e][1]

    odd = [node for node in at if len(at[node]) % 2]
    for node in [*odd, *at]:
        walked = trail(node)
        excess = sum(turned[e] * (1 if other else -1) for e, other in walked)
        for e, other in walked:
            second[e] = other != (excess > 0)
    return second
