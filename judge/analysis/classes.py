"""Compares pooled correlations with those within classes of stories: author (human or not), system, dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from judge.analysis.correlation import CorrelatedDataset, CorrelationRow, Correlations
from judge.analysis.correlation.statistic import Side
from judge.analysis.frames import parts_of
from judge.analysis.inputs.bars import JUDGE
from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.choices import LEVELS
from judge.analysis.options.signature import Signed
from judge.base.arrays import Codes, Floats, number
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, plain
from judge.base.wording import Advice, Note
from judge.stats.correlation.coefficients import COEFFICIENTS
from judge.stats.correlation.human_ceiling import Spread, at_spread, spread_within
from judge.stats.estimation.paired_differences import adjust
from judge.stats.resampling.bootstrap_intervals import DEGENERATE

# Result of the analysis of classes: rows with the p values of their tests.

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
        return self.signed(self._rows(), _COLUMNS)

    def _rows(self) -> Iterator[dict[str, object]]:
        for row in self.rows:
            yield _flat(row, None, row.pooled)
            yield from (_flat(row, part.name, part.value) for part in row.parts)


_COLUMNS = ["dataset", "run", "judge", "eval_prompt", "criterion", "against", "by", "class", "value", "low", "high"]
_COLUMNS += ["n", "method", "reason", "inside", "signs_p", "outside_p", "flag"]


def _flat(row: ClassRow, name: str | None, value: Estimate) -> dict[str, object]:
    labels = {key: label for key, label in row.subject.labels.items() if key in _COLUMNS}
    flat = labels | {"by": row.factor, "class": name} | parts_of(value)
    if name is not None:
        return flat
    return flat | {"inside": row.inside.value, "signs_p": row.signs, "outside_p": row.outside, "flag": row.flag}


# Printed tables of correlations within classes.

_NAMED = 3
_RULE = (
    "flagged, of all rows and factors as one family (Holm, 0.05): signs differ, where some class lies above 0 and "
    "another below; outside its parts, where the pooled value is further than 5 from the mean within classes and no "
    "class is shown to reach as far; that mean is restated at the spread of all stories (indirect range restriction)"
)


def tables(result: Classes) -> list[Table]:
    """One printed table: each pooled correlation is followed by those within its classes."""
    columns = [Column("dataset", "dataset")] if len({row.subject.dataset for row in result.rows}) > 1 else []
    columns += plain("criterion", "judge", "eval_prompt")
    columns += [
        *plain("by", "class"),
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
    `full` adds the table of all classes, and notes on pooled values that differ from those within classes."""
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


# Compares pooled correlations with correlations within classes, and flags pooled values that mislead.

# Stories that a class needs.
LEAST = 10

# Resamples that a standard error is taken from, at most: the first of the table's.
RESAMPLES = 300

# How far a pooled value may lie from the mean within, restated: what restating itself may be wrong by.
MARGIN = 0.05

PEOPLE, MODELS = "people", "models"
# How names of systems begin that are people.
_PEOPLE = ("human", "people", "person")


@dataclass(frozen=True, slots=True, eq=False)
class _Tested:
    row: ClassRow
    signs: float
    outside: float


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    name: str
    estimate: Estimate
    values: Floats


def classes(result: Correlations) -> Classes:
    """Every judge's correlation over all stories, compared with those within classes by author, system and dataset.
    Other levels of correlation (such as system means) give no rows."""
    tested: list[_Tested] = []
    if LEVELS[result.level].grouping == "overall":
        for dataset in result.datasets:
            tested += _of_dataset(dataset, rank=COEFFICIENTS[result.coefficient].of_signs)
        tested += _of_datasets(result)
    p = np.array([[row_tests.signs, row_tests.outside] for row_tests in tested]).reshape(-1, 2)
    adjusted = adjust(p, "holm", family="signs and parts of every row").p
    rows = (
        replace(row_tests.row, signs=number(signs), outside=number(outside))
        for row_tests, (signs, outside) in zip(tested, adjusted, strict=True)
    )
    parts = (*result.signature_parts, "within:holm")
    return Classes(tuple(rows), result.statistic, signature_parts=parts, notes=result.notes)


def _of_dataset(dataset: CorrelatedDataset, *, rank: bool) -> Iterator[_Tested]:
    groups: dict[str, list[CorrelationRow]] = {}
    for row in dataset.rows:
        if row.kind == JUDGE and row.cell is not None and row.estimate.defined:
            groups.setdefault(str(row.subject.against), []).append(row)
    for criterion, rows in groups.items():
        j = dataset.matrix.criteria.index(criterion)
        splits = [_Split(dataset, rows, j, *factor) for factor in _factors(dataset)]
        for at, row in enumerate(rows):
            for split in splits:
                parts = split.parts(at)
                if len(parts) > 1:
                    yield _tested(row, split.factor, parts, split.spread(at, parts), rank=rank)


def _factors(dataset: CorrelatedDataset) -> Iterator[tuple[Factor, Sequence[str], Codes]]:
    """Factor, names of its classes, and class index of each story: author (people or models), then system."""
    systems = [str(name) for name in dataset.matrix.systems]
    human = np.array([name.casefold().startswith(_PEOPLE) for name in systems], dtype=np.bool_)
    if human.any() and not human.all():
        yield "author", (MODELS, PEOPLE), human.astype(np.int64)[dataset.matrix.system]
    if len(systems) > 1:
        yield "system", systems, dataset.matrix.system


