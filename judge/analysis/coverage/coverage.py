"""What was asked, answered and rated, and whether what was lost differs from what was kept. Never fills a gap.

*Asked* counts planned repeats, *answered* those for which the judge's text arrived, *rated* those from which a rating
was read. It is printed before any statistic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge.analysis.coverage import loss
from judge.analysis.options.signature import signature
from judge.analysis.options.table_options import CoverageOptions
from judge.printing.tables import Column, Table
from judge.rating_matrix import RatingMatrix, build
from judge.stats.estimation.association import PERMUTATIONS, Association, with_group, with_number
from judge.stats.shares.missing_data_bounds import mean_bounds

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

NOT_ANSWERED = ("not_answered", "filtered")
"""Statuses without a text of the judge."""

WHY_AMBIGUOUS = ("list", "quoted")
"""Flags that say why an answer is ambiguous: its only number is that of a list, or its only rating is quoted."""

_WHY_NOTES = {
    "list": '(list): ambiguous answers whose only number is the "1." of a list',
    "quoted": "(quoted): ambiguous answers whose only rating is quoted from the story or from somebody's speech",
}
_ALPHA = 0.05


def coverage(
    table: RatingsTable, by: Sequence[str] = ("judge", "eval_prompt"), *, drop_systems: Sequence[str] = ()
) -> pd.DataFrame:
    """Counts of asked, answered and rated repeats by columns of the ratings table.

    Returns
    -------
    DataFrame
        The columns `by`, then `stories, asked, answered, rated, share` (rated / asked), then one column for each status
        that occurs without a rating, then one for each flag of `WHY_AMBIGUOUS` that occurs (counted under
        `ambiguous` too).
    """
    frame = table.frame
    asked = ((frame["source"] == "judge") & ~frame["system"].isin(list(drop_systems))).to_numpy()
    lost = frame["rating"].isna().to_numpy()[asked]
    status = frame["status"][asked]
    dataset, story = pd.factorize(frame["dataset"])[0], pd.factorize(frame["story"])[0]
    view = frame[list(by)][asked].assign(
        _story=(dataset * (story.max(initial=0) + 1) + story)[asked],
        _answered=~status.isin(NOT_ANSWERED).to_numpy(),
        _rated=~lost,
    )
    groups = view.groupby(list(by), sort=False, dropna=False, observed=True)
    out = pd.DataFrame(
        {
            "stories": groups["_story"].nunique(),
            "asked": groups.size(),
            "answered": groups["_answered"].sum(),
            "rated": groups["_rated"].sum(),
        }
    )
    out["share"] = out["rated"] / out["asked"]
    missing, causes = view[lost], status[lost]
    for cause in sorted(causes.unique()):
        named = missing[(causes == cause).to_numpy()].groupby(list(by), sort=False, dropna=False, observed=True)
        out[str(cause)] = named.size().reindex(out.index).fillna(0).astype(int)
    flags = ";" + frame["flags"][asked][lost].astype(str) + ";"
    for flag in WHY_AMBIGUOUS:
        holds = flags.str.contains(f";{flag};", regex=False).to_numpy()
        if holds.any():
            named = missing[holds].groupby(list(by), sort=False, dropna=False, observed=True)
            out[flag] = named.size().reindex(out.index).fillna(0).astype(int)
    return out.reset_index()


def rated_share(table: RatingsTable, *, drop_systems: Sequence[str] = ()) -> float | None:
    """Share of asked repeats that have a rating; None when nothing was asked."""
    frame = table.frame
    rows = frame["rating"][(frame["source"] == "judge") & ~frame["system"].isin(list(drop_systems))]
    return float(rows.notna().mean()) if len(rows) else None


def associations(table: RatingsTable, options: CoverageOptions | None = None) -> pd.DataFrame:
    """Is loss associated with the system, the story's length, the people's rating or its distance from their mean?

    The unit is the story, within run x judge x Eval-Prompt x criterion: it counts as lost when one of its repeats has
    no rating. Cells that lost nothing are not listed.

    Returns
    -------
    DataFrame
        `run, judge, eval_prompt, criterion, with, test, effect, correlation, p, tail, n, lost, reason`; `effect` is
        Cramér's V for systems, else the AUC (.5 = none); p values are not adjusted.
    """
    options = options or CoverageOptions()
    return _associations(build(table, drop_systems=options.drop_systems), options.seed)


def _associations(matrices: Sequence[RatingMatrix], seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        {**cell, "with": name, **_flat(test)}
        for matrix in matrices
        for i in range(len(matrix.cells))
        for cell, name, test in _cell_associations(matrix, i, rng)
    ]
    columns = [
        "run",
        "judge",
        "eval_prompt",
        "criterion",
        "with",
        "test",
        "effect",
        "correlation",
        "p",
        "tail",
        "n",
        "lost",
    ]
    return pd.DataFrame(rows, columns=[*columns, "reason"])


def bounds(table: RatingsTable, *, drop_systems: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Mean rating of each cell over asked stories, with what it could be if every missing repeat were known.

    Each row: `run, judge, eval_prompt, criterion, mean` (Estimate whose ends are worst and best case: missing
    repeats at the lowest or highest point of the scale), `scale` and `missing`. The mean is over repeats.
    """
    return _bounds(build(table, drop_systems=drop_systems), scales_of(table))


