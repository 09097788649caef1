"""How far each judge's correlation lies from the two bars, people and the control, paired. Never picks a winner.

Judge, ceiling and control stand on the same stories' resamples, so the interval of a difference is that of the paired
difference, which is narrower than two intervals side by side suggest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge.analysis.correlation.rows import JUDGE, DatasetRows, Predict, Remarks, Row, mean_of
from judge.analysis.matching import match
from judge.analysis.options import CorrelationOptions
from judge.analysis.signature import signature
from judge.rating_matrix import RatingMatrix, build
from judge.stats import near_ties
from judge.stats.estimate import Estimate
from judge.tables import Column, Table

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

CONTROL, CEILING = "control", "ceiling"
_ABSENT = {
    CONTROL: Estimate.undefined("there is no control's row"),
    CEILING: Estimate.undefined("there is no human ceiling"),
}


@dataclass(frozen=True, slots=True)
class Lead:
    """One judge x Eval-Prompt of a dataset, on average over its `criteria` (those that people rated).

    `value` is its mean correlation; `bars` holds the mean of control and ceiling over the same criteria, `over` the
    judge minus each, `above` on how many criteria the judge's value is the higher one, of how many that are defined.
    """

    dataset: str
    run: str
    judge: str
    eval_prompt: str
    control: bool
    criteria: tuple[str, ...]
    value: Estimate
    bars: dict[str, Estimate]
    over: dict[str, Estimate]
    above: dict[str, tuple[int, int]]


def leads(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> list[Lead]:
    """A lead for each judge x Eval-Prompt, in the order of the correlation table.

    Cells without people's ratings are left out. A mean is undefined where one of its criteria is, and says which.
    """
    options = options or CorrelationOptions()
    return _found(table, build(table, drop_systems=options.drop_systems), options, predict, Remarks())


def table_of(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> Table:
    """The leads as a table, highest mean first."""
    return with_table(table, options, predict=predict)[1]


def with_table(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> tuple[list[Lead], Table]:
    """Both at the price of one."""
    options, remarks = options or CorrelationOptions(), Remarks()
    matrices = build(table, drop_systems=options.drop_systems)
    made = _found(table, matrices, options, predict, remarks)
    found = [made[i] for i in near_ties.descending([one.value.value for one in made])]
    several = len({one.dataset for one in found}) > 1
    rows = [_row(one) for one in found]
    columns = [Column("dataset", "dataset")] if several else []
    columns += [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criteria", "criteria"),
        Column("value", "mean x100", digits=1, factor=100),
        Column("over_control", "minus control", digits=1, factor=100),
        Column("above_control", "above it on"),
        Column("over_ceiling", "minus people", digits=1, factor=100),
        Column("above_ceiling", "above them on"),
    ]
    notes = (
        "differences are paired: judge, control and people on the same resampled stories",
        "the order is that of these stories: the first row is flattered by having been picked from all",
    )
    line = signature(table, matrices, options, extra=list(remarks.made))
    return made, Table("Each judge beside control and people", columns, rows, line, (*notes, *remarks.notes))


def _found(
    table: RatingsTable,
    matrices: Sequence[RatingMatrix],
    options: CorrelationOptions,
    predict: Predict | None,
    remarks: Remarks,
) -> list[Lead]:
    controls = frozenset(fact.judge for fact in table.facts if fact.control)
    found: list[Lead] = []
    for matrix in matrices:
        maker = DatasetRows(matrix, options, predict, remarks)
        found += _of_dataset(maker, maker.all(match(matrix, options.against)), controls)
    return found


def _of_dataset(maker: DatasetRows, rows: Sequence[Row], controls: frozenset[str]) -> list[Lead]:
    bars = {(row.kind, row.criterion): row for row in rows if row.kind in (CONTROL, CEILING)}
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.kind == JUDGE and row.labels["against"] is not None:
            groups.setdefault(tuple(row.labels[key] for key in ("run", "judge", "eval_prompt")), []).append(row)
    return [_lead(maker, key, group, bars, controls) for key, group in groups.items()]


def _lead(
    maker: DatasetRows,
    key: tuple[str, ...],
    group: Sequence[Row],
    bars: dict[tuple[str, str], Row],
    controls: frozenset[str],
) -> Lead:
    parts = [(row.criterion, row.estimate, row.resampled) for row in group]
    means: dict[str, Estimate] = {}
    over: dict[str, Estimate] = {}
    above: dict[str, tuple[int, int]] = {}
    for kind in (CONTROL, CEILING):
        beside = [bars.get((kind, str(row.labels["against"]))) for row in group]
        if not all(beside):
            means[kind] = over[kind] = _ABSENT[kind]
            above[kind] = (0, 0)
            continue
        known = [one for one in beside if one is not None]
        means[kind] = _mean(maker, [(one.criterion, one.estimate, one.resampled) for one in known])
        differences = [_minus(row, one) for row, one in zip(group, known, strict=True)]
        over[kind] = _mean(maker, differences)
        values = [part[1].value for part in differences if part[1].value is not None]
        above[kind] = (sum(value > 0 for value in values), len(values))
    run, judge, eval_prompt = key
    return Lead(
        dataset=maker.matrix.dataset,
        run=run,
        judge=judge,
        eval_prompt=eval_prompt,
        control=judge in controls,
        criteria=tuple(row.criterion for row in group),
        value=_mean(maker, parts),
        bars=means,
        over=over,
        above=above,
    )


_Part = tuple[str, Estimate, tuple[Any, ...]]


def _minus(row: Row, other: Row) -> _Part:
    """The row less the other: value by value where both are defined, and resample by resample."""
    x, y = row.estimate, other.estimate
    if x.value is None or y.value is None:
        return row.criterion, Estimate.undefined((x.reason if x.value is None else y.reason) or "undefined"), ()
    values = tuple(a - b for a, b in zip(row.resampled, other.resampled, strict=False))
    return row.criterion, Estimate(x.value - y.value, n=min(x.n, y.n)), values


def _mean(maker: DatasetRows, parts: Sequence[_Part]) -> Estimate:
    estimate, values = mean_of(list(parts))
    return maker.intervals.of_values(estimate, values)


def _row(one: Lead) -> dict[str, Any]:
    def counted(kind: str) -> str | None:
        above, of = one.above[kind]
        return f"{above} of {of}" if of else None

    return {
        "dataset": one.dataset,
        "judge": f"{one.judge}, control" if one.control else one.judge,
        "eval_prompt": one.eval_prompt,
        "criteria": len(one.criteria),
        "value": one.value,
        "over_control": one.over[CONTROL],
        "above_control": counted(CONTROL),
        "over_ceiling": one.over[CEILING],
        "above_ceiling": counted(CEILING),
    }
