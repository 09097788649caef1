"""Result of the analysis of repeats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import RepeatsOptions
from judge.base.estimate import Estimate

How = Literal["mean", "median", "mode"]


@dataclass(frozen=True, slots=True)
class Count:
    """Agreement of the mean of `k` repeats with people, averaged over subsets, and as `predicted` by Spearman-Brown."""

    subject: Subject
    k: int
    value: Estimate
    predicted: float | None
    subsets: int


@dataclass(frozen=True, slots=True)
class Summed:
    """Agreement with people of all repeats combined in one way; `over` is it minus that of the mean, paired."""

    subject: Subject
    how: How
    value: Estimate
    over: Estimate
    stories: int


@dataclass(frozen=True, slots=True)
class Stratum:
    """Agreement on stories with a similar standard deviation of human ratings; `spread` is the mean of these."""

    subject: Subject
    name: str
    spread: float
    stories: int
    value: Estimate


@dataclass(frozen=True, slots=True)
class Apart:
    """Distances between the distributions of single ratings of a judge and of people, on the stories that both rated.
    `mean` is the judge's minus people's; `wasserstein` and (total) `variation` are over all ratings; `by_story` is the
    mean distance within stories with several ratings of both.
    """

    subject: Subject
    mean: Estimate
    wasserstein: Estimate
    variation: Estimate
    by_story: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Repeats(Signed):
    """Agreement with people by number of repeats (`counts`), by way to combine them (`sums`) and by disagreement among
    people (`strata`), and distances between distributions (`apart`), of every judge and Eval-Prompt on each criterion.
    """

    counts: tuple[Count, ...]
    sums: tuple[Summed, ...]
    strata: tuple[Stratum, ...]
    apart: tuple[Apart, ...]
    options: RepeatsOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each number, named by `what`. `at` says for what it holds: the number of repeats, the way to
        combine them, or a part of the stories, such as ``people agree most``; None for distances.
        """
        return self.signed([dict(row) for row in self._rows()])

    def _rows(self) -> Iterator[Iterator[tuple[str, object]]]:
        for count in self.counts:
            yield _flat(count.subject, "repeats", str(count.k), count.value)
        for summed in self.sums:
            yield _flat(summed.subject, "summed", summed.how, summed.value)
            yield _flat(summed.subject, "summed, minus mean", summed.how, summed.over)
        for stratum in self.strata:
            yield _flat(stratum.subject, "people's disagreement", stratum.name, stratum.value)
        for row in self.apart:
            for statistic, value in (
                ("mean difference", row.mean),
                ("Wasserstein distance", row.wasserstein),
                ("total variation", row.variation),
                ("Wasserstein distance by story", row.by_story),
            ):
                yield _flat(row.subject, statistic, None, value)


def _flat(subject: Subject, statistic: str, at: str | None, value: Estimate) -> Iterator[tuple[str, object]]:
    labels = subject.labels
    names = ("dataset", "run", "judge", "eval_prompt", "criterion", "against")
    yield from ((name, labels[name]) for name in names)
    yield from (("what", statistic), ("at", at), ("value", value.value), ("low", value.low), ("high", value.high))
    yield from (("n", value.n), ("method", value.method), ("reason", value.reason))
