"""Which rater reads which story, and in what order.

A rating is taken as system + prompt + story + rater + rest. Where every story is rated equally often, the difference
of two systems' raw means carries raters' leniency by the counts n[rater, system] alone, so these are made equal: every
system's stories are spread over the raters to within 1, and the raters' loads to within 2. Each story goes, in turn, to
the raters who have read least, least of its system, of its prompt, and have shared least with those chosen. Three
repairs make the counts exact; exchanges of stories of one system (which leave all counts as they are) separate prompts
and mix the raters, and further ones join raters who would otherwise fall into groups without a story in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import numpy as np

from judge.base.arrays import Codes, Floats, Masks
from judge.base.errors import SpecError

# Weights of load, system, prompt and shared stories in the choice of a rater.
_LOAD, _SYSTEM, _PROMPT, _PAIR = 4.0, 6.0, 3.0, 2.0
_EXCHANGES = 20_000
# Largest difference of two raters' loads.
_APART = 2
# Tables of which the best is taken, where they take no time, and where raters read few stories each, since connecting
# them costs balance there.
_TRIES, _FEW = 8, 4
_SOME, _QUICK = 3, 1500


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Who rates what: `table` (stories, raters), and each rater's reading order as indices of stories. `core` are the
    stories that all raters read. `adjacent` counts places where two stories of one prompt had to stand together. Where
    people compare, a pair of stories takes a story's place."""

    table: Masks
    orders: tuple[tuple[int, ...], ...]
    core: tuple[int, ...]
    adjacent: int

    @property
    def shared(self) -> tuple[int, int]:
        """Fewest and most stories that two raters share."""
        together = self.table.T.astype(np.int64) @ self.table
        pairs = [int(together[i, j]) for i, j in combinations(range(len(together)), 2)]
        return min(pairs), max(pairs)


def refusal(stories: int, raters: int, per_story: int, one: str = "story", many: str = "stories") -> str | None:
    """Why there is no such design, as a sentence; None where there is one. `one` and `many` are what is rated."""
    if raters < 2 or per_story < 2:
        return f"{min(raters, per_story)} rater a {one}: no two people read one {one}, so agreement cannot be known"
    if per_story > raters:
        return f"{per_story} raters a {one} and {raters} raters in all: there are too few people"
    if stories * per_story < raters:
        return f"{stories} {many} x {per_story} ratings are fewer than {raters} raters: somebody would get nothing"
    if stories * (per_story - 1) < raters - 1:
        return (
            f"{stories} {many} x {per_story} ratings cannot connect {raters} raters: some would share no {one}, "
            "not even through others, and their leniency could not be told from their stories"
        )
    return None


def design(
    prompts: Codes, systems: Codes, raters: int, per_story: int, rng: np.random.Generator, *, core: int = 0
) -> Design:
    """A design for stories with the codes `prompts` and `systems` (stories,), each from 0. `core` stories go to all
    raters, the others to `per_story`. Raises SpecError with the reason where there is none."""
    count = len(systems)
    if why := refusal(count, raters, per_story):
        raise SpecError(why, hint="more stories, more ratings a story, or fewer raters")
    if not 0 <= core <= count:
        raise SpecError(f"a core of {core} stories, of {count}", hint=f"0 to {count}")
    chosen = _core(systems, core, rng)
    ratings = count * per_story
    tries = _TRIES if ratings < _FEW * raters else _SOME if ratings <= _QUICK else 1
    tables = [_table(prompts, systems, raters, per_story, chosen, rng) for _ in range(tries)]
    connected = [each for each in tables if groups_of(each).max() == 0]
    if not connected:
        raise SpecError(
            "the raters fall into groups that share no story, and no exchange joins them",
            hint="more ratings a story, or another seed",
        )
    table = min(connected, key=lambda each: variance_of_means(each, systems, 1.0, 0.0))
    table = table[:, rng.permutation(raters)]
    orders, adjacent = [], 0
    for rater in range(raters):
        order, beside = reading_order(np.flatnonzero(table[:, rater]), prompts, systems, rng)
        orders.append(tuple(order))
        adjacent += beside
    return Design(table, tuple(orders), chosen, adjacent)


