"""Result of the analysis of labels: typed rows, the data they rest on, and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pandas as pd

from judge.analysis.inputs.bars import JUDGE, Kind
from judge.analysis.inputs.candidates import Subject
from judge.analysis.labels.items import ALL
from judge.analysis.options.agreement_options import ConfusionOptions
from judge.analysis.options.signed import Signed
from judge.stats.estimate import Estimate

STATISTICS = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "phi", "kappa", "ac1", "alpha")
"""Names of the statistics, as `judge.stats.agreement.confusion` defines them."""

Shares = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """One statistic against the majorities of the other people: a judge's, that of people one by one, and judge minus
    people.
    """

    judge: Estimate
    people: Estimate
    over: Estimate


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """Agreement of one judge's labels, of people's one by one or of a null judge's with people's majorities.

    Attributes
    ----------
    subject : Subject
        A judge, people one by one or a null judge; criterion `ALL` for stories x criteria of the binary ones.
    labels : tuple of str
    positive : str or None
        The positive label of two; of more, precision, recall and F1 are means over the labels.
    statistics : mapping
        Each of `STATISTICS`, with its interval or the reason why there is none.
    counts : tuple of tuple of float
        The confusion matrix: rows people's label, columns the judge's. People's own counts each person against the
        others; of a pool, and of labels at random, shares of stories.
    by_people, by_judge : tuple of float or None
        Share of each label.
    items : int
        Stories (or stories x criteria) that the judge was asked about; of people one by one, their labels.
    lost : mapping
        Cause -> those of them that do not count, each once: `unlabelled, repeats_tied, people_tied, nobody`; of people
        `others_tied`.
    beside : mapping
        Of a judge, by statistic: against the others' majorities, as one person is.
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
        """Ceiling, judge, or control: a null judge."""
        return self.subject.kind

    @property
    def n(self) -> int:
        """Number of stories (or stories x criteria) that both sides labelled."""
        return self.statistics["accuracy"].n

    @property
    def is_all(self) -> bool:
        """Whether the row covers several criteria together."""
        return self.subject.criterion == ALL

    @property
    def chance(self) -> float:
        """Balanced accuracy of a judge without information: one over the number of labels."""
        return 1 / len(self.labels)

    def prevalence(self, shares: Shares) -> float | None:
        """The share of the positive label, where there are two labels."""
        return shares[self.labels.index(self.positive)] if self.positive is not None and shares else None


@dataclass(frozen=True, slots=True, eq=False)
class Confusions(Signed):
    """Labels of judges, people one by one and null judges beside people's majorities."""

    rows: tuple[ConfusionRow, ...]
    options: ConfusionOptions

    @property
    def judges(self) -> tuple[ConfusionRow, ...]:
        """The rows of judges."""
        return tuple(row for row in self.rows if row.kind == JUDGE)

    def main(self, dataset: str) -> tuple[ConfusionRow, ...]:
        """A dataset's rows over all binary criteria, or those of the first criterion where there are not several."""
        rows = [row for row in self.rows if row.subject.dataset == dataset and row.subject.against is not None]
        first = next((ALL for row in rows if row.is_all), rows[0].subject.against if rows else None)
        return tuple(row for row in rows if row.subject.against == first)

    @property
    def frame(self) -> pd.DataFrame:
        """A frame with one row per rater and criterion, and with `signature` and `notes` in its `attrs`.

        `dataset, kind, run, judge, eval_prompt, criterion, against, labels, positive`; each of `STATISTICS` with `_low,
        _high` and, where it is undefined, `_reason`, and of judges with `_one_out, _people_same, _minus_people`
        (`_low, _high`); `n, prevalence_people, prevalence_judge`; one column for each cell of the confusion matrix,
        ``people Yes, judge No``; `items`, items lost by cause, `repeats, unrated, missing`.
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
