"""Printed tables of the analysis of repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.analysis.inputs.candidates import Subject
from judge.analysis.repeats.compute import SUBSETS
from judge.analysis.repeats.result import Repeats
from judge.base.printing.tables import Column, Table

_BY_COUNT = (
    f"by number: averaged over at most {SUBSETS} subsets, on the stories that have every repeat; predicted: Spearman "
    "and Brown's formula from one repeat and ICC(1,1)"
)
_BY_SUM = "where several ratings are equally frequent, the mode is their mean"
_BY_STRATUM = "people's disagreement: thirds of the stories by the standard deviation of their ratings, ties together"
_APART = (
    "Wasserstein: how many points a rating would have to be moved, on average; total variation: the share of ratings "
    "that would have to change; by story: the mean of the distance within each story"
)


def tables(result: Repeats) -> list[Table]:
    """Tables of a judge's agreement with people by number of repeats, way to combine them, and disagreement among
    people.

    A last table compares the distributions of judges' and human ratings.
    """
    most = max((row.k for row in result.counts), default=0)
    printed = [
        Table(
            "Kendall's tau-b with people by number of repeats",
            [*_first(result), Column("k", "repeats"), _tau("value"), _tau("predicted", "predicted"), *_last("subsets")],
            [
                {**_about(row.subject), "k": row.k, "value": row.value, "predicted": row.predicted}
                | {"n": row.value.n, "subsets": row.subsets}
                for row in result.counts
            ],
            result.signature,
            [*result.notes, _BY_COUNT],
            first=frozenset(i for i, row in enumerate(result.counts) if row.k == most),
        ),
        Table(
            "Kendall's tau-b with people by how repeats are combined",
            [*_first(result), Column("how", "summed by"), _tau("value"), _tau("over", "minus mean"), *_last()],
            [
                {**_about(row.subject), "how": row.how, "value": row.value, "over": row.over, "n": row.stories}
                for row in result.sums
            ],
            "",
            [_BY_SUM],
        ),
        Table(
            "Kendall's tau-b by people's disagreement",
            [
                *_first(result),
                Column("name", "stories on which"),
                Column("spread", "people's SD"),
                _tau("value"),
                *_last(),
            ],
            [
                {**_about(row.subject), "name": row.name, "spread": row.spread, "value": row.value, "n": row.stories}
                for row in result.strata
            ],
            "",
            [_BY_STRATUM],
        ),
    ]
    return [*printed, _apart(result)]


def _apart(result: Repeats) -> Table:
    columns = [
        *_first(result),
        Column("mean", "mean, judge minus people"),
        Column("wasserstein", "Wasserstein distance"),
        Column("variation", "total variation"),
        Column("by_story", "Wasserstein by story"),
        Column("n", "stories"),
    ]
    rows = [
        {**_about(row.subject), "mean": row.mean, "wasserstein": row.wasserstein, "variation": row.variation}
        | {"by_story": row.by_story, "n": row.mean.n}
        for row in result.apart
    ]
    return Table("Distributions of judges' and people's ratings", columns, rows, "", [_APART])


def _about(subject: Subject) -> dict[str, Any]:
    return {name: subject.labels[name] for name in ("dataset", "run", "criterion", "judge", "eval_prompt", "against")}


def _first(result: Repeats) -> list[Column]:
    subjects = [row.subject for row in result.apart]
    several: Sequence[tuple[str, set[Any]]] = [
        (name, {s.labels[name] for s in subjects}) for name in ("dataset", "run")
    ]
    columns = [Column(name, name) for name, values in several if len(values) > 1]
    columns += [Column("criterion", "criterion"), Column("judge", "judge"), Column("eval_prompt", "eval prompt")]
    if any(subject.against not in (None, subject.criterion) for subject in subjects):
        columns.append(Column("against", "against people's"))
    return columns


def _tau(key: str, title: str = "tau-b") -> Column:
    return Column(key, f"{title} x100", digits=1, factor=100)


def _last(*more: str) -> list[Column]:
    return [Column("n", "stories"), *(Column(name, name) for name in more)]
