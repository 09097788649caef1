"""Result of the analysis of labels: rows and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE, Kind
from judge.analysis.inputs.candidates import Subject, first_columns, last_columns
from judge.analysis.labels.items import ALL
from judge.analysis.options.agreement_options import ConfusionOptions
from judge.analysis.options.signature import Signed
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, hundredths, titled
from judge.base.printing.text_layout import column_keys

# Names of the statistics, as `judge.stats.agreement.confusion` defines them.
STATISTICS = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "phi", "kappa", "ac1", "alpha")

Shares = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """One statistic of judge and people, and judge minus people, against the majority of the other people."""

    judge: Estimate
    people: Estimate
    over: Estimate


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """Agreement with people's majority labels, of one judge, of people one by one or of a null judge.

    `positive` is None with more than two labels; precision, recall and F1 are then means over the labels. `statistics`
    has each of `STATISTICS`. `counts` has people's labels in rows and the judge's in columns; for people one by one,
    each person is compared with the others. For a pool (different people labelled different stories), and for random
    labels, counts are shares of stories. `by_people` and `by_judge` are shares of each label. `items` is the number
    that the judge was asked about; for people, of their labels. `lost` counts those that do not count, each under one
    cause: no label by the judge (`unlabelled`), no majority among its repeats (`repeats_tied`), among people
    (`people_tied`) or among the other people (`others_tied`), no label by people (`nobody`). `beside` compares a judge
    with people one by one, by statistic."""

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
        return self.subject.kind

    @property
    def n(self) -> int:
        """Number of items labelled by people and by the row's rater."""
        return self.statistics["accuracy"].n

    @property
    def is_all(self) -> bool:
        return self.subject.criterion == ALL

    @property
    def chance(self) -> float:
        """Balanced accuracy expected by chance."""
        return 1 / len(self.labels)

    def prevalence(self, shares: Shares) -> float | None:
        """Share of the positive label in `shares`, one per label; None unless there are two labels."""
        return shares[self.labels.index(self.positive)] if self.positive is not None and shares else None


