"""Printed table of shares of ratings."""

from __future__ import annotations

from judge.analysis.distributions import Distributions
from judge.printing.tables import Column, Table


def table(distributions: Distributions) -> Table:
    """One row a source and criterion, a column each point of the scale."""
    named = {
        (point, name)
        for row in distributions.rows
        for one in row
        for point, name in zip(one.points, one.names, strict=True)
    }
    # Labels of several criteria may have one code: each has its own column, beside those of the same code.
    points = [name for _, name in sorted(named)]
    columns = [Column("judge", "judge"), Column("eval_prompt", "eval prompt"), Column("criterion", "criterion")]
    columns += [Column(name, f"{name} %", digits=1, factor=100) for name in dict.fromkeys(points)]
    columns += [Column("n", "ratings"), Column("asked", "asked"), Column("mean", "mean")]
    rows = [
        {"judge": one.judge, "eval_prompt": one.eval_prompt, "criterion": one.criterion}
        | dict(zip(one.names, one.shares, strict=True))
        | {"n": one.n, "asked": one.asked, "mean": one.mean}
        for row in distributions.rows
        for one in row
    ]
    return Table(
        f"Shares of ratings, {distributions.dataset}", columns, rows, distributions.signature, distributions.notes
    )
