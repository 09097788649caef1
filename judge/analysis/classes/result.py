"""Result of the analysis of classes: rows with the p values of their tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.signature import Signed
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, Note

Factor = Literal["author", "system", "dataset"]
Flag = Literal["signs differ", "outside its parts"]

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class ClassPart:
    """The correlation within one class of stories, not corrected for the smaller variation of ratings within it."""

    name: str
    value: Estimate


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One pooled correlation, and those within the classes of stories that `factor` defines.

    For the factor ``dataset``, `pooled` is the mean of the datasets' correlations. `inside` is the mean within classes,
    weighted by number of stories, corrected for the smaller variation within a class. `signs` and `outside` are
    adjusted p; None: no test. `signs`: the correlation is above 0 in one class (or pooled) and below 0 in another.
    `outside`: the pooled value differs from `inside`,  and no class is shown to differ even more in the same direction.
    """

    subject: Subject
    factor: Factor
    pooled: Estimate
    parts: tuple[ClassPart, ...]
    inside: Estimate
    signs: float | None = None
    outside: float | None = None

    @property
    def flag(self) -> Flag | None:
        """How the pooled correlation misleads: ``signs differ``, else ``outside its parts``; None if it does not."""
        if self.signs is not None and self.signs < LEVEL:
            return "signs differ"
        if self.outside is not None and self.outside < LEVEL:
            return "outside its parts"
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Classes(Signed):
    """Pooled correlations and the correlations within classes of stories, by author, system and dataset."""

    rows: tuple[ClassRow, ...]
    statistic: str

    @property
    def flagged(self) -> tuple[ClassRow, ...]:
        return tuple(row for row in self.rows if row.flag)

    @property
    def frame(self) -> pd.DataFrame:
        """For each pooled correlation, a row over all stories (null `class`, with p and flag), and one per class."""
        return self.signed([dict(row) for row in self._rows()], _COLUMNS)

    def _rows(self) -> Iterator[Iterator[tuple[str, object]]]:
        for row in self.rows:
            yield _flat(row, None, row.pooled)
            yield from (_flat(row, part.name, part.value) for part in row.parts)


_COLUMNS = ["dataset", "run", "judge", "eval_prompt", "criterion", "against", "by", "class", "value", "low", "high"]
_COLUMNS += ["n", "method", "reason", "inside", "signs_p", "outside_p", "flag"]


def _flat(row: ClassRow, name: str | None, value: Estimate) -> Iterator[tuple[str, object]]:
    yield from ((key, label) for key, label in row.subject.labels.items() if key in _COLUMNS)
    yield from (("by", row.factor), ("class", name), ("value", value.value), ("low", value.low), ("high", value.high))
    yield from (("n", value.n), ("method", value.method), ("reason", value.reason))
    if name is None:
        yield from (("inside", row.inside.value), ("signs_p", row.signs), ("outside_p", row.outside))
        yield ("flag", row.flag)


# Printed tables of correlations within classes.

_NAMED = 3
_RULE = (
    "flagged, of all rows and factors as one family (Holm, 0.05): signs differ, where some class lies above 0 and "
    "another below; outside its parts, where the pooled value is further than 5 from the mean within classes, "
    "restated at the spread of all stories (indirect range restriction), and no class is shown to reach as far"
)


def tables(result: Classes) -> list[Table]:
    """One printed table: each pooled correlation is followed by those within its classes."""
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
    """A sentence for each flagged row; of many rows, the first have one, and a last sentence counts the rest."""
    sentences = [f"{_row_name(row)}: {sentence(row)}" for row in rows[:_NAMED]]
    more = len(rows) - _NAMED
    if more > 0:
        sentences.append(f"{more} further pooled values hide differences within classes")
    return [
        Note(text, Advice("{within} shows all classes", within=True)) if not at else text
        for at, text in enumerate(sentences)
    ]


def sentence(row: ClassRow) -> str:
    """How the pooled correlation of this row misleads about those within classes."""
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
