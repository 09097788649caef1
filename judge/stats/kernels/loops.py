"""Counting loops, written to be compiled (`kernels.compiled`); in plain Python they are far too slow to call.

All count in 64-bit integers. Resamples draw one or two kinds of units (factors 1 and 2, such as systems and
story-prompts); a story's weight is the product of the draws of its units. A pair of stories is concordant if the story
with the higher x (judge) also has the higher y (people).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Counts = NDArray[np.int32]
Masks = NDArray[np.uint8]
Levels = NDArray[np.int16]
Sums = NDArray[np.int64]


def tables(
    counts_1: Counts,
    unit_1: Codes,
    counts_2: Counts,
    unit_2: Codes,
    code: Levels,
    levels_y: int,
    levels_x: int,
    out: Sums,
) -> None:
    """The loop of `compiled.tables`; `code` (judges, n) is as there.

    `counts_1`, `counts_2` (b, units) and `unit_1`, `unit_2` (n,) are the draws of each factor and each story's units;
    `levels_y` and `levels_x` the numbers of levels of people and judges. `out` (4, judges, b) is overwritten:
    concordant minus discordant pairs; stories; pairs tied by the judge; pairs tied by people.
    """
    n, judges, cells = unit_1.size, code.shape[0], levels_x * levels_y
    drawn, weight = np.empty(n, np.int64), np.empty(n, np.int64)
    table, below = np.empty(cells + 1, np.int64), np.empty(levels_x, np.int64)
    for b in range(counts_1.shape[0]):
        m = 0
        for i in range(n):
            w = counts_1[b, unit_1[i]] * counts_2[b, unit_2[i]]
            drawn[m], weight[m] = i, w
            m += w > 0
        for judge in range(judges):
            level = code[judge]
            table[:] = 0
            for t in range(m):
                table[level[drawn[t]]] += weight[t]
            below[:] = 0
            total, score, tied_x, tied_y = 0, 0, 0, 0
            for row in range(levels_y):
                lower, size = 0, 0
                for column in range(levels_x):
                    here, under = table[row * levels_x + column], below[column]
                    score += here * (2 * lower + under - total)  # lower less higher among those below on y
                    lower += under
                    size += here
                    below[column] = under + here
                tied_y += size * (size - 1) // 2
                total += size
            for column in range(levels_x):
                tied_x += below[column] * (below[column] - 1) // 2
            out[0, judge, b], out[1, judge, b], out[2, judge, b], out[3, judge, b] = score, total, tied_x, tied_y


def sweep(
    counts_1: Counts,
    unit_1: Codes,
    counts_2: Counts,
    unit_2: Codes,
    story: Codes,
    x: Codes,
    y: Codes,
    levels_y: int,
    out: Sums,
) -> None:
    """The loop of `compiled.sweep`; `story`, `x` and `y` (m,) are as there.

    `counts_1`, `unit_1`, `counts_2` and `unit_2` are as in `tables`, and `levels_y` is the number of people's levels.
    `out` (4, b) is overwritten: concordant minus discordant pairs; stories; pairs tied by the judge; pairs tied by
    people.
    """
    m = story.size
    # A Fenwick tree: sums over the people's levels below one, in steps that are logarithmic in their number.
    tree, count = np.empty(levels_y + 1, np.int64), np.empty(levels_y, np.int64)
    for b in range(counts_1.shape[0]):
        tree[:] = 0
        count[:] = 0
        total, score, tied_x, tied_y = 0, 0, 0, 0
        start = 0
        while start < m:
            stop, size = start, 0
            while stop < m and x[stop] == x[start]:
                i = story[stop]
                w = counts_1[b, unit_1[i]] * counts_2[b, unit_2[i]]
                if w > 0:
                    lower, at = 0, y[stop]
                    while at > 0:
                        lower += tree[at]
                        at -= at & -at
                    score += w * (2 * lower + count[y[stop]] - total)
                    size += w
                stop += 1
            if size > 0:
                for k in range(start, stop):
                    i = story[k]
                    w = counts_1[b, unit_1[i]] * counts_2[b, unit_2[i]]
                    if w > 0:
                        count[y[k]] += w
                        at = y[k] + 1
                        while at <= levels_y:
                            tree[at] += w
                            at += at & -at
            tied_x += size * (size - 1) // 2
            total += size
            start = stop
        for k in range(levels_y):
            tied_y += count[k] * (count[k] - 1) // 2
        out[0, b], out[1, b], out[2, b], out[3, b] = score, total, tied_x, tied_y


def rows(x: Floats, y: Floats, mass: Sums, out: Sums) -> None:
    """The loop of `compiled.rows`; `x`, `y` and `mass` are as there.

    `out` (3, b) is overwritten: concordant minus discordant pairs; pairs not tied on x; pairs not tied on y.
    """
    for b in range(x.shape[0]):
        score, untied_x, untied_y = 0, 0, 0
        for i in range(x.shape[1] - 1):
            for j in range(i + 1, x.shape[1]):
                weight = mass[b, i] * mass[b, j]
                of_x, of_y = x[b, j] - x[b, i], y[b, j] - y[b, i]
                if weight == 0 or np.isnan(of_x) or np.isnan(of_y):
                    continue
                if of_x != 0:
                    untied_x += weight
                if of_y != 0:
                    untied_y += weight
                if of_x != 0 and of_y != 0:
                    score += weight if (of_x > 0) == (of_y > 0) else -weight
        out[0, b], out[1, b], out[2, b] = score, untied_x, untied_y


def swaps(masks: Masks, cell_a: Codes, cell_b: Codes, signed: Sums, margin: Sums, out: Sums) -> None:
    """The loop of `compiled.swaps`; `masks`, `cell_a` and `cell_b` (its cells), `signed` and `margin` are as there.

    `out` (4, b) is overwritten with what it returns.
    """
    levels_y, levels = signed.shape
    table, below = np.empty(levels_y * levels, np.int64), np.empty(levels, np.int64)
    for b in range(masks.shape[0]):
        table[:] = 0
        below[:] = 0
        for i in range(cell_a.size):
            table[cell_b[i] if masks[b, i] else cell_a[i]] += 1
        total, score, lent, tied_a, tied_b = 0, 0, 0, 0, 0
        for row in range(levels_y):
            lower, size = 0, 0
            for column in range(levels):
                here, under = table[row * levels + column], below[column]
                score += here * (2 * lower + under - total)
                lent += here * signed[row, column]
                lower += under
                size += here
                below[column] = under + here
            total += size
        for column in range(levels):
            tied_a += below[column] * (below[column] - 1) // 2
            other = margin[column] - below[column]
            tied_b += other * (other - 1) // 2
        out[0, b], out[1, b], out[2, b], out[3, b] = score, lent, tied_a, tied_b


def inversions(values: Codes, levels: int) -> int:
    """Number of pairs i < j with values[i] > values[j], of `values` 0..`levels`-1."""
    tree, total = np.zeros(levels + 1, np.int64), 0  # a Fenwick tree of how many came before, up to each level
    for i in range(values.size):
        at, up_to = values[i] + 1, 0
        while at > 0:
            up_to += tree[at]
            at -= at & -at
        total += i - up_to
        at = values[i] + 1
        while at <= levels:
            tree[at] += 1
            at += at & -at
    return total
