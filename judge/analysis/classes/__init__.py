"""Compares pooled correlations with those within classes of stories: author (human or not), system, dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.analysis.classes.result import Classes, ClassPart, ClassRow, Factor, beside, notes, sentence, tables
from judge.analysis.correlation import CorrelatedDataset, CorrelationRow, Correlations
from judge.analysis.correlation.statistic import Floats, Side
from judge.analysis.inputs.bars import JUDGE
from judge.analysis.options.choices import LEVELS
from judge.base.estimate import Estimate
from judge.stats.correlation.attenuation import Spread, at_spread, spread_within
from judge.stats.correlation.coefficients import COEFFICIENTS
from judge.stats.estimation.paired_differences import adjust
from judge.stats.resampling.bootstrap_intervals import DEGENERATE

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
    Other levels of correlation (such as system means) give no rows.
    """
    tested: list[_Tested] = []
    if LEVELS[result.level].grouping == "overall":
        for dataset in result.datasets:
            tested += _of_dataset(dataset, rank=COEFFICIENTS[result.coefficient].of_signs)
        tested += _of_datasets(result)
    p = np.array([[row_tests.signs, row_tests.outside] for row_tests in tested]).reshape(-1, 2)
    adjusted = adjust(p, "holm", family="signs and parts of every row").p
    rows = (
        replace(row_tests.row, signs=_number(signs), outside=_number(outside))
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


def _factors(dataset: CorrelatedDataset) -> Iterator[tuple[Factor, Sequence[str], NDArray[np.int64]]]:
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
        code: NDArray[np.int64],
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
    drawn = np.stack([part.values for part in parts])
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


def _number(p: float) -> float | None:
    return None if np.isnan(p) else float(p)


__all__ = ["ClassPart", "ClassRow", "Classes", "beside", "classes", "notes", "sentence", "tables"]
