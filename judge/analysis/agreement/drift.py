"""Does a judge follow people equally well for every system and dataset? Never lets a low r pass for a bad judge.

OpenMEVA's generalization tests: Pearson's r within each system and across datasets, with the spread of both sides
beside it (a correlation falls where ratings vary less), and a test that one correlation would do for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from judge.analysis.inputs.bars import Predict
from judge.analysis.inputs.candidates import Candidate, comparable, first_columns
from judge.analysis.options.agreement_options import DriftOptions
from judge.analysis.options.signature import signature
from judge.printing.tables import Column, Table, flat_row
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


def by_group(
    table: RatingsTable, options: DriftOptions | None = None, *, predict: Predict | None = None
) -> pd.DataFrame:
    """Pearson's r of every judge cell and of the control on each dataset and within each of its systems.

    Returns
    -------
    DataFrame
        `dataset, kind, run, judge, eval_prompt, criterion, against, group` ("all", or a system), `r, r_low, r_high`
        (Fisher), `r_n` (stories), `r_reason`, `sd_judge, sd_people` (n - 1), `few` (fewer than 10 stories).
    """
    options = options or DriftOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    found, _ = comparable(matrices, options.against, predict if options.control else None)
    rows = [row for matrix, one in found for row in _group_rows(matrix, one)]
    return pd.DataFrame([{key: row[key] for key in (*_ABOUT, "group")} | flat_row(row, _GROUP) for row in rows])


def homogeneity(
    table: RatingsTable, options: DriftOptions | None = None, *, predict: Predict | None = None
) -> pd.DataFrame:
    """For each judge cell the test that r is the same in all systems of a dataset, or on all datasets.

    Returns
    -------
    DataFrame
        The labels of `by_group`, `over` (systems or datasets), `lowest_group, highest_group` and their r, `lowest,
        highest`, with `_low, _high, _n`; `q, df, p, tail, p_adjusted` (Benjamini-Hochberg over all rows with a p),
        `i2, left_out` (groups without a usable r), `reason`.
    """
    options = options or DriftOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    found, _ = comparable(matrices, options.against, predict if options.control else None)
    return pd.DataFrame([{key: row[key] for key in (*_ABOUT, *_WORDS)} | flat_row(row, _TEST) for row in _tests(found)])


def tables(table: RatingsTable, options: DriftOptions | None = None, *, predict: Predict | None = None) -> list[Table]:
    """As printed: the tests of homogeneity, then r by dataset and system."""
    options = options or DriftOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    found, remarks = comparable(matrices, options.against, predict if options.control else None)
    made = ["r:pearson", *remarks.signature_parts]
    line = signature(table, matrices, options, extra=made, intervals="fisher-z", without=("window",))
    facts = [note for fact in table.facts for note in fact.notes]
    notes = tuple(dict.fromkeys([*facts, *remarks.notes]))
    groups = [row for matrix, one in found for row in _group_rows(matrix, one)]
    return [_test_table(_tests(found), line, notes), _group_table(groups, line, notes)]


def _test_table(rows: list[dict[str, Any]], line: str, notes: tuple[str, ...]) -> Table:
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
    tested = sum(row["p"] is not None for row in rows)
    q = (
        "Q: Fisher z of the groups' r against their weighted mean, chi-squared on df; systems that wrote for the same "
        "story-prompts are not independent, so p is approximate"
    )
    p = f"p adjusted: Benjamini-Hochberg over the {tested} tests of this table; I²: share of the spread beyond chance"
    reasons = dict.fromkeys(f"Q: {row['reason']}" for row in rows if row["reason"])
    return Table("Drift: is r with people the same everywhere?", columns, rows, line, (*notes, q, p, *reasons))


def _group_table(rows: list[dict[str, Any]], line: str, notes: tuple[str, ...]) -> Table:
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
    few = sum(row["few"] for row in rows)
    if few:
        own.append(f"{few} of {len(rows)} rows rest on fewer than {heterogeneity.FEW} stories: their r says little")
    return Table("Drift: r with people by dataset and system", columns, rows, line, (*notes, *own))


def _group_rows(matrix: RatingMatrix, one: Candidate) -> list[dict[str, Any]]:
    """One row for the dataset, one for each system."""
    x, y = one.sides
    whole = heterogeneity.in_group(x, y)
    parts = heterogeneity.by_group(x, y, matrix.system, len(matrix.systems))
    rows = []
    for name, group in zip((ALL, *matrix.systems), (whole, *parts), strict=True):
        row = {**one.labels, "kind": one.kind, "group": name, "r": group.r, "n": group.r.n, "few": group.few}
        rows.append(row | {"sd_judge": group.sd_judge, "sd_people": group.sd_people})
    return rows


def _tests(found: list[tuple[RatingMatrix, Candidate]]) -> list[dict[str, Any]]:
    """A test over systems for each contender; over datasets for each that stands in several."""
    from scipy.stats import false_discovery_control

    rows: list[dict[str, Any]] = []
    across: dict[tuple[Any, ...], list[tuple[dict[str, Any], str, Estimate]]] = {}
    for matrix, one in found:
        groups = _group_rows(matrix, one)
        labels = {**one.labels, "kind": one.kind}
        rows.append(_test(labels, "systems", [(row["group"], row["r"]) for row in groups[1:]]))
        key = (one.kind, *(one.labels[name] for name in ("judge", "eval_prompt", "criterion", "against")))
        across.setdefault(key, []).append((labels, matrix.dataset, groups[0]["r"]))
    for parts in across.values():
        if len(parts) > 1:
            labels = parts[0][0] | {"dataset": " + ".join(name for _, name, _ in parts)}
            rows.append(_test(labels, "datasets", [(name, r) for _, name, r in parts]))
    tested = [row for row in rows if row["p"] is not None]
    if tested:
        for row, p in zip(tested, false_discovery_control([row["p"] for row in tested]), strict=True):
            row["p_adjusted"] = float(p)
    return rows


def _test(labels: dict[str, Any], over: str, groups: list[tuple[str, Estimate]]) -> dict[str, Any]:
    result = heterogeneity.homogeneity([r for _, r in groups])
    defined = sorted(((r.value, name, r) for name, r in groups if r.value is not None), key=lambda item: item[:2])
    row = {**labels, "over": over, "groups": len(groups), "q": result.q, "df": result.df, "p": result.p}
    row |= {
        "tail": None if result.p is None else "greater",
        "p_adjusted": None,
        "i2": result.i2,
        "left_out": result.left_out,
        "reason": result.reason,
    }
    row |= dict.fromkeys(("lowest", "highest", "lowest_group", "highest_group"))
    if defined:
        row |= {"lowest": defined[0][2], "lowest_group": defined[0][1]}
        row |= {"highest": defined[-1][2], "highest_group": defined[-1][1]}
    return row
