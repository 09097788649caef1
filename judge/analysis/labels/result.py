"""Result types of the analysis of labels: rows and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pandas as pd

from judge.analysis.inputs.bars import JUDGE, Kind
from judge.analysis.inputs.candidates import Subject
from judge.analysis.labels.items import ALL
from judge.analysis.options.agreement_options import ConfusionOptions
from judge.analysis.options.signed import Signed
from judge.base.estimate import Estimate

STATISTICS = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "phi", "kappa", "ac1", "alpha")
"""Names of the statistics, as `judge.stats.agreement.confusion` defines them."""

Shares = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """One statistic of a judge and of people one by one, both against the majority labels of the other people.

    `over` is judge minus people.
    """

    judge: Estimate
    people: Estimate
    over: Estimate


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """Agreement with people's majority labels, of one judge, of people one by one or of a null judge.

    A null judge ignores the stories.

    Attributes
    ----------
    subject : Subject
        Names of the judge, human ceiling or null judge and of the criterion, which is `ALL` for all binary criteria.
    labels : tuple of str
        Names of the labels.
    positive : str or None
        The positive label, if there are two. With more labels, precision, recall and F1 are means over the labels.
    statistics : mapping
        Each of `STATISTICS`, with its interval or the reason why there is none.
    counts : tuple of tuple of float
        The confusion matrix, with people's labels in rows and the judge's in columns. For people one by one, each
        person is compared with the others. For a pool (different people labelled different stories), and for random
        labels, counts are shares of stories.
    by_people, by_judge : tuple of float or None
        Share of each label.
    items : int
        Number of stories (or stories x criteria) that the judge was asked about; for people one by one, number of
        their labels.
    lost : mapping
        Cause -> number of these items that do not count, each under one cause: no label by the judge (`unlabelled`), no
        majority among its repeats (`repeats_tied`) or among people (`people_tied`), no label by people (`nobody`). For
        people one by one: no majority among the other people (`others_tied`).
    beside : mapping
        For a judge, statistic -> comparison with people one by one against the majority of the others.
    """

    subject: Subject
    labels: tuple[str, ...]
    positive: str | None
    statistics: Mapping[str, Estimate]
    counts: tuple[tuple[float, ...], ...] = ()
    by_people: Shares = ()
    by_judge: Shares = ()
    items: int | None = None
    lost: Mapping[str, int] = field(default_factory=dict)
    beside: Mapping[str, Beside] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """Kind of the row's rater: ceiling (people one by one), judge, or control (a null judge, which ignores the
        stories).
        """
        return self.subject.kind

    @property
    def n(self) -> int:
        """Number of stories (or stories x criteria) labelled by people and by the row's rater."""
        return self.statistics["accuracy"].n

    @property
    def is_all(self) -> bool:
        """Whether the row covers all binary criteria together and not one criterion."""
        return self.subject.criterion == ALL

    @property
    def chance(self) -> float:
        """Balanced accuracy expected by chance: one over the number of labels."""
        return 1 / len(self.labels)

    def prevalence(self, shares: Shares) -> float | None:
        """Share of the positive label in `shares`, which has one share per label; None unless there are two labels."""
        return shares[self.labels.index(self.positive)] if self.positive is not None and shares else None


@dataclass(frozen=True, slots=True, eq=False)
class Confusions(Signed):
    """Agreement of judges, people one by one and null judges with people's majority labels."""

    rows: tuple[ConfusionRow, ...]
    options: ConfusionOptions

    @property
    def judges(self) -> tuple[ConfusionRow, ...]:
        """The rows of judges, without people one by one and null judges."""
        return tuple(row for row in self.rows if row.kind == JUDGE)

    def main(self, dataset: str) -> tuple[ConfusionRow, ...]:
        """A dataset's rows over all binary criteria together, or of its first criterion if there are not several."""
        rows = [row for row in self.rows if row.subject.dataset == dataset and row.subject.against is not None]
        first = next((ALL for row in rows if row.is_all), rows[0].subject.against if rows else None)
        return tuple(row for row in rows if row.subject.against == first)

    @property
    def frame(self) -> pd.DataFrame:
        """A frame of agreement with people's majority labels, with `signature` and `notes` in its `attrs`.

        It has one row for each criterion of each judge, of people one by one and of each null judge. Columns: `dataset,
        kind, run, judge, eval_prompt, criterion, against, labels, positive`; each of `STATISTICS` with `_low, _high`
        and, where undefined, `_reason`, and for judges also `_one_out, _people_same, _minus_people` (with `_low,
        _high`): the judge, people one by one, and judge minus people, all against the majority of the other people; `n,
        prevalence_people, prevalence_judge`; one column for each cell of the confusion matrix, such as ``people Yes,
        judge No``; `items`, lost items by cause, `repeats, unrated, missing`.
        """
        return self.signed([dict(_flat(row)) for row in self.rows])


def _flat(row: ConfusionRow) -> Iterator[tuple[str, object]]:
    about = row.subject.labels
    yield from (("dataset", about["dataset"]), ("kind", row.kind))
    yield from ((name, about[name]) for name in ("run", "judge", "eval_prompt", "criterion", "against"))
    yield from (("labels", ", ".join(row.labels)), ("positive", row.positive), ("n", row.n))
    for name, estimate in row.statistics.items():
        yield from ((name, estimate.value), (f"{name}_low", estimate.low), (f"{name}_high", estimate.high))
        yield f"{name}_reason", estimate.reason
    yield from (("prevalence_people", row.prevalence(row.by_people)),)
    yield from (("prevalence_judge", row.prevalence(row.by_judge)),)
    for name, sides in row.beside.items():
        yield from ((f"{name}_one_out", sides.judge.value), (f"{name}_people_same", sides.people.value))
        yield f"{name}_minus_people", sides.over.value
        yield from ((f"{name}_minus_people_low", sides.over.low), (f"{name}_minus_people_high", sides.over.high))
    for theirs, counts in zip(row.labels, row.counts, strict=bool(row.counts)):
        yield from ((f"people {theirs}, judge {mine}", n) for mine, n in zip(row.labels, counts, strict=True))
    yield "items", row.items
    yield from row.lost.items()
    yield from ((name, about[name]) for name in ("repeats", "unrated", "missing"))
