"""Tests whether a judge's correlation with human ratings is the same for every system and every dataset.

OpenMEVA calls this generalization. Pearson's r stands beside the standard deviations of the ratings, because a
correlation falls where ratings vary less. The test compares correlations corrected for systems' places on the scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from judge.analysis.inputs.bars import Predict
from judge.analysis.inputs.candidates import Candidate, Subject, cells, comparable, first_columns
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.agreement_options import DriftOptions
from judge.analysis.options.signature import Signed, signature_parts
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, titled
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.correlation import heterogeneity
from judge.stats.correlation.heterogeneity import FEW, LatentCorrelation

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


ALL = "all"
_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against")
_GROUP = ("r", "sd_judge", "sd_people", "few")
_TEST = ("lowest", "highest", "q", "df", "p", "tail", "p_adjusted", "i2", "left_out")
_WORDS = ("over", "lowest_group", "highest_group", "reason")


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Pearson's r between a judge (or the control judge) and people in one system, or in the whole dataset (``all``).
    `sd_judge` and `sd_people` divide by n - 1; `few` marks too few stories for a reliable r."""

    subject: Subject
    group: str
    r: Estimate
    sd_judge: float | None
    sd_people: float | None
    few: bool


@dataclass(frozen=True, slots=True)
class HomogeneityRow:
    """The test that a judge's Pearson r with people is the same in all systems of a dataset, or on all datasets. `over`
    is ``systems`` or ``datasets``, `groups` their number in the test. `q` is Cochran's Q of the corrected correlations
    with `df` degrees of freedom, `i2` the heterogeneity I². `p_adjusted` is Benjamini and Hochberg's over all tests
    that could be computed. `left_out` counts groups without a usable r; `reason` says why there is no test."""

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
    """Correlations of judges with people by dataset and system, and tests of whether they are equal."""

    tests: tuple[HomogeneityRow, ...]
    groups: tuple[GroupRow, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each test. Columns are the fields of `HomogeneityRow`, with `_low`, `_high` and `_n` of the
        lowest and highest r; `tail` says whether p is one- or two-sided."""
        rows = [cells(row) | {"tail": None if row.p is None else "greater"} for row in self.tests]
        return self.wide(rows, (*_ABOUT, *_WORDS), _TEST)

    @property
    def groups_frame(self) -> pd.DataFrame:
        """One row for each dataset and system. Columns are the fields of `GroupRow`; r has `_low`, `_high` (Fisher's
        interval), `_n` and `_reason`."""
        return self.wide([cells(row) for row in self.groups], (*_ABOUT, "group"), _GROUP)


def drift(table: RatingsTable, options: DriftOptions | None = None, *, predict: Predict | None = None) -> Drift:
    """Pearson's r of judges and control by dataset and system, and tests that it is equal in all of them."""
    options = options or DriftOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    matrix_candidates, remarks = comparable(matrices, options.against, predict if options.control else None)
    groups = [tuple(_groups(matrix, candidate)) for matrix, candidate in matrix_candidates]
    statistics = ["r:pearson", "q:latent-r/welch", *remarks.signature_parts]
    return Drift(
        tests=tuple(_tests(groups)),
        groups=tuple(group.row for rows in groups for group in rows),
        signature_parts=signature_parts(
            table, matrices, options, extra=statistics, intervals="fisher-z", without=("window",)
        ),
        notes=(*table.notes, *remarks.notes),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """One dataset or system in a test, with its correlation corrected for its place on the scale."""

    row: GroupRow
    latent: LatentCorrelation | None


def _groups(matrix: RatingMatrix, candidate: Candidate) -> Iterator[_Group]:
    x, y = candidate.sides
    whole = heterogeneity.in_group(x, y)
    parts = heterogeneity.by_group(x, y, matrix.system, len(matrix.systems))
    for name, group in zip((ALL, *matrix.systems), (whole, *parts), strict=True):
        row = GroupRow(candidate.subject, name, group.r, group.sd_judge, group.sd_people, group.few)
        yield _Group(row, group.latent)


def _tests(groups: Sequence[tuple[_Group, ...]]) -> list[HomogeneityRow]:
    from scipy.stats import false_discovery_control

    rows: list[HomogeneityRow] = []
    # For each rater, the systems of each dataset, then the datasets if it occurs in several.
    across: dict[tuple[str | None, ...], list[_Group]] = {}
    for whole, *systems in groups:
        subject = whole.row.subject
        rows.append(_test(subject, "systems", [(group.row.group, group) for group in systems]))
        key = (subject.kind, subject.judge, subject.eval_prompt, subject.criterion, subject.against)
        across.setdefault(key, []).append(whole)
    for parts in across.values():
        if len(parts) > 1:
            subjects = [part.row.subject for part in parts]
            subject = replace(subjects[0], dataset=" + ".join(one.dataset for one in subjects))
            named = [(one.dataset, part) for one, part in zip(subjects, parts, strict=True)]
            rows.append(_test(subject, "datasets", named))
    tested = {i: row.p for i, row in enumerate(rows) if row.p is not None}
    if tested:
        for i, p in zip(tested, false_discovery_control(list(tested.values())), strict=True):
            rows[i] = replace(rows[i], p_adjusted=float(p))
    return rows


def _test(subject: Subject, over: str, groups: list[tuple[str, _Group]]) -> HomogeneityRow:
    result = heterogeneity.homogeneity([group.latent for _, group in groups])
    r_of = {name: group.row.r for name, group in groups}
    ordered = sorted((r.value, name) for name, r in r_of.items() if r.value is not None)
    lowest, highest = (ordered[0][1], ordered[-1][1]) if ordered else (None, None)
    return HomogeneityRow(
        subject,
        over,
        len(groups),
        lowest_group=lowest,
        lowest=None if lowest is None else r_of[lowest],
        highest_group=highest,
        highest=None if highest is None else r_of[highest],
        **cells_of(result, "q", "df", "p", "i2", "left_out", "reason"),
    )


# Printed tables: tests of equal correlations over systems or datasets, and Pearson's r in each of these.


def tables(result: Drift) -> list[Table]:
    """The tests that r is the same everywhere, then r by dataset and system."""
    rows = [cells(row) for row in result.tests]
    columns = [
        *first_columns(rows),
        *titled(
            over="over", groups="groups", lowest_group="lowest in", lowest="r", highest_group="highest in", highest="r"
        ),
        Column("q", "Q", digits=1),
        Column("df", "df"),
        Column("p", "p", digits=4, p="greater"),
        Column("p_adjusted", "p adjusted", digits=4, p="greater"),
        Column("i2", "I² %", digits=0, factor=100),
    ]
    tested = sum(row.p is not None for row in result.tests)
    q = (
        "Q: Fisher z of the groups' correlations against their weighted mean (Welch's test), each r corrected for how "
        "far its ratings gather at an end of the scale; systems that wrote for the same story-prompts are not "
        "independent, so p is approximate"
    )
    p = f"p adjusted: Benjamini-Hochberg over the {tested} tests of this table; I²: share of the spread beyond chance"
    reasons = dict.fromkeys(f"Q: {row.reason}" for row in result.tests if row.reason)
    title = "Drift: is r with people the same everywhere?"
    tests = Table(title, columns, rows, result.signature, (*result.notes, q, p, *reasons))
    return [tests, _group_table(result)]


def _group_table(result: Drift) -> Table:
    rows = [cells(row) | {"n": row.r.n} for row in result.groups]
    columns = [
        *first_columns(rows),
        *titled(group="system", r="Pearson's r", n="stories", sd_judge="sd judge", sd_people="sd people"),
    ]
    own = [
        "intervals: Fisher's z, 95 %, stories as independent; r falls where ratings vary less: read it beside the sds"
    ]
    few = sum(row.few for row in result.groups)
    if few:
        own.append(f"{few} of {len(rows)} rows rest on fewer than {FEW} stories: their r is weak evidence")
    title = "Drift: r with people by dataset and system"
    return Table(title, columns, rows, result.signature, (*result.notes, *own))
