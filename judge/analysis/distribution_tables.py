"""Printed table of the share of each scale point among the ratings."""

from __future__ import annotations

from judge.analysis.distributions import Distributions
from judge.base.printing.tables import Column, Table


def table(distributions: Distributions) -> Table:
    """Table of rating distributions, with one row per source and criterion, and one column per point of the scale.

    A source is people, or one judge with one Eval-Prompt.
    """
    named = {
        (point, name)
        for row in distributions.rows
        for distribution in row
        for point, name in zip(distribution.points, distribution.names, strict=True)
    }
    # Labels of several criteria may have one code: each has its own column, beside those of the same code.
    points = [name for _, name in sorted(named)]
    columns = [Column("judge", "judge"), Column("eval_prompt", "eval prompt"), Column("criterion", "criterion")]
    columns += [Column(name, f"{name} %", digits=1, factor=100) for name in dict.fromkeys(points)]
    columns += [Column("n", "ratings"), Column("asked", "asked"), Column("mean", "mean")]
    rows = [
        {"judge": distribution.judge, "eval_prompt": distribution.eval_prompt, "criterion": distribution.criterion}
        | dict(zip(distribution.names, distribution.shares, strict=True))
        | {"n": distribution.n, "asked": distribution.asked, "mean": distribution.mean}
        for row in distributions.rows
        for distribution in row
    ]
    return Table(
        f"Shares of ratings, {distributions.dataset}", columns, rows, distributions.signature, distributions.notes
    )
