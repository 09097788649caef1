"""Permutation tests of whether one judge agrees with people more than another, by swaps of the two judges' ratings.

PERM-BOTH, PERM-SYSTEMS and PERM-INPUTS of Deutsch, Dror & Roth 2021 (A Statistical Analysis of Summarization Evaluation
Metrics Using Resampling Methods, TACL 9, section 5). Both judges' ratings are standardised to a common scale. Under the
null hypothesis they are exchangeable, so the distribution of the difference of correlations does not change when the
two judges' ratings are swapped with probability 1/2 for each story (PERM-BOTH), for all stories of a system
(PERM-SYSTEMS) or of a story-prompt (PERM-INPUTS). p = (1 + number of swaps after which the difference is at least as
extreme as before) / (1 + swaps), which is never 0 (Phipson & Smyth 2010). If there are no more possible patterns of
swaps than `swaps`, every pattern is used once and p is exact.

The unit that is swapped decides to which population p generalises. Swaps of single stories count a judge's preference
for a system or story-prompt, which all its stories share, as evidence in each of them. To generalise to new systems (or
story-prompts), swap systems (or story-prompts)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats, renumbered
from judge.stats.correlation import coefficients, kendall, weighted_tau

# Permutation test of a statistic of labels, in which the labels of whole units are permuted within strata.


_LABEL_PERMUTATION_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class AgainstChance:
    """A statistic with its chance level (`mean` over permuted labels) and one-sided p; large values are evidence."""

    value: float
    mean: float
    p: float
    permutations: int


def permuted(label: Codes, unit: Codes, stratum: Codes, permutations: int, rng: np.random.Generator) -> Codes:
    """The labels of n members (such as repeats of a query) and their random permutations, (1 + permutations, n).

    `label` (n,) is equal for all members of a `unit` (n,), such as the query whose repeats they are; they get the same
    label in each permutation. Permuting single members would break their dependence and make p values too small. Labels
    are permuted among the units of the same `stratum` (n,), such as a story. `permutations` are drawn by `rng`, seeded
    by the caller."""
    _, first, member = np.unique(unit, return_index=True, return_inverse=True)
    of_unit, inside = label[first], stratum[first]
    order = np.argsort(inside, kind="stable")
    out = np.empty((1 + permutations, label.size), dtype=np.int64)
    out[0] = label
    for b in range(1, 1 + permutations):
        drawn = np.lexsort((rng.random(first.size), inside))
        mixed = np.empty_like(of_unit)
        mixed[order] = of_unit[drawn]
        out[b] = mixed[member]
    return out


def against_chance(values: Floats) -> AgainstChance:
    """Permutation test (Phipson & Smyth 2010) from `values` of a statistic with original (first) and permuted labels.

    A permuted NaN counts as extreme. The mean is NaN where no permuted statistic is defined."""
    value, chance = float(values[0]), values[1:]
    defined = chance[~np.isnan(chance)]
    extreme = int((defined >= value - _LABEL_PERMUTATION_SAME).sum()) + chance.size - defined.size
    mean = float(defined.mean()) if defined.size else float("nan")
    return AgainstChance(value, mean, (1 + extreme) / (1 + chance.size), chance.size)


# Kendall's tau-b of two judges with human ratings after the judges' ratings are swapped for some stories, for many
# patterns of swaps.

Masks = NDArray[np.uint8]
# Concordant less discordant pairs of both judges, and the pairs tied on each judge's side, (b,) each.
Sums = tuple[Codes, Codes, Codes, Codes]

# From which stories are swapped, (b, n) of 0 and 1, to tau-b of both judges with people, (b,) each.
Both = Callable[[Masks], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Levels of two judges (common codes) and of people, sorted by people's; `order` holds the original indices."""

    a: Codes
    b: Codes
    y: Codes
    order: Codes
    levels: int
    levels_y: int


def overall(a: Floats, b: Floats, people: Codes) -> Both:
    """A function from swaps, (k, n) with 1 for a swapped story, to both judges' tau-b with people over all stories.

    `a`, `b` (n,) are the judges' standardised ratings and `people` (n,) codes of people's; none may be missing. The
    function gives two arrays (k,). Ratings within 1e-9 are ties, determined once for both judges together."""
    union, y = kendall.codes(np.concatenate([a, b])), kendall.dense(people)
    order = np.argsort(y, kind="stable")
    levels, levels_y = int(union.max()) + 1, int(y.max()) + 1
    pair = _Pair(union[: a.size][order], union[a.size :][order], y[order], order, levels, levels_y)
    tied_y = kendall.tied_pairs(np.bincount(y)).sum()
    if levels * levels_y > kendall.DENSE_CELLS and y.size > kendall.QUADRATIC_N:
        return _one_by_one(pair)
    sums = _by_tables(pair) if levels * levels_y <= kendall.DENSE_CELLS else _by_signs(pair)

    def both(masks: Masks) -> tuple[Floats, Floats]:
        swapped = masks[:, order]
        score_a, score_b, tied_a, tied_b = sums(swapped)
        n, ties = np.asarray(y.size), np.asarray(tied_y)
        return kendall.ratio(score_a, n, tied_a, ties), kendall.ratio(score_b, n, tied_b, ties)

    return both


