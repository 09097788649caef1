"""Shares of ratings as people read them. Never counts anything."""

from __future__ import annotations

from judge.analysis.distributions import Distributions
from judge.printing.tables import Column, Table

_MANY = 4
"""So many words for one point are not told apart in a heading."""


def table(found: Distributions) -> Table:
    """One row a source and criterion, a column each point of the scale."""
    points = sorted({point for row in found.rows for one in row for point in one.points})
    titles = {point: _title(found, point) for point in points}
    columns = [Column("judge", "judge"), Column("eval_prompt", "eval prompt"), Column("criterion", "criterion")]
    columns += [Column(f"{point:g}", titles[point], digits=1, factor=100) for point in points]
    columns += [Column("n", "ratings"), Column("asked", "asked"), Column("mean", "mean")]
    rows = [
        {"judge": one.judge, "eval_prompt": one.eval_prompt, "criterion": one.criterion}
        | {f"{point:g}": share for point, share in zip(one.points, one.shares, strict=True)}
        | {"n": one.n, "asked": one.asked, "mean": one.mean}
        for row in found.rows
        for one in row
    ]
    return Table(f"Shares of ratings, {found.dataset}", columns, rows, found.signature, found.notes)


def _title(found: Distributions, point: float) -> str:
    """The point, or its label, or both where criteria name it differently."""
    every = [one for row in found.rows for one in row if point in one.points]
    words = dict.fromkeys(one.words[one.points.index(point)] if one.words else f"{point:g}" for one in every)
    return f"{' / '.join(words)} %" if len(words) < _MANY else f"{point:g} %"