class _Split:
    def __init__(
        self,
        dataset: CorrelatedDataset,
        rows: Sequence[CorrelationRow],
        j: int,
        factor: Factor,
        levels: Sequence[str],
        code: Codes,
    ) -> None:
        self.factor, self.dataset, self.levels, self.code = factor, dataset, levels, code
        self.intervals = dataset.intervals.first(RESAMPLES)
        matrix = dataset.matrix
        self.positions = matrix.by_position(j)
        self.judges, self.people = matrix.judge[[row.cell or 0 for row in rows]], matrix.people[j]
        self.both = ~(np.isnan(self.judges) | np.isnan(self.people))
        self.drawn: dict[int, tuple[Floats, ...]] = {}
        for k in range(len(levels)):
            stories = code == k
            if (self.both & stories).sum(axis=1).max(initial=0) >= LEAST:
                people = np.where(stories, self.people, np.nan)
                self.drawn[k] = self.intervals.values(np.where(stories, self.judges, np.nan), people)

    def parts(self, at: int) -> list[_Part]:
        """Correlations within each class; classes with too few stories or an undefined correlation are left out."""
        parts = []
        for k, drawn in self.drawn.items():
            stories = self.code == k
            if int((self.both[at] & stories).sum()) < LEAST:
                continue
            mine, people = np.where(stories, self.judges[at], np.nan), np.where(stories, self.people, np.nan)
            estimate = self.dataset.statistic.estimate(Side(mine), Side(people))
            if estimate.defined:
                values = tuple(set_values[at] for set_values in drawn)
                estimate = self.intervals.of_values(estimate, values)
                parts.append(_Part(self.levels[k], estimate, values[0] if values else np.empty(0)))
        return parts

    def spread(self, at: int, parts: Sequence[_Part]) -> Spread:
        """Variation of human ratings within classes relative to that over all stories that this judge rated."""
        names = {part.name for part in parts}
        group = np.array([k if name in names else -1 for k, name in enumerate(self.levels)])[self.code]
        return spread_within(np.where(self.both[at][:, None], self.positions, np.nan), group)


def _tested(row: CorrelationRow, factor: Factor, parts: Sequence[_Part], spread: Spread, *, rank: bool) -> _Tested:
    weights = np.array([part.estimate.n for part in parts], dtype=np.float64)
    weights /= weights.sum()
    value = np.array([part.estimate.value for part in parts], dtype=np.float64)
    pooled = row.resampled[0][:RESAMPLES] if row.resampled else np.empty(0)
    # The mean is restated as a whole: restating each part would bend the noise of small classes.
    inside = float(at_spread(weights @ value, spread, rank=rank))
    class_row = ClassRow(
        row.subject,
        factor,
        row.estimate,
        tuple(ClassPart(part.name, part.estimate) for part in parts),
        Estimate(inside, n=int(sum(part.estimate.n for part in parts))),
    )
    if pooled.size == 0:
        return _Tested(class_row, np.nan, np.nan)
    drawn = np.stack([of_class.values for of_class in parts])  # noqa: PD011
    z = np.array([*value, row.estimate.value]) / np.array([*map(_error, drawn), _error(pooled)])
    far = at_spread(drawn, spread, rank=rank)
    over = float(row.estimate.value or 0.0) - inside
    reach = at_spread(value, spread, rank=rank) - float(row.estimate.value or 0.0)
    beyond = np.sign(over) * reach / np.array([_error(class_values - pooled) for class_values in far])
    reached = _tail(beyond).min(initial=1.0) * len(parts) < 0.05
    inner = at_spread(weights @ drawn, spread, rank=rank)
    further = (abs(over) - MARGIN) / _error(pooled - inner)
    outside = 1.0 if reached else 2 * float(_tail(np.array([further]))[0])
    return _Tested(class_row, _signs(z), min(1.0, outside))


def _of_datasets(result: Correlations) -> Iterator[_Tested]:
    groups: dict[tuple[str | None, ...], list[tuple[str, CorrelationRow]]] = {}
    for dataset in result.datasets:
        for row in dataset.rows:
            if row.kind == JUDGE and row.estimate.defined and row.subject.against is not None:
                subject = row.subject
                key = (subject.judge, subject.eval_prompt, subject.criterion.casefold())
                groups.setdefault(key, []).append((dataset.name, row))
    for rows in groups.values():
        if len(rows) < 2:
            continue
        value = np.array([row.estimate.value for _, row in rows], dtype=np.float64)
        mean = Estimate(float(value.mean()), n=sum(row.estimate.n for _, row in rows))
        parts = tuple(ClassPart(name, row.estimate) for name, row in rows)
        first = rows[0][1]
        errors = [_error(row.resampled[0]) if row.resampled else np.nan for _, row in rows]
        signs = np.nan if np.isnan(errors).any() else _signs(value / np.array(errors))
        yield _Tested(ClassRow(first.subject, "dataset", mean, parts, mean), signs, np.nan)


def _signs(z: Floats) -> float:
    """p of the test that some classes lie above 0 and others below, Bonferroni over the z; NaN with fewer than two."""
    defined = z[~np.isnan(z)]
    if defined.size < 2:
        return np.nan
    return float(min(1.0, defined.size * max(_tail(defined).min(), _tail(-defined).min())))


def _tail(z: Floats) -> Floats:
    from scipy.special import ndtr

    return np.where(np.isnan(z), 1.0, ndtr(-z))


def _error(values: Floats) -> float:
    """Standard deviation over resamples; NaN where too many are undefined, or all are equal."""
    defined = values[~np.isnan(values)]
    if defined.size < max(2.0, (1 - DEGENERATE) * values.size):
        return np.nan
    return float(defined.std(ddof=1)) or np.nan