def over_means(a: Floats, b: Floats, people: Floats, group: Codes) -> Both:
    """A function from swaps, (k, n) with 1 for a swapped story, to both judges' tau-b with people over group means.

    `a`, `b` (n,) are the judges' standardised ratings and `people` (n,) people's; none may be missing. `group` (n,)
    holds the system of each story, as codes 0..groups-1 that all occur. The function gives two arrays (k,). Means
    within 1e-9 are ties."""
    groups = int(group.max()) + 1
    size = np.bincount(group)
    mean_a, mean_b, mean_y = (np.bincount(group, weights=side) / size for side in (a, b, people))
    moves = (group[:, None] == np.arange(groups)) * ((b - a) / size[group])[:, None]

    def both(masks: Masks) -> tuple[Floats, Floats]:
        moved = masks.astype(np.float64) @ moves
        rows_y = np.broadcast_to(np.round(mean_y, kendall.DECIMALS), moved.shape)
        once = np.ones(moved.shape, dtype=np.int64)
        rounded = (np.round(side, kendall.DECIMALS) for side in (mean_a + moved, mean_b - moved))
        first, second = (kendall.of_untied(*weighted_tau.pairs_of_rows(side, rows_y, once)) for side in rounded)
        return first, second

    return both


def _by_tables(pair: _Pair) -> Callable[[Masks], Sums]:
    shape = (pair.levels_y, pair.levels)
    cell_a, cell_b = (pair.y * pair.levels + side for side in (pair.a, pair.b))
    table_a, table_b = (np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape) for cell in (cell_a, cell_b))
    total = table_a + table_b
    signs_y, signs_x = (np.sign(np.arange(k)[:, None] - np.arange(k)[None, :]) for k in shape)
    signed = signs_y @ total @ signs_x.T
    of_total = int((total * signed).sum()) // 2
    # Sums of changes are small integers, which single precision holds; products of such sums need double precision.
    kind = weighted_tau.exact(4 * pair.y.size)
    change = (np.equal.outer(pair.b, np.arange(shape[1])) * 1 - np.equal.outer(pair.a, np.arange(shape[1]))).astype(
        kind
    )
    both_changes = np.concatenate([change, change @ -signs_x.astype(kind)], axis=1)
    start = np.concatenate([table_a, table_a @ -signs_x], axis=1).astype(kind)
    bounds = np.searchsorted(pair.y, np.arange(shape[0] + 1))

    def sums(masks: Masks) -> Sums:
        below, margin = np.zeros((2, len(masks), shape[1]))
        score, lent = np.zeros((2, len(masks)), dtype=np.int64)
        for level, (first, last) in enumerate(itertools.pairwise(bounds.tolist())):
            cells = (start[level] + masks[:, first:last].astype(kind) @ both_changes[first:last]).astype(np.float64)
            here = cells[:, : shape[1]]
            score += np.einsum("bk,bk->b", here, below).astype(np.int64)
            lent += (here @ signed[level].astype(np.float64)).astype(np.int64)
            margin += here
            below += cells[:, shape[1] :]
        other = total.sum(axis=0) - margin
        tied_a, tied_b = (
            (np.einsum("bk,bk->b", side, side).astype(np.int64) - pair.y.size) // 2 for side in (margin, other)
        )
        return score, of_total - lent + score, tied_a, tied_b

    return sums