@dataclass(frozen=True, slots=True, eq=False)
class Confusions(Signed):
    """Agreement of judges, people one by one and null judges with people's majority labels."""

    rows: tuple[ConfusionRow, ...]
    options: ConfusionOptions

    @property
    def judges(self) -> tuple[ConfusionRow, ...]:
        return tuple(row for row in self.rows if row.kind == JUDGE)

    def main(self, dataset: str) -> tuple[ConfusionRow, ...]:
        """A dataset's rows over all binary criteria together, or of its first criterion."""
        rows = [row for row in self.rows if row.subject.dataset == dataset and row.subject.against is not None]
        first = next((ALL for row in rows if row.is_all), rows[0].subject.against if rows else None)
        return tuple(row for row in rows if row.subject.against == first)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each criterion of each judge, of people one by one and of each null judge.

        `STATISTICS` have `_low, _high` and `_reason`, for judges also `_one_out, _people_same, _minus_people`: the
        judge, people one by one, and judge minus people, all against the majority of the other people. Columns such as
        ``people Yes, judge No`` are cells of the confusion matrix; others are causes of lost items."""
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


# Printed tables of labels: statistics, confusion matrices, comparison with one person.

_TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "phi": "phi",
    "kappa": "kappa",
    "ac1": "AC1",
    "alpha": "alpha",
}
_LOST = {
    "unlabelled": "no label",
    "repeats_tied": "repeats tied",
    "people_tied": "people tied",
    "nobody": "no person's label",
    "others_tied": "others tied",
}
# What is printed of a judge beside one person; the frame has all.
_BESIDE = ("accuracy", "balanced_accuracy", "f1", "kappa")


def tables(result: Confusions) -> list[Table]:
    """The statistics, confusion matrices for each set of labels, and judges compared with one person."""
    return [_statistics(result), *_matrices(result), *_beside(result)]


def matrix_table(rows: Sequence[ConfusionRow], signature: str, notes: Sequence[str] = ()) -> Table:
    """Confusion matrices of rows that have the same labels, one line per label given by people."""
    labels = rows[0].labels
    keys = column_keys(labels, ("dataset", "criterion", "judge", "eval_prompt", "against", "people", "all"))
    columns = [
        *first_columns([row.subject.labels for row in rows]),
        Column("people", "people say"),
        *(Column(key, f"judge says {label}", digits=_digits(rows)) for key, label in zip(keys, labels, strict=True)),
        Column("all", "all", digits=_digits(rows)),
    ]
    lines = [
        {**row.subject.labels, "people": label, **dict(zip(keys, counts, strict=True)), "all": sum(counts)}
        for row in rows
        for label, counts in zip(labels, row.counts, strict=True)
    ]
    return Table(f"Confusion matrix, {' / '.join(labels)}", columns, lines, signature, tuple(notes))


def _statistics(result: Confusions) -> Table:
    rows = [_printed(row) for row in result.rows]
    columns = first_columns([row.subject.labels for row in result.rows])
    if any(row.positive for row in result.rows):
        columns.append(Column("positive", "positive"))
    columns += [Column(name, title) for name, title in _TITLES.items()]
    columns += [
        *hundredths(prevalence_people="people say it %", prevalence_judge="judge says it %"),
        *titled(n="n", lost="not counted"),
        *last_columns(),
    ]
    notes = tuple(dict.fromkeys([*_explained(result), *result.notes]))
    return Table("Labels of judges beside people's", columns, rows, result.signature, notes)


def _printed(row: ConfusionRow) -> dict[str, Any]:
    return {
        **row.subject.labels,
        **cells_of(row, "kind", "positive"),
        **row.statistics,
        "prevalence_people": row.prevalence(row.by_people),
        "prevalence_judge": row.prevalence(row.by_judge),
        "n": row.n,
        "lost": ", ".join(f"{_LOST[name]} {count}" for name, count in row.lost.items() if count),
    }


def _explained(result: Confusions) -> Iterator[str]:
    yield (
        "people's label: the majority of a story's raters; the judge's: the majority of its repeats; ties, refusals "
        "and answers that could not be parsed are no label"
    )
    if any(row.positive for row in result.rows):
        yield "precision, recall, F1 and the last shares are those of the positive label"
    if any(len(row.labels) > 2 for row in result.rows):
        yield "of more than two labels precision, recall and F1 are means over the labels"
    if any(row.is_all for row in result.rows):
        yield "all criteria: stories x criteria of the binary ones, each as one; intervals draw a story's together"
    yield (
        "always the commonest label, labels at random: uninformed judges; their balanced accuracy is "
        f"{' or '.join(dict.fromkeys(f'{row.chance:.2f}' for row in result.rows if row.labels))}, their kappa 0"
    )
    if any(row.lost.get("others_tied") for row in result.rows):
        yield (
            "one more person: persons whose others are tied are not counted, which leaves the stories on which "
            "people agree more; the last table compares judges with the same others"
        )


def _matrices(result: Confusions) -> Iterator[Table]:
    groups: dict[tuple[str, ...], list[ConfusionRow]] = {}
    for row in result.rows:
        if row.counts and row.kind != CONTROL:
            groups.setdefault(row.labels, []).append(row)
    pooled = any(not float(n).is_integer() for row in result.rows if row.kind == CEILING for c in row.counts for n in c)
    notes = ["one more person: each person's label in the columns, the majority of the others in the rows"]
    if pooled:
        notes[0] += "; each story has a weight of one, divided among its persons"
    for rows in groups.values():
        yield matrix_table(rows, result.signature, notes)


def _digits(rows: Sequence[ConfusionRow]) -> int:
    whole = all(float(n).is_integer() for row in rows for counts in row.counts for n in counts)
    return 0 if whole else 1


def _beside(result: Confusions) -> Iterator[Table]:
    rows = [row for row in result.rows if row.kind == JUDGE and row.beside]
    if not rows:
        return
    columns = first_columns([row.subject.labels for row in rows])
    for name in _BESIDE:
        columns += [
            Column(f"{name}_judge", f"{_TITLES[name]}, judge"),
            Column(f"{name}_people", "one person"),
            Column(f"{name}_over", "judge minus person"),
        ]
    columns.append(Column("n", "n"))
    note = (
        "judge and one person against the same majorities of the other people, on the stories that judge and person "
        "both labelled; averaged over people. Intervals are for these people"
    )
    yield Table(
        "Judges beside one person, each against the others",
        columns,
        [_sides(row) for row in rows],
        result.signature,
        [note],
    )


def _sides(row: ConfusionRow) -> dict[str, Any]:
    cells: dict[str, Any] = {**row.subject.labels, "n": row.beside[STATISTICS[0]].over.n}
    for name in _BESIDE:
        sides = row.beside[name]
        cells |= {f"{name}_judge": sides.judge, f"{name}_people": sides.people, f"{name}_over": sides.over}
    return cells