def _table(
    prompts: Codes, systems: Codes, raters: int, per_story: int, core: Sequence[int], rng: np.random.Generator
) -> Masks:
    table = greedy(prompts, systems[:, None], raters, per_story, core, rng)
    fixed = np.zeros(len(systems), dtype=np.bool_)
    fixed[list(core)] = True
    _balance(table, prompts, systems, fixed)
    _align(table, prompts, systems, fixed)
    _mix(table, prompts, systems, fixed, rng)
    _connect(table, systems, fixed, rng)
    return table


def _core(systems: Codes, core: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Stories that all read, spread over the systems to within 1."""
    queues = [list(rng.permutation(np.flatnonzero(systems == s))) for s in rng.permutation(int(systems.max()) + 1)]
    picked: list[int] = []
    while len(picked) < core:
        for queue in queues:
            if queue and len(picked) < core:
                picked.append(int(queue.pop()))
    return tuple(sorted(picked))


def greedy(
    prompts: Codes, systems: Codes, raters: int, per_story: int, core: Sequence[int], rng: np.random.Generator
) -> Masks:
    """Who rates what, story by story, each by those who have had least. `systems` is (stories, 1), or of pairs
    (pairs, 2). Stories of the `core` go to all."""
    table = np.zeros((len(systems), raters), dtype=np.bool_)
    by_system = np.zeros((raters, int(systems.max()) + 1))
    by_prompt = np.zeros((raters, int(prompts.max()) + 1))
    together = np.zeros((raters, raters))
    for story in core:
        table[story] = True
        by_system[:, systems[story]] += 1
        by_prompt[:, prompts[story]] += 1
    load = table.sum(axis=0).astype(np.float64)
    place = rng.permutation(int(prompts.max()) + 1)
    for story in np.lexsort((rng.random(len(systems)), place[prompts])):
        if table[story].all() and story in core:
            continue
        s, p = systems[story], prompts[story]
        cost = _LOAD * load + _SYSTEM * by_system[:, s].mean(axis=1) + _PROMPT * by_prompt[:, p]
        cost += rng.random(raters) * 0.5
        for _ in range(per_story):
            r = int(np.argmin(cost))
            table[story, r] = True
            load[r] += 1
            by_system[r, s] += 1
            by_prompt[r, p] += 1
            cost += _PAIR * together[r]
            cost[r] = np.inf
        readers = np.flatnonzero(table[story])
        together[np.ix_(readers, readers)] += 1
    return table


def counts(table: Masks, groups: Codes) -> Codes:
    """How often each rater (row) reads a story of each group (column); `groups` (stories,), or of pairs (pairs, 2)."""
    found: Codes = np.array(
        [np.bincount(groups[column].ravel(), minlength=int(groups.max()) + 1) for column in table.T]
    )
    return found


def _balance(table: Masks, prompts: Codes, systems: Codes, fixed: Masks) -> None:
    """Make each system's counts equal over raters to within 1, then the loads. Whoever reads more of a system than
    another also reads a story of it that the other does not, so there is always one to move; a move from more to fewer
    by one keeps the system's counts within 1."""
    n = counts(table, systems)
    for s in range(n.shape[1]):
        while n[:, s].max() - n[:, s].min() > 1:
            _move(table, n, s, int(np.argmax(n[:, s])), int(np.argmin(n[:, s])), prompts, systems, fixed)
    while (load := n.sum(axis=1)).max() - load.min() > 1:
        high, low = int(np.argmax(load)), int(np.argmin(load))
        s = int(np.argmax(n[high] - n[low]))
        _move(table, n, s, high, low, prompts, systems, fixed)


def _align(table: Masks, prompts: Codes, systems: Codes, fixed: Masks) -> None:
    """Let a rater's systems be odd together, where that lowers the variance of differences of systems' means and loads
    stay within 2: of two systems with 6 or 7 stories a rater, 7 + 7 and 6 + 6 carry no leniency, 7 + 6 and 6 + 7 do."""
    n = counts(table, systems)
    size = n.sum(axis=0)

    def cost(of: Codes) -> Floats:
        share = of / size
        summed: Floats = share.shape[-1] * (share**2).sum(axis=-1) - share.sum(axis=-1) ** 2
        return summed

    step = np.eye(n.shape[1], dtype=np.int64)
    while True:
        load, now = n.sum(axis=1), cost(n)
        fewer, more = (cost(n[:, None, :] + sign * step) - now[:, None] for sign in (-1, 1))
        # (rater who gives, rater who takes, system)
        change = fewer[:, None, :] + more[None, :, :]
        change[n[:, None, :] - n[None, :, :] != 1] = 0
        gives, takes = load[:, None] - 1, load[None, :] + 1
        change[(np.maximum(takes, load.max()) - np.minimum(gives, load.min()) > _APART) | (gives < 1)] = 0
        high, low, s = np.unravel_index(int(np.argmin(change)), change.shape)
        if change[high, low, s] > -1e-12:
            return
        _move(table, n, int(s), int(high), int(low), prompts, systems, fixed)


def _move(table: Masks, n: Codes, s: int, high: int, low: int, prompts: Codes, systems: Codes, fixed: Masks) -> None:
    movable = np.flatnonzero((systems == s) & table[:, high] & ~table[:, low] & ~fixed)
    read = np.bincount(prompts[table[:, low]], minlength=int(prompts.max()) + 1)
    story = movable[np.argmin(read[prompts[movable]])]
    table[story, high], table[story, low] = False, True
    n[high, s] -= 1
    n[low, s] += 1


def _mix(table: Masks, prompts: Codes, systems: Codes, fixed: Masks, rng: np.random.Generator) -> None:
    """Exchange the raters of two stories of one system where a rater then reads fewer stories of one prompt."""
    by_prompt = counts(table, prompts)
    free = [np.flatnonzero((systems == s) & ~fixed) for s in range(int(systems.max()) + 1)]
    free = [stories for stories in free if stories.size > 1]
    if not free or by_prompt.max() <= 1:
        return
    for u in rng.random((min(_EXCHANGES, 10 * int(table.sum())), 5)):
        stories = free[int(u[0] * len(free))]
        a, b = stories[int(u[1] * stories.size)], stories[int(u[2] * stories.size)]
        if prompts[a] == prompts[b]:
            continue
        of_a, of_b = np.flatnonzero(table[a]), np.flatnonzero(table[b])
        r, q = of_a[int(u[3] * of_a.size)], of_b[int(u[4] * of_b.size)]
        if table[a, q] or table[b, r]:
            continue
        p, o = prompts[a], prompts[b]
        # The sum of squares of a rater's counts falls by the difference, as one story leaves and another comes.
        gain = by_prompt[r, p] + by_prompt[q, o] - by_prompt[r, o] - by_prompt[q, p] - 2
        if gain > 0:
            table[a, r], table[a, q], table[b, q], table[b, r] = False, True, False, True
            by_prompt[r, p] -= 1
            by_prompt[r, o] += 1
            by_prompt[q, o] -= 1
            by_prompt[q, p] += 1


def groups_of(table: Masks) -> Codes:
    """Code of the connected group that each rater (column) belongs to: raters who share stories, directly or through
    others, have one code."""
    code = np.arange(table.shape[1])
    for readers in table:
        joined = np.unique(code[readers])
        if joined.size > 1:
            code[np.isin(code, joined)] = joined[0]
    return np.asarray(np.unique(code, return_inverse=True)[1], dtype=np.int64)


def _connect(table: Masks, systems: Codes, fixed: Masks, rng: np.random.Generator) -> None:
    """Join the groups of raters, by exchanging the raters of two stories in different groups, as far as possible."""
    while (group := groups_of(table)).max() > 0:
        of_story = np.array([group[np.argmax(row)] for row in table])
        if not _joined(table, systems, fixed, of_story, int(group.max()), rng):
            return


def _joined(table: Masks, systems: Codes, fixed: Masks, of_story: Codes, last: int, rng: np.random.Generator) -> bool:
    """Whether an exchange was found that leaves fewer groups than before; it is made. Stories of one system are tried
    first; of others, those that leave the two raters' systems within 1."""
    stories = rng.permutation(np.flatnonzero(~fixed))
    # Only a group with more ratings than its connection needs can give one away.
    ratings = np.bincount(of_story, weights=table.sum(axis=1))
    spare = ratings - np.bincount(of_story) - np.bincount(groups_of(table)) + 1 > 0
    for same in (True, False):
        for a in stories[spare[of_story[stories]]]:
            for b in stories[(of_story[stories] != of_story[a]) & ((systems[stories] == systems[a]) == same)]:
                for r, q in product(np.flatnonzero(table[a]), np.flatnonzero(table[b])):
                    table[a, r], table[a, q], table[b, q], table[b, r] = False, True, False, True
                    even = same or np.ptp(counts(table[:, [r, q]], systems), axis=1).max() <= 1
                    if even and groups_of(table).max() < last:
                        return True
                    table[a, r], table[a, q], table[b, q], table[b, r] = True, False, True, False
    return False


def reading_order(stories: Codes, prompts: Codes, systems: Codes, rng: np.random.Generator) -> tuple[list[int], int]:
    """One rater's stories in the order of reading, and the number of neighbours with one prompt.

    The i-th of a system's n stories stands at (i + 1/2) / n of the list, so the systems' counts stay even in every
    beginning of it; systems that fall on one place come in turns in an order and in its reverse, against a drift over
    the session. Stories of one system are then exchanged until no two of one prompt stand together."""
    places: list[tuple[float, float, int]] = []
    queues: dict[int, list[int]] = {}
    present = np.unique(systems[stories])
    for s, turn in zip(present, rng.permutation(present.size), strict=True):
        queues[int(s)] = own = [int(story) for story in rng.permutation(stories[systems[stories] == s])]
        for i in range(len(own)):
            places.append((round((i + 0.5) / len(own), 9), float(turn if i % 2 == 0 else -turn), int(s)))
    order = [queues[s].pop() for _, _, s in sorted(places)]
    _separate(order, prompts, systems)
    return order, _beside(order, prompts)


def _beside(order: Sequence[int], prompts: Codes) -> int:
    return sum(bool(prompts[a] == prompts[b]) for a, b in pairwise(order))


def _separate(order: list[int], prompts: Codes, systems: Codes) -> None:
    """Exchange stories of one system, then stories of two neighbouring places, until no prompt comes twice running."""
    for alike in (True, False):
        for i in range(len(order) - 1):
            if prompts[order[i]] != prompts[order[i + 1]]:
                continue
            before = _beside(order, prompts)
            others = [
                (x, j)
                for x in (i, i + 1)
                for j in range(len(order))
                if (systems[order[x]] == systems[order[j]] if alike else abs(x - j) == 1)
            ]
            for x, j in others:
                order[x], order[j] = order[j], order[x]
                if _beside(order, prompts) < before:
                    break
                order[x], order[j] = order[j], order[x]


def variance_of_means(table: Masks, systems: Codes, rater_variance: float, rest: float) -> float:
    """Mean variance of the difference of two systems' raw means, over pairs of systems: raters' leniency with the
    variance `rater_variance`, and `rest` of the variance of a single rating beside stories and prompts."""
    n = counts(table, systems).astype(np.float64)
    share: Floats = n / n.sum(axis=0)
    a, b = np.triu_indices(n.shape[1], 1)
    leniency = np.sum((share[:, a] - share[:, b]) ** 2, axis=0)
    noise = rest / n.sum(axis=0)[a] + rest / n.sum(axis=0)[b]
    return float(np.mean(rater_variance * leniency + noise))