def _by_signs(pair: _Pair) -> Callable[[Masks], Sums]:
    """For many levels: concordant minus discordant pairs as a quadratic form in the swaps, from all signs."""
    n = pair.y.size
    kind = weighted_tau.exact(4 * n**2)
    signs_y = _signs(pair.y, pair.y)
    aa, bb, ab = (signs_y * _signs(p, q) for p, q in ((pair.a, pair.a), (pair.b, pair.b), (pair.a, pair.b)))
    linear = (ab.sum(axis=0, dtype=np.int64) - aa.sum(axis=1, dtype=np.int64)).astype(np.float64)
    form: NDArray[Any] = (aa + bb - ab - ab.T).astype(kind)
    row_sums = form.sum(axis=1, dtype=np.float64)
    none, every = int(aa.sum(dtype=np.int64)) // 2, int(linear.sum()) + int(row_sums.sum()) // 2
    counts = np.bincount(np.concatenate([pair.a, pair.b]), minlength=pair.levels)
    shared = np.flatnonzero(counts > 1)
    at = np.full(pair.levels, -1)
    at[shared] = np.arange(shared.size)
    change = np.zeros((n, shared.size), dtype=kind)
    for side, sign in ((pair.a, -1), (pair.b, 1)):
        rows = np.flatnonzero(at[side] >= 0)
        np.add.at(change, (rows, at[side[rows]]), sign)
    whole: NDArray[Any] = counts[shared].astype(kind)
    start: NDArray[Any] = np.bincount(pair.a, minlength=pair.levels)[shared].astype(kind)

    def sums(masks: Masks) -> Sums:
        m: NDArray[Any] = masks.astype(kind)
        quadratic = np.einsum("bi,bi->b", m @ form, m).astype(np.int64) // 2
        m64 = m.astype(np.float64)
        moved, edge = (m64 @ linear).astype(np.int64), (m64 @ row_sums).astype(np.int64)
        margin = start + m @ change
        tied_a, tied_b = (kendall.tied_pairs(side.astype(np.int64)).sum(axis=1) for side in (margin, whole - margin))
        return none + moved + quadratic, none + every - moved - edge + quadratic, tied_a, tied_b

    return sums


def _one_by_one(pair: _Pair) -> Both:
    """For many levels and stories, where a matrix of all pairs of stories would not fit into memory."""

    def both(masks: Masks) -> tuple[Floats, Floats]:
        taus = np.empty((2, len(masks)))
        for i, mask in enumerate(masks[:, pair.order] > 0):
            taus[0, i] = kendall.tau_b(np.where(mask, pair.b, pair.a), pair.y)
            taus[1, i] = kendall.tau_b(np.where(mask, pair.a, pair.b), pair.y)
        return taus[0], taus[1]

    return both


def _signs(p: Codes, q: Codes) -> NDArray[np.int8]:
    return np.asarray(np.sign(p[:, None] - q[None, :]), dtype=np.int8)


Tail = Literal["two-sided", "greater"]

_SAME = 1e-12
# Swaps of single stories drawn at a time, on which the numbers drawn depend, and held at a time.
_CHUNK = 2_000_000
_HELD = 16_000_000

# Units whose every pattern of swaps may be taken: a million patterns.
_MOST_EXACT = 20


@dataclass(frozen=True, slots=True)
class SwapTest:
    """Result of the permutation test that compares two judges by their Kendall's tau-b with human ratings.

    `a` and `b` are the judges' tau-b on the stories that both judges and people rated, None where undefined. `p` is not
    adjusted for multiple comparisons; None without a test, with a `reason`. `n` counts stories or, for tau-b over
    system means, systems. `swaps` counts random patterns or, where `exact` (every pattern used once), all patterns.
    After `degenerate` patterns a correlation was undefined; they count as extreme, so that p is conservative. `units`
    counts the stories, systems or story-prompts swapped as a whole."""

    a: float | None
    b: float | None
    p: float | None
    n: int
    swaps: int
    degenerate: int
    tail: Tail
    reason: str | None = None
    units: int = 0
    exact: bool = False

    @property
    def least(self) -> float | None:
        """The smallest p that this test could have given with its numbers of units and swaps; None without a test."""
        if self.p is None:
            return None
        patterns = 2.0 ** -(self.units - (self.tail == "two-sided"))
        return patterns if self.exact else max(patterns, 1 / (1 + self.swaps))

    @property
    def difference(self) -> float | None:
        """tau-b of judge a minus that of judge b; None where either is undefined."""
        return None if self.a is None or self.b is None else self.a - self.b


