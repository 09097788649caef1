"""Use of the rating scale: entropy, modal share, number of distinct values, ties.

A judge that gives most stories the same rating cannot distinguish them, whatever its correlation with people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.stats.correlation.kendall import codes

# Detects raters whose ratings correlate negatively with all others', the likely cause of an impossible reliability.


# Stories that two sides must share.
_LEAST = 8

# Fisher's z below which a correlation is surely negative (one-sided, 1 %).
_SURE = -2.326


def reversed_columns(ratings: Floats) -> list[tuple[int, float]]:
    """Columns of `ratings` (stories, columns) with a significantly negative r with the mean of the others, and this r.

    The most significant is first; each is removed before the remaining columns are tested again. If there are only two
    columns, it cannot be determined which one is reversed, and both are returned."""
    left = list(range(ratings.shape[1]))
    against: list[tuple[int, float]] = []
    while len(left) > 1:
        tested = [_against(ratings[:, left], at) for at in range(len(left))]
        z, r = min(tested)
        if z > _SURE:
            break
        if len(left) == 2:
            return against or [(left[0], r), (left[1], r)]
        at = tested.index((z, r))
        against.append((left.pop(at), r))
    return against


def likely_cause(ratings: Floats, names: Sequence[str]) -> str:
    """Likely cause, in words, of `ratings` (stories, columns) that differ more within stories than between stories.

    `names` of the columns; empty where they have none. The sentence has no full stop."""
    apart = reversed_columns(ratings) if names else []
    if len(apart) == 2 and ratings.shape[1] == 2:
        both = " and ".join(names[column] for column, _ in apart)
        return f"{both} run against each other (r = {apart[0][1]:.2f}): the scale of one seems to run the other way"
    if apart and len(apart) <= ratings.shape[1] / 2:
        who = ", ".join(f"{names[column]} (r = {r:.2f} with the others)" for column, r in apart)
        return f"the scale of {who} seems to run the other way"
    return (
        "ratings of one story differ more than stories do: is a scale turned round for some stories, or do ratings "
        "belong to other stories?"
    )


def remark(ratings: Floats, names: Sequence[str], others: str) -> str | None:
    """Remark that names raters whose ratings correlate negatively with those of the others, or None.

    `ratings` and `names` are as in `likely_cause`, with a name for each column; `others` is a word for the other
    raters, e.g. people. None also where they are more than half of three or more raters. If there are only two raters
    and they correlate negatively with each other, both are named."""
    reversed_names = reversed_columns(ratings)
    if len(reversed_names) == len(names) == 2:
        return likely_cause(ratings, names)
    if not reversed_names or len(reversed_names) > len(names) / 2:
        return None
    who = ", ".join(f"{names[column]} (r = {r:.2f})" for column, r in reversed_names)
    return f"ratings by {who} run against those of the other {others}: does that scale run the other way?"


def _against(ratings: Floats, column: int) -> tuple[float, float]:
    """Fisher's z / its standard error, and r, of one column with the mean of the others; 0 where undefined."""
    others = np.delete(ratings, column, axis=1)
    own, count = ratings[:, column], (~np.isnan(others)).sum(axis=1)
    both = ~np.isnan(own) & (count > 0)
    x, y = own[both], np.nansum(others[both], axis=1) / count[both]
    if x.size < _LEAST or np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
        return 0.0, 0.0
    r = float(np.corrcoef(x, y)[0, 1])
    return float(np.arctanh(np.clip(r, -0.999999, 0.999999)) * np.sqrt(x.size - 3)), r


@dataclass(frozen=True, slots=True)
class ScaleUse:
    """Use of a scale by one judge or by people.

    `entropy` (Shannon, in bits) is of ratings rounded to the scale's points: 0 = a single point, log2 k at most for k
    points (2.32 bits for 5). `modal_share` is the share of the most frequent point, `modal_point`, the lowest of
    equally frequent ones; None without a rating. `distinct` counts ratings before rounding (to 1e-9). `ties` is the
    share of pairs of stories with equal ratings on a criterion, which cannot be ranked; n counts ratings. `outside`
    counts ratings outside the scale; None where it is not known."""

    entropy: Estimate
    modal_share: Estimate
    modal_point: float | None
    distinct: int
    ties: Estimate
    outside: int | None


def scale_use(
    ratings: Floats, stories: Floats, *, step: float = 1.0, scale: tuple[float, float] | None = None
) -> ScaleUse:
    """Use of a rating scale: entropy (Shannon 1948), modal share, distinct values, and ties between stories.

    `ratings` (any shape) are single ratings, or means if only these are known. `stories` (n,) or (criteria, n) has one
    rating per story and criterion; ties are counted within a row. NaN is left out. Points are whole multiples of `step`
    from the lowest point of `scale` (lowest, highest), or from 0 where it is not known; half-way values are rounded up,
    and each value outside is a point of its own. Undefined without a rating; ties with fewer than 2 stories."""
    defined = ratings[~np.isnan(ratings)]
    entropy, share, point = _points(defined, step, scale[0] if scale else 0.0)
    return ScaleUse(
        entropy=entropy,
        modal_share=share,
        modal_point=point,
        distinct=int(np.unique(codes(defined)).size),
        ties=tie_share(stories),
        outside=None if scale is None else int(((defined < scale[0]) | (defined > scale[1])).sum()),
    )


def entropy_bits(counts: Codes) -> float:
    """Shannon entropy, -sum p log2 p in bits, from `counts` at each point (Shannon 1948); NaN where all are 0."""
    total = int(counts.sum())
    if total == 0:
        return float("nan")
    p = counts[counts > 0] / total
    return max(0.0, float(-(p * np.log2(p)).sum()))


def tie_share(stories: Floats) -> Estimate:
    """Share of pairs of stories with equal ratings (within 1e-9); n counts ratings.

    `stories` (n,) or (rows, n): pairs are formed within a row, and pooled over rows; NaN is left out. Undefined where
    no row has 2 ratings."""
    tied = pairs = used = 0
    for row in np.atleast_2d(stories):
        code = codes(row)
        count = np.bincount(code[code >= 0])
        n = int(count.sum())
        used += n
        pairs += n * (n - 1) // 2
        tied += int((count * (count - 1) // 2).sum())
    if pairs == 0:
        return Estimate.undefined("undefined with fewer than 2 stories", n=used)
    return Estimate(tied / pairs, n=used)


def _points(defined: Floats, step: float, lowest: float) -> tuple[Estimate, Estimate, float | None]:
    if defined.size == 0:
        return Estimate.undefined("no rating"), Estimate.undefined("no rating"), None
    # 1e-9: means of ratings carry noise that would send half-way values down.
    point = np.floor((defined - lowest) / step + 0.5 + 1e-9).astype(np.int64)
    points, counts = np.unique(point, return_counts=True)
    top = int(counts.argmax())
    n = defined.size
    entropy = Estimate(entropy_bits(counts.astype(np.int64)), n=n)
    return entropy, Estimate(float(counts[top]) / n, n=n), lowest + step * float(points[top])
