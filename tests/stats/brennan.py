"""Two data sets printed in R. L. Brennan, Generalizability Theory (Springer 2001)."""

from __future__ import annotations

import numpy as np

# Brennan 2001, Generalizability Theory, synthetic data set no. 3 (p x i x o): ten persons, two occasions, four items.
SET_3 = np.array(
    [
        [[2, 6, 7, 5], [2, 5, 5, 5]],
        [[4, 5, 6, 7], [6, 7, 5, 7]],
        [[5, 5, 4, 6], [5, 4, 5, 5]],
        [[5, 9, 8, 6], [5, 7, 7, 6]],
        [[4, 3, 5, 6], [4, 5, 6, 4]],
        [[4, 4, 4, 7], [6, 4, 7, 8]],
        [[2, 6, 6, 5], [2, 7, 7, 5]],
        [[3, 4, 4, 5], [6, 6, 6, 4]],
        [[0, 5, 4, 5], [5, 5, 5, 3]],
        [[6, 8, 7, 6], [6, 8, 8, 6]],
    ],
    dtype=float,
)
# The same book, synthetic data set no. 4, table 3.2 (p x (r:t)): ten persons; three tasks with four raters each.
SET_4 = np.array(
    [
        [[5, 6, 5, 5], [5, 3, 4, 5], [6, 7, 3, 3]],
        [[9, 3, 7, 7], [7, 5, 5, 5], [7, 7, 5, 2]],
        [[3, 4, 3, 3], [5, 3, 3, 5], [6, 5, 1, 6]],
        [[7, 5, 5, 3], [3, 1, 4, 3], [5, 3, 3, 5]],
        [[9, 2, 9, 7], [7, 7, 3, 7], [2, 7, 5, 3]],
        [[3, 4, 3, 5], [3, 3, 6, 3], [4, 5, 1, 2]],
        [[7, 3, 7, 7], [7, 5, 5, 7], [5, 5, 5, 4]],
        [[5, 8, 5, 7], [7, 5, 5, 4], [3, 2, 1, 1]],
        [[9, 9, 8, 8], [6, 6, 6, 5], [5, 8, 1, 1]],
        [[4, 4, 4, 3], [3, 5, 6, 5], [5, 7, 1, 1]],
    ],
    dtype=float,
)
