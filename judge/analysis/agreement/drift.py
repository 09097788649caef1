"""Drift: tests that a judge correlates with people equally for every system and dataset, with each group's spread.

OpenMEVA's generalization tests: Pearson's r within each system and across datasets, with the spread of both sides
beside it (a correlation falls where ratings vary less), and a test that one correlation would do for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge.analysis.inputs.bars import Predict
from judge.analysis.inputs.candidates import Candidate, Subject, comparable
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.subject_rows import cells
from judge.analysis.options.agreement_options import DriftOptions
from judge.analysis.options.signature import signature_parts
from judge.analysis.options.signed import Signed
from judge.printing.tables import Column, flat_row
from judge.rating_matrix import RatingMatrix, build
from judge.stats.correlation import heterogeneity
from judge.stats.estimate import Estimate

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

ALL = "all"
_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against")
_GROUP = tuple(Column(name, name) for name in ("r", "sd_judge", "sd_people", "few"))
_TEST = tuple(
    Column(name, name) for name in ("lowest", "highest", "q", "df", "p", "tail", "p_adjusted", "i2", "left_out")
)
_WORDS = ("over", "lowest_group", "highest_group", "reason")


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Pearson's r of a judge cell or of the control with people on a dataset, or within one of its systems.

    `group` is the system, or ``all``; `sd_judge, sd_people` are the spread of both sides (n - 1), `few` says whether
    too few stories are in the group to say much.
    """

    subject: Subject
    group: str
    r: Estimate
    sd_judge: float | None
    sd_people: float | None
    few: bool


@dataclass(frozen=True, slots=True)
class HomogeneityRow:
    """The test that r is the same in all systems of a dataset, or on all datasets.

    `over` is systems or datasets. `lowest` and `highest` are the r of the groups so named; `p_adjusted` is
    Benjamini-Hochberg's over all tests that exist; `left_out` counts groups without a usable r; `reason` says why there
    is no test.
    """

    subject: Subject
    over: str
    groups: int
    lowest_group: str | None
    lowest: Estimate | None
    highest_group: str | None
    highest: Estimate | None
    q: float | None
    df: int
    p: float | None
    i2: float | None
    left_out: int
    reason: str | None
    p_adjusted: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Drift(Signed):
    """Agreement by dataset and system, and tests of whether it is the same in all systems or datasets."""

    tests: tuple[HomogeneityRow, ...]
    groups: tuple[GroupRow, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """A frame of the tests, with `signature` and `notes` in its `attrs`.

        What their subject is called, then the fields of `HomogeneityRow`: the lowest and highest r have `_low, _high,
        _n` beside them; `tail` is that of p.
        """
        rows = [cells(row) | {"tail": None if row.p is None else "greater"} for row in self.tests]
        return self._frame(rows, (*_ABOUT, *_WORDS), _TEST)

    @property
    def groups_frame(self) -> pd.DataFrame:
        """A frame of r in each dataset and system, with `signature` and `notes` in its `attrs`.

        What their subject is called, then the fields of `GroupRow`: r has `_low, _high` (Fisher), `_n`, `_reason`.
        """
        return self._frame([cells(row) for row in self.groups], (*_ABOUT, "group"), _GROUP)

    def _frame(
        self, rows: Sequence[Mapping[str, Any]], words: Sequence[str], numbers: Sequence[Column]
    ) -> pd.DataFrame:
        return self.signed([{key: row[key] for key in words} | flat_row(row, numbers) for row in rows])


def drift(table: RatingsTable, options: DriftOptions | None = None, *, predict: Predict | None = None) -> Drift:
    """Pearson's r of every judge cell and of the control by dataset and system, with tests of homogeneity."""
    options = options or DriftOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    matrix_candidates, remarks = comparable(matrices, options.against, predict if options.control else None)
    groups = [tuple(_group_rows(matrix, candidate)) for matrix, candidate in matrix_candidates]
    statistics = ["r:pearson", *remarks.signature_parts]
    facts = [note for fact in table.facts for note in fact.notes]
    return Drift(
        tests=tuple(_tests(groups)),
        groups=tuple(row for rows in groups for row in rows),
        signature_parts=signature_parts(
            table, matrices, options, extra=statistics, intervals="fisher-z", without=("window",)
        ),
        notes=tuple(dict.fromkeys([*facts, *remarks.notes])),
    )


def _group_rows(matrix: RatingMatrix, candidate: Candidate) -> Iterator[GroupRow]:
    """One row for the dataset, one for each system."""
    x, y = candidate.sides
    whole = heterogeneity.in_group(x, y)
    parts = heterogeneity.by_group(x, y, matrix.system, len(matrix.systems))
    for name, group in zip((ALL, *matrix.systems), (whole, *parts), strict=True):
        yield GroupRow(candidate.subject, name, group.r, group.sd_judge, group.sd_people, group.few)


def _tests(groups: Sequence[tuple[GroupRow, ...]]) -> list[HomogeneityRow]:
    """A test over systems for each contender; over datasets for each that stands in several."""
    from scipy.stats import false_discovery_control

    rows: list[HomogeneityRow] = []
    across: dict[tuple[str | None, ...], list[GroupRow]] = {}
    for whole, *systems in groups:
        subject = whole.subject
        rows.append(_test(subject, "systems", [(row.group, row.r) for row in systems]))
        key = (subject.kind, subject.judge, subject.eval_prompt, subject.criterion, subject.against)
        across.setdefault(key, []).append(whole)
    for parts in across.values():
        if len(parts) > 1:
            subject = replace(parts[0].subject, dataset=" + ".join(row.subject.dataset for row in parts))
            rows.append(_test(subject, "datasets", [(row.subject.dataset, row.r) for row in parts]))
    tested = {i: row.p for i, row in enumerate(rows) if row.p is not None}
    if tested:
        for i, p in zip(tested, false_discovery_control(list(tested.values())), strict=True):
            rows[i] = replace(rows[i], p_adjusted=float(p))
    return rows


def _test(subject: Subject, over: str, groups: list[tuple[str, Estimate]]) -> HomogeneityRow:
    result = heterogeneity.homogeneity([r for _, r in groups])
    defined = sorted(((r.value, name, r) for name, r in groups if r.value is not None), key=lambda item: item[:2])
    _, lowest_group, lowest = defined[0] if defined else (None, None, None)
    _, highest_group, highest = defined[-1] if defined else (None, None, None)
    return HomogeneityRow(
        subject,
        over,
        len(groups),
        lowest_group=lowest_group,
        lowest=lowest,
        highest_group=highest_group,
        highest=highest,
        q=result.q,
        df=result.df,
        p=result.p,
        i2=result.i2,
        left_out=result.left_out,
        reason=result.reason,
    )
