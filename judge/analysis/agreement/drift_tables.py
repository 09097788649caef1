"""Printed tables: tests of equal correlations over systems or datasets, and Pearson's r in each of these."""

from __future__ import annotations

from judge.analysis.agreement.drift import Drift
from judge.analysis.inputs.candidates import first_columns
from judge.analysis.inputs.subject_rows import cells
from judge.base.printing.tables import Column, Table
from judge.stats.correlation.heterogeneity import FEW


def tables(result: Drift) -> list[Table]:
    """Two printed tables: the tests that a judge's correlation with people is equal over systems or datasets, then
    Pearson's r in each dataset and system.
    """
    return [_test_table(result), _group_table(result)]


def _test_table(result: Drift) -> Table:
    rows = [cells(row) for row in result.tests]
    columns = [
        *first_columns(rows),
        Column("over", "over"),
        Column("groups", "groups"),
        Column("lowest_group", "lowest in"),
        Column("lowest", "r"),
        Column("highest_group", "highest in"),
        Column("highest", "r"),
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
    return Table(title, columns, rows, result.signature, (*result.notes, q, p, *reasons))


def _group_table(result: Drift) -> Table:
    rows = [cells(row) | {"n": row.r.n} for row in result.groups]
    columns = [
        *first_columns(rows),
        Column("group", "system"),
        Column("r", "Pearson's r"),
        Column("n", "stories"),
        Column("sd_judge", "sd judge"),
        Column("sd_people", "sd people"),
    ]
    own = [
        "intervals: Fisher's z, 95 %, stories as independent; r falls where ratings vary less: read it beside the sds"
    ]
    few = sum(row.few for row in result.groups)
    if few:
        own.append(f"{few} of {len(rows)} rows rest on fewer than {FEW} stories: their r is weak evidence")
    title = "Drift: r with people by dataset and system"
    return Table(title, columns, rows, result.signature, (*result.notes, *own))
