"""Printed tables of labels: statistics, confusion matrices, comparison with one person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE
from judge.analysis.inputs.candidates import first_columns, last_columns
from judge.analysis.labels.result import STATISTICS, ConfusionRow, Confusions
from judge.base.printing.column_keys import column_keys
from judge.base.printing.tables import Column, Table

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
_BESIDE = ("accuracy", "balanced_accuracy", "f1", "kappa")
"""What is printed of a judge beside one person; the frame has all."""


def tables(result: Confusions) -> list[Table]:
    """Tables of the statistics, of the confusion matrices, and of judges compared with one person.

    There is one table of confusion matrices for each set of labels.
    """
    return [_statistics(result), *_matrices(result), *_beside(result)]


def matrix_table(rows: Sequence[ConfusionRow], signature: str, notes: Sequence[str] = ()) -> Table:
    """Printed confusion matrices of rows that have the same labels. Each matrix has one line per label given by
    people.
    """
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
        Column("prevalence_people", "people say it %", digits=1, factor=100),
        Column("prevalence_judge", "judge says it %", digits=1, factor=100),
        Column("n", "n"),
        Column("lost", "not counted"),
        *last_columns(),
    ]
    notes = tuple(dict.fromkeys([*_explained(result), *result.notes]))
    return Table("Labels of judges beside people's", columns, rows, result.signature, notes)


def _printed(row: ConfusionRow) -> dict[str, Any]:
    return {
        **row.subject.labels,
        "kind": row.kind,
        "positive": row.positive,
        **row.statistics,
        "prevalence_people": row.prevalence(row.by_people),
        "prevalence_judge": row.prevalence(row.by_judge),
        "n": row.n,
        "lost": ", ".join(f"{_LOST[name]} {count}" for name, count in row.lost.items() if count),
    }


def _explained(result: Confusions) -> Iterator[str]:
    yield (
        "people's label: the majority of a story's raters; the judge's: the majority of its repeats; ties, "
        "refusals and answers that could "
        "not be parsed are no label"
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
            "people, leave one out: persons whose others are tied are not counted, which leaves the stories on which "
            "people agree more; the last table compares judges with the same others"
        )


def _matrices(result: Confusions) -> Iterator[Table]:
    groups: dict[tuple[str, ...], list[ConfusionRow]] = {}
    for row in result.rows:
        if row.counts and row.kind != CONTROL:
            groups.setdefault(row.labels, []).append(row)
    pooled = any(not float(n).is_integer() for row in result.rows if row.kind == CEILING for c in row.counts for n in c)
    notes = ["people, leave one out: each person's label in the columns, the majority of the others in the rows"]
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