def swap_test(
    a: Floats,
    b: Floats,
    people: Floats,
    unit: Codes,
    swaps: int,
    rng: np.random.Generator,
    *,
    group: Codes | None = None,
    tail: Tail = "two-sided",
) -> SwapTest:
    """Permutation test of the difference between two judges' tau-b with people, by random swaps of the judges' ratings.

    `a`, `b`, `people` (n,) are ratings; only stories with all three are used. All stories of a `unit` (n,) are swapped
    together: ``np.arange(n)`` for PERM-BOTH, systems for PERM-SYSTEMS, story-prompts for PERM-INPUTS. `swaps` is the
    number of random swaps and `rng` is seeded by the caller. `group` (n,) holds systems, to compare the judges by tau-b
    over system means of standardised ratings; None = over all stories. Where systems are swapped as a whole, their
    means are standardised instead of the single ratings, because the means of a noisier judge are closer together and
    would not be exchangeable with those of the other judge. `tail` is the alternative: the tau-b differ, or that of `a`
    is greater.

    There is no test, but a reason, where a correlation is undefined, or undefined after more than 5 % of the swaps. Two
    judges with equal ratings give p = 1."""
    keep = ~(np.isnan(a) | np.isnan(b) | np.isnan(people))
    a, b, people, unit = a[keep], b[keep], people[keep], unit[keep]
    for name, side in (("first judge's", a), ("second judge's", b)):
        reason = coefficients.undefined_reason(side, people, (f"the {name} ratings", "the people's ratings"), "stories")
        if reason:
            return SwapTest(None, None, None, a.size, 0, 0, tail, reason)
    if group is None:
        n, both = a.size, overall(_standardised(a), _standardised(b), kendall.codes(people))
    else:
        systems = renumbered(group[keep])
        n, whole = int(systems.max()) + 1, np.unique(np.stack([unit, systems]), axis=1).shape[1]
        a, b = (_standardised(side, systems if whole == n else None) for side in (a, b))
        both = over_means(a, b, people, systems)
    return _test(both, unit, swaps, rng, tail, n)


def _test(
    both: Callable[[Masks], tuple[Floats, Floats]],
    unit: Codes,
    swaps: int,
    rng: np.random.Generator,
    tail: Tail,
    n: int,
) -> SwapTest:
    (tau_a,), (tau_b,) = both(np.zeros((1, unit.size), dtype=np.uint8))
    if n < coefficients.MIN_PAIRS or np.isnan(tau_a) or np.isnan(tau_b):
        why = f"undefined with fewer than {coefficients.MIN_PAIRS} systems or with system means that are all equal"
        return SwapTest(None, None, None, n, 0, 0, tail, why)
    units = int(np.unique(unit).size)
    exact = units <= _MOST_EXACT and 2**units <= swaps
    swaps = 2**units if exact else swaps
    observed, extreme, degenerate = float(tau_a - tau_b), 0, 0
    for masks in _every_mask(unit) if exact else _masks(unit, swaps, rng):
        first, second = both(masks)
        moved = first - second
        lost = np.isnan(moved)
        distance = np.abs(moved) - abs(observed) if tail == "two-sided" else moved - observed
        # A swap that reproduces the observed difference is extreme, whatever the rounding of its last digits.
        extreme += int((lost | (distance >= -_SAME)).sum())
        degenerate += int(lost.sum())
    if degenerate > 0.05 * swaps:
        why = f"no p value: undefined after {degenerate} of {swaps} swaps"
        return SwapTest(float(tau_a), float(tau_b), None, n, swaps, degenerate, tail, why, units)
    # The full set of patterns contains the observed data; random swaps get it added, so that p is never 0.
    p = extreme / swaps if exact else (1 + extreme) / (1 + swaps)
    return SwapTest(float(tau_a), float(tau_b), p, n, swaps, degenerate, tail, units=units, exact=exact)


def _masks(unit: Codes, swaps: int, rng: np.random.Generator) -> Iterator[Masks]:
    """Blocks (patterns, n stories) of random swaps, 1 where swapped; each unit is swapped with probability 1/2."""
    present, story = np.unique(unit, return_inverse=True)
    step, held = (max(1, some // max(1, unit.size)) for some in (_CHUNK, _HELD))
    sizes = (min(step, swaps - start) for start in range(0, swaps, step))
    draws = (rng.integers(0, 256, size=(size, -(-present.size // 8)), dtype=np.uint8) for size in sizes)
    while drawn := [*itertools.islice(draws, max(1, held // step))]:
        yield np.unpackbits(np.concatenate(drawn), axis=1)[:, story.reshape(-1)]


def _every_mask(unit: Codes) -> Iterator[Masks]:
    """Blocks (patterns, n stories) of every possible pattern of swaps; the first pattern swaps nothing."""
    present, story = np.unique(unit, return_inverse=True)
    step = max(1, _CHUNK // max(1, unit.size))
    for start in range(0, 2**present.size, step):
        pattern = np.arange(start, min(start + step, 2**present.size))
        bits = ((pattern[:, None] >> np.arange(present.size)) & 1).astype(np.uint8)
        yield bits[:, story.reshape(-1)]


def _standardised(values: Floats, systems: Codes | None = None) -> Floats:
    """Ratings shifted and scaled to mean 0 and SD 1 or, with `systems`, so that the means of systems have them."""
    scale = values if systems is None else np.bincount(systems, weights=values) / np.bincount(systems)
    spread = scale.std() if np.ptp(scale) > _SAME else 1.0
    return np.asarray((values - scale.mean()) / spread, dtype=np.float64)
