"""Result types of the analysis of repeats."""

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
    """Agreement of the mean of `k` repeats with people, averaged over `subsets` subsets of the repeats.

    `predicted` is the value of the Spearman-Brown formula; None where it is undefined.
    """

    subject: Subject
    k: int
    value: Estimate
    predicted: float | None
    subsets: int


@dataclass(frozen=True, slots=True)
class Summed:
    """Agreement with people of all repeats of a judge combined in one way (`how`: mean, median or mode).

    `over` is this agreement minus that of the mean of all repeats, as a paired difference.
    """

    subject: Subject
    how: How
    value: Estimate
    over: Estimate
    stories: int


@dataclass(frozen=True, slots=True)
class Stratum:
    """Agreement of a judge with people on stories with a similar standard deviation of human ratings.

    `spread` is the mean of these standard deviations.
    """

    subject: Subject
    name: str
    spread: float
    stories: int
    value: Estimate


@dataclass(frozen=True, slots=True)
class Apart:
    """Distances between the distributions of single ratings of a judge and of people, on the stories that both rated.

    `mean` is the judge's mean minus people's. `wasserstein` and `variation` are Wasserstein and total variation
    distance over all ratings. `by_story` is the mean distance within a story, for stories with several ratings of both.
    """

    subject: Subject
    mean: Estimate
    wasserstein: Estimate
    variation: Estimate
    by_story: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Repeats(Signed):
    """Results on the repeats of every judge and Eval-Prompt, on each criterion that people rated.

    They are agreement with people by number of repeats (`counts`), by way to combine repeats (`sums`) and by
    disagreement among people (`strata`), and distances between distributions (`apart`).
    """

    counts: tuple[Count, ...]
    sums: tuple[Summed, ...]
    strata: tuple[Stratum, ...]
    apart: tuple[Apart, ...]
    options: RepeatsOptions

    @property
    def frame(self) -> pd.DataFrame:
        """A long frame of the results on repeats, with one row for each number, for example the agreement of the mean
        of 3 repeats with people.

        `what` names the number. `at` says for what it holds: the number of repeats, the way to combine them, or one of
        three parts of the stories, such as ``people agree most``. It is None for distances between distributions.
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
