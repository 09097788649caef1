"""How many pairs of items a random order turns round: the exact distribution of inversions."""

from __future__ import annotations

import numpy as np


def tail(items: int, inversions: int) -> float:
    """Probability that a random order of so many `items` turns at least so many of their pairs round (`inversions`).

    Of all orders of n items, the numbers with k inversions are the Mahonian numbers (Kendall 1938, Biometrika 30, whose
    S is the number of pairs minus twice the inversions). Cost: items cubed.
    """
    shares = np.ones(1)
    for more in range(2, items + 1):
        # The next item turns 0 to more - 1 of its pairs round, each as often.
        sums = np.cumsum(np.concatenate([shares, np.zeros(more - 1)]))
        sums[more:] -= sums[:-more].copy()
        shares = sums / more
    return float(shares[max(inversions, 0) :].sum())
