"""Charts of preferences between systems: a heat map of wins, and the systems' strengths with intervals."""

from __future__ import annotations

from collections.abc import Sequence

from judge.analysis.preference.standings import SystemStandings
from judge.base.estimate import Estimate
from judge.questions.charts import shared
from judge.questions.charts.forest import Forest, Line, signs
from judge.questions.charts.heatmap import HeatCell, HeatMap, HeatRow, Scale
from judge.questions.charts.shared import PEOPLE

_NOT_COMPARED = Estimate.undefined("not compared")


def named(standing: SystemStandings) -> str:
    return ", ".join(part for part in (standing.judge, standing.eval_prompt) if part)


def win_matrix(standings: Sequence[SystemStandings], signature: str) -> HeatMap:
    """Share of comparisons that the row's system won against the column's, ties as one half; one block of rows for each
    source. Systems are in the order of their strengths by the first source.
    """
    order = [row.system for row in standings[0].rows]
    order += [row.system for standing in standings for row in standing.rows if row.system not in order]
    columns = list(dict.fromkeys(order))
    rows = tuple(
        _row(standing, name, columns) for standing in standings for name in columns if name in _systems(standing)
    )
    first = standings[0]
    caption = (
        f"Share of comparisons, in per cent, that the row's system won against the column's, ties one half; "
        f"{first.criterion}, {first.dataset}. Systems, numbered, in the order of {named(first)}. "
        "Colours are by distance from 50 %."
    )
    return HeatMap(
        title=f"Wins of {len(columns)} systems, {first.dataset}",
        alt=f"{len(rows)} rows by {len(columns)} systems.",
        # Numbers, since names of systems do not fit above a cell.
        columns=tuple(str(at) for at, _ in enumerate(columns, 1)),
        rows=rows,
        unit="won, less 50 %",
        scale=Scale.of([value for row in rows for cell in row.cells if (value := cell.value)] or [10.0], digits=0),
        caption=caption,
        signature=signature,
    )


def _systems(standing: SystemStandings) -> list[str]:
    return [row.system for row in standing.rows]


def _row(standing: SystemStandings, name: str, columns: Sequence[str]) -> HeatRow:
    there = _systems(standing)
    shares = standing.matrix[there.index(name)]
    cells = []
    for other in columns:
        share = float(shares[there.index(other)]) if other in there else float("nan")
        if other == name or share != share:
            why = "the same system" if other == name else "never compared"
            cells.append(HeatCell(None, "", f"{named(standing)}, {name} against {other}: {why}"))
            continue
        tip = f"{named(standing)}, {name} against {other}: {100 * share:.1f} % won"
        cells.append(HeatCell(100 * share - 50, f"{100 * share:.0f}", tip))
    return HeatRow(named(standing), named(standing), f"{columns.index(name) + 1}  {name}", tuple(cells))


def strengths(standings: Sequence[SystemStandings], signature: str) -> Forest:
    """The systems' log strengths, one series for each source, in the order of the first."""
    first = standings[0]
    systems = list(dict.fromkeys(row.system for standing in standings for row in standing.rows))
    by_system = [{row.system: row.strength for row in standing.rows} for standing in standings]
    lines = tuple(
        Line("", name, (tuple(strengths_of.get(name, _NOT_COMPARED) for strengths_of in by_system),))
        for name in systems
    )
    judges = [standing for standing in standings if standing.kind != "people"]
    marks = dict(
        zip(map(id, judges), signs([named(standing) for standing in judges], "judges x Eval-Prompts"), strict=True)
    )
    every = [cell for line in lines for panel in line.cells for cell in panel if cell is not None]
    return Forest(
        title=f"Strengths of {len(systems)} systems, {first.dataset}",
        panels=(first.criterion,),
        short=(first.criterion,),
        lines=lines,
        series=tuple((named(standing), marks.get(id(standing), PEOPLE)) for standing in standings),
        bands=(),
        axis="log strength (sum 0)",
        caption=f"Strengths of {len(systems)} systems by comparisons, {first.criterion}, {first.dataset}; "
        f"95 % intervals over story-prompts. Systems in the order of {named(first)}." + shared.undefined(every),
        signature=signature,
        counted="comparisons",
        digits=2,
        from_zero=True,
    )