def _bounds(matrices: Sequence[RatingMatrix], scales: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for matrix in matrices:
        for i, cell in enumerate(matrix.cells):
            low, high = scales.get(cell.criterion) or observed_scale(matrix)
            ratings = matrix.repeats(i)
            # A repeat that was never planned is not missing: only asked ones are counted.
            lost = int(matrix.asked[i].sum() - matrix.valid[i].sum())
            values = np.concatenate([ratings[~np.isnan(ratings)], np.full(lost, np.nan)])
            mean = mean_bounds(values, low, high)
            rows.append({**cell._asdict(), "mean": mean, "scale": f"{low:g}-{high:g}", "missing": lost})
    return rows


def scales_of(table: RatingsTable) -> dict[str, tuple[float, float]]:
    """Criterion -> ends of its scale, as far as the result folders know them."""
    found: dict[str, tuple[float, float]] = {}
    for fact in table.facts:
        for criterion in fact.criteria:
            scale = getattr(criterion, "scale", None)
            if scale is not None:
                found[str(getattr(criterion, "name", criterion))] = (float(scale.min), float(scale.max))
    return found


def summary_line(table: RatingsTable, *, drop_systems: Sequence[str] = ()) -> str:
    """Coverage in one sentence, for formats that hold a single table."""
    counts = coverage(table, ("source",), drop_systems=drop_systems)
    if counts.empty:
        return "coverage: no judge was asked"
    row = counts.iloc[0]
    causes = [name for name in counts.columns[6:] if row[name] and name not in WHY_AMBIGUOUS]
    lost = [f"{name} {int(row[name])}" for name in causes]
    tail = f" ({', '.join(lost)})" if lost else ""
    share = f"{100 * row['share']:.1f} %"
    return f"coverage: {row['asked']} asked, {row['answered']} answered, {row['rated']} rated, {share}{tail}"


def summary(table: RatingsTable, *, drop_systems: Sequence[str] = ()) -> Table:
    """The short coverage table that stands before statistics: one row a judge and Eval-Prompt."""
    options = CoverageOptions(drop_systems=tuple(drop_systems))
    line = signature(table, build(table, drop_systems=drop_systems), options, without=("seed",))
    return _count_table(table, ("judge", "eval_prompt"), options, line)


def with_coverage(
    table: RatingsTable, found: Sequence[Table], form: str, drop_systems: Sequence[str] = ()
) -> list[Table]:
    """Tables of statistics with coverage before them: a line above the first, or the first note of each."""
    line = summary_line(table, drop_systems=drop_systems)
    if form in ("table", "md"):
        return [replace(one, above=line) if i == 0 else one for i, one in enumerate(found)]
    return [replace(one, notes=(line, *one.notes)) for one in found]


def tables(table: RatingsTable, options: CoverageOptions | None = None) -> list[Table]:
    """All coverage tables: counts by Eval-Prompt, criterion and system, associations of loss, bounds."""
    options = options or CoverageOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    line = signature(table, matrices, options, without=("seed",))
    tested = signature(table, matrices, options, without=("seed",), extra=(f"perm:{PERMUTATIONS}/seed{options.seed}",))
    ends = signature(table, matrices, options, without=("seed",), extra=("bounds:worst-best",))
    return [
        *(_count_table(table, ("judge", by), options, line) for by in ("eval_prompt", "criterion", "system")),
        _association_table(_associations(matrices, options.seed), tested),
        _bounds_table(_bounds(matrices, scales_of(table)), ends),
    ]


def _count_table(table: RatingsTable, by: Sequence[str], options: CoverageOptions, line: str) -> Table:
    counts = coverage(table, by, drop_systems=options.drop_systems)
    statuses = list(counts.columns[len(by) + 5 :])
    columns = [Column(name, name.replace("_", " ")) for name in (*by, "stories", "asked", "answered", "rated")]
    columns.append(Column("share", "rated %", digits=1, factor=100))
    columns += [Column(name, f"({name})" if name in WHY_AMBIGUOUS else name) for name in statuses]
    title = "Coverage by " + " and ".join(name.replace("eval_prompt", "Eval-Prompt") for name in by)
    rows: list[Mapping[str, Any]] = [{str(k): v for k, v in row.items()} for row in counts.to_dict("records")]
    notes = [note for fact in table.facts for note in fact.notes]
    notes += [_WHY_NOTES[name] for name in statuses if name in WHY_AMBIGUOUS]
    return Table(title, columns, rows, line, tuple(dict.fromkeys(notes)))


def _cell_associations(
    matrix: RatingMatrix, i: int, rng: np.random.Generator
) -> list[tuple[dict[str, str], str, Association]]:
    asked = matrix.asked[i] > 0
    lost = (matrix.valid[i] < matrix.asked[i])[asked]
    if not lost.any():
        return []
    cell = matrix.cells[i]._asdict()
    found = [
        (cell, "system", with_group(lost, matrix.system[asked], rng)),
        (cell, "length in words", with_number(lost, matrix.stories["words"].to_numpy(dtype=np.float64)[asked])),
    ]
    found += [(cell, name, test) for name, test in loss.against_people(matrix, i).values()]
    return found


def _flat(test: Association) -> dict[str, Any]:
    return {
        "test": test.test,
        "effect": test.effect,
        "correlation": test.correlation,
        "p": test.p,
        "tail": test.tail,
        "n": test.n,
        "lost": test.lost,
        "reason": test.reason,
    }


def _association_table(frame: pd.DataFrame, line: str) -> Table:
    tested = frame[frame["p"].notna()]
    strong = int((tested["p"] < _ALPHA).sum())
    if frame.empty:
        notes = ["nothing was lost: every asked repeat has a rating"]
    else:
        notes = [
            "unit: the story, lost when one of its repeats has no rating; p is not adjusted",
            f"{len(tested)} tests, {strong} with p < .05 ({_ALPHA * len(tested):.1f} expected from chance alone)",
            "effect: Cramér's V for systems; for numbers the chance that a lost story has the higher one (.50 = none)",
        ]
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criterion", "criterion"),
        Column("with", "loss and"),
        Column("n", "stories"),
        Column("lost", "lost"),
        Column("test", "test"),
        Column("effect", "effect"),
        Column("correlation", "r"),
        Column("p", "p", digits=3, p="row"),
        Column("tail", "tail"),
        Column("reason", "why not"),
    ]
    rows = [{str(k): _plain(v) for k, v in row.items()} for row in frame.to_dict("records")]
    return Table("Is loss associated with the stories?", columns, rows, line, notes)


def _bounds_table(rows: list[dict[str, Any]], line: str) -> Table:
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criterion", "criterion"),
        Column("missing", "missing"),
        Column("scale", "scale"),
        Column("mean", "mean [worst, best]", digits=2),
    ]
    notes = [
        "bounds, not confidence intervals: every missing repeat at the lowest, or at the highest, point of the scale"
    ]
    return Table("Mean rating and its bounds", columns, rows, line, notes)


def observed_scale(matrix: RatingMatrix) -> tuple[float, float]:
    """Lowest and highest rating anywhere in the dataset, for criteria whose scale no result folder tells."""
    both = [part[~np.isnan(part)] for part in (matrix.judge, matrix.people)]
    seen = np.concatenate([part.reshape(-1) for part in both])
    return (float(seen.min()), float(seen.max())) if seen.size else (np.nan, np.nan)


def _plain(value: object) -> object:
    """None for pandas' missing marks."""
    return None if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)) else value
