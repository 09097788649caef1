"""Tests whether missing ratings are associated with a group (such as a system) or with a number (such as length).

The caller chooses the unit (such as a story). Units must be independent for the p values to be valid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, Masks
from judge.stats.correlation.coefficients import pearson

# Expected counts below this make the chi-squared approximation doubtful (Cochran 1954).
_SMALL = 5.0

# Tables drawn for a permuted test.
PERMUTATIONS = 9999


@dataclass(frozen=True, slots=True)
class Association:
    """Result of one test of association between missing ratings and a group or number.

    `effect` is Cramér's V (0 to 1) for groups. For numbers it is the AUC, the probability that a lost unit (such as a
    story without a rating) has a higher number than another (.5 = no association), and `correlation` the point-biserial
    one. `p` is not adjusted. `n` and `lost` count units with a known group or number, and those lost. `reason`: why
    there is no test.
    """

    test: str
    effect: float | None
    p: float | None
    n: int
    lost: int
    correlation: float | None = None
    reason: str | None = None

    @property
    def tail(self) -> str | None:
        """ "greater" (upper tail) for chi-squared tests, otherwise "two-sided"; None without a test."""
        if self.p is None:
            return None
        return "greater" if self.test.startswith("chi2") else "two-sided"


def with_group(lost: Masks, group: Codes, rng: np.random.Generator) -> Association:
    """Test of the association between the loss of units (such as stories without a rating) and their group.

    `lost` and `group` (n,) hold whether each unit was lost and its code 0, 1, ... For a 2 x 2 table this is Fisher's
    exact test. Larger tables use Pearson's chi-squared test if all expected counts are at least 5 (Cochran 1954).
    Otherwise the statistic is compared with that of 9,999 random tables (`rng`) with the same margins, p = (1 + number
    of tables at least as extreme) / (1 + 9,999). No test where no unit or every unit was lost, or there is only one
    group.
    """
    size = np.bincount(group)
    size = size[size > 0]
    gone = np.bincount(group, weights=lost.astype(np.float64), minlength=int(group.max()) + 1 if group.size else 0)
    gone = gone[np.bincount(group) > 0].astype(np.int64)
    n, m = int(lost.size), int(lost.sum())
    reason = _nothing_to_test(n, m) or ("there is one group only" if size.size < 2 else None)
    if reason:
        return Association("none", None, None, n, m, reason=reason)
    table = np.stack([gone, size - gone])
    statistic = float(_chi2(gone[None, :], size, m)[0])
    effect = float(np.sqrt(statistic / n))  # min(rows, columns) - 1 = 1
    if size.size == 2:
        from scipy import stats  # takes a second to import: only where something was lost

        return Association("Fisher exact", effect, float(stats.fisher_exact(table).pvalue), n, m)
    if float((table.sum(axis=1, keepdims=True) * size[None, :] / n).min()) >= _SMALL:
        return Association("chi2", effect, float(special.chdtrc(size.size - 1, statistic)), n, m)
    drawn = _chi2(rng.multivariate_hypergeometric(size, m, size=PERMUTATIONS), size, m)
    p = (1 + int((drawn >= statistic - 1e-9).sum())) / (1 + PERMUTATIONS)
    return Association("chi2, permuted", effect, p, n, m)


def with_number(lost: Masks, number: Floats) -> Association:
    """Mann-Whitney's test (normal approximation, ties corrected) of the association of the loss of units with a number.

    `lost` and `number` (n,) hold whether each unit was lost and its number (such as length; NaN = unknown, left out).
    The effect is AUC = U / (number lost x number kept). No test where no unit or every unit was lost, or all numbers
    are equal.
    """
    present = ~np.isnan(number)
    lost, number = lost[present], number[present]
    n, m = int(lost.size), int(lost.sum())
    reason = _nothing_to_test(n, m)
    if reason is None and float(np.ptp(number)) < 1e-9:
        reason = "the numbers are all equal"
    if reason:
        return Association("none", None, None, n, m, reason=reason)
    statistic, p = _mann_whitney(lost, number)
    return Association("Mann-Whitney", statistic / (m * (n - m)), p, n, m, pearson(lost.astype(np.float64), number))


def _mann_whitney(lost: Masks, number: Floats) -> tuple[float, float]:
    """U of the lost units, and two-sided p by the normal approximation, corrected for ties and continuity."""
    # Equals `scipy.stats.mannwhitneyu(..., method="asymptotic")`, whose import takes half a second.
    _, level, count = np.unique(number, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[level]
    n, m = lost.size, int(lost.sum())
    both = m * (n - m)
    statistic = float(ranks[lost].sum()) - m * (m + 1) / 2
    ties = float((count.astype(np.float64) ** 3 - count).sum())
    spread = float(np.sqrt(both / 12 * ((n + 1) - ties / (n * (n - 1)))))
    beyond = max(statistic, both - statistic) - both / 2 - 0.5
    return statistic, min(1.0, 2 * float(special.ndtr(-beyond / spread)))


def _nothing_to_test(n: int, lost: int) -> str | None:
    if n == 0:
        return "nothing is known about these stories"
    if lost == 0:
        return "nothing was lost"
    return "everything was lost" if lost == n else None


def _chi2(gone: Codes, size: Codes, lost: int) -> Floats:
    """Pearson's chi-squared of tables (lost or not, by group) with equal margins."""
    share = lost / size.sum()
    expected = size * share
    return np.asarray((((gone - expected) ** 2) / (expected * (1 - share))).sum(axis=1), dtype=np.float64)
