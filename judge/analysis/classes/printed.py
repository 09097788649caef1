"""Printed tables of correlations within classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from judge.analysis.classes.result import Classes, ClassPart, ClassRow
from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, Note

_NAMED = 3
_RULE = (
    "flagged, of all rows and factors as one family (Holm, 0.05): signs differ, where some class lies above 0 and "
    "another below; outside its parts, where the pooled value is further than 5 from the mean within classes, "
    "restated at the spread of all stories (indirect range restriction), and no class is shown to reach as far"
)


def tables(result: Classes) -> list[Table]:
    """List with one printed table, in which each pooled correlation is followed by the correlations within its classes.

    A class is a set of stories by one kind of author, by one system, or of one dataset.
    """
    columns = [Column("dataset", "dataset")] if len({row.subject.dataset for row in result.rows}) > 1 else []
    columns += [Column("criterion", "criterion"), Column("judge", "judge"), Column("eval_prompt", "eval prompt")]
    columns += [
        Column("by", "by"),
        Column("class", "class"),
        Column("value", f"{result.statistic} x100", digits=1, factor=100),
        Column("n", "stories"),
        Column("inside", "mean within, restated x100", digits=1, factor=100),
        Column("signs_p", "p, signs", digits=3, p="greater"),
        Column("outside_p", "p, outside", digits=3, p="two-sided"),
        Column("flag", "flag"),
    ]
    rows = [row for class_row in result.rows for row in _rows(class_row)]
    title = f"{result.statistic} with people within classes"
    return [Table(title, columns, rows, result.signature, [*notes(result.flagged), _RULE])]


def beside(correlations: Sequence[Table], result: Classes, *, full: bool) -> list[Table]:
    """The correlation tables, with a note under the first where correlations within classes have different signs.

    `full` adds the table of all classes, and notes on pooled values that differ from those within classes.
    """
    first, *others = correlations
    class_notes = notes(result.flagged if full else [row for row in result.flagged if row.flag == "signs differ"])
    with_notes = [replace(first, notes=[*first.notes, *class_notes]) if class_notes else first, *others]
    return [*with_notes, *(tables(result) if full else [])]


def notes(rows: Sequence[ClassRow]) -> list[str]:
    """A sentence for each flagged row, that is for each pooled correlation that misleads.

    If there are many rows, only the first have a sentence, and a last sentence gives the number of those without one.
    """
    sentences = [f"{_row_name(row)}: {sentence(row)}" for row in rows[:_NAMED]]
    more = len(rows) - _NAMED
    if more > 0:
        sentences.append(f"{more} further pooled values hide differences within classes")
    return [
        Note(text, Advice("{within} shows all classes", within=True)) if not at else text
        for at, text in enumerate(sentences)
    ]


def sentence(row: ClassRow) -> str:
    """Sentence that explains how the pooled correlation of this row misleads about the correlations within classes."""
    if row.flag == "signs differ":
        ends = sorted(row.parts, key=lambda part: part.value.value or 0.0)
        return (
            f"within classes of {row.factor} signs differ: {_part_text(ends[-1])}, {_part_text(ends[0])}; "
            f"pooled {_x100(row)}"
        )
    inside, pooled = row.inside.value or 0.0, row.pooled.value or 0.0
    more = f"differences between {row.factor}s raise it"
    why = more if pooled > inside else f"differences between {row.factor}s lower it"
    return (
        f"the pooled {_x100(row)} is not representative of the classes of {row.factor} (on average "
        f"{100 * inside:+.1f} at the same spread): {why}"
    )


def _row_name(row: ClassRow) -> str:
    subject = row.subject
    return f"{subject.dataset}, {subject.judge} with {subject.eval_prompt}, {subject.criterion}"


def _part_text(part: ClassPart) -> str:
    return f"{100 * (part.value.value or 0.0):+.1f} in {part.name}"


def _x100(row: ClassRow) -> str:
    return f"{100 * (row.pooled.value or 0.0):+.1f}"


def _rows(row: ClassRow) -> Iterator[dict[str, Any]]:
    about = {name: row.subject.labels[name] for name in ("dataset", "criterion", "judge", "eval_prompt")}
    about |= {"by": row.factor}
    tests = {"inside": row.inside, "signs_p": row.signs, "outside_p": row.outside, "flag": row.flag}
    yield {**about, "class": "all", "value": row.pooled, "n": row.pooled.n, **tests}
    for part in row.parts:
        yield {**about, "class": part.name, "value": part.value, "n": part.value.n}
