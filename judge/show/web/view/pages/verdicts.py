"""Counts of the verdicts of a run that compares stories: preferences and wins, without statistical inference."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from markupsafe import Markup

from judge.questions.charts.colours import Scale
from judge.questions.charts.heatmap import HeatCell, HeatMap, HeatRow
from judge.show.pages import charts
from judge.show.web.view.judgments import Judgments

_SYSTEMS = 24
"""Systems of which a matrix of wins can be read."""

_MATRICES = 6


@dataclass(frozen=True, slots=True)
class PreferredRow:
    """Counts of comparisons with a parsed preference, for one criterion and one Eval-Prompt.

    `leads` counts them by preference: 1 for the story shown first, -1 for the second, 0 for a tie. `decided` counts all
    of them. `beside` counts comparisons in which both the judge and people prefer one story; in `own` of these it is
    the same story.
    """

    criterion: str
    eval_prompt: str
    decided: int
    leads: dict[int, int]
    own: int
    beside: int


def preferred(index: Judgments) -> list[PreferredRow]:
    """One row of counts for each criterion and Eval-Prompt that has a parsed preference."""
    counts: dict[tuple[str, str], dict[int, int]] = defaultdict(lambda: {1: 0, 0: 0, -1: 0})
    for criterion, prompt, _, lead, n in index.cells():
        if lead is not None:
            counts[criterion, prompt][int(lead)] += n
    agreed = index.agreed()
    return [
        PreferredRow(*key, sum(leads.values()), dict(leads), *agreed.get(key, (0, 0))) for key, leads in counts.items()
    ]


def wins(index: Judgments, criteria: list[str]) -> list[tuple[Markup, str]]:
    """A matrix of wins between systems, with its caption, for each of the first criteria (at most six). Criteria with
    only one system or too many systems are left out.
    """
    matrices: list[tuple[Markup, str]] = []
    for number, criterion in enumerate(criteria[:_MATRICES]):
        won = index.wins(criterion)
        systems = {name for pair in won for name in pair}
        if 1 < len(systems) <= _SYSTEMS:
            matrices.append(_matrix(criterion, won, systems, number))
    return matrices


def _matrix(criterion: str, won: dict[tuple[str, str], float], systems: set[str], number: int) -> tuple[Markup, str]:
    """HTML table and caption with the share of comparisons that the row's system won against the column's system. The
    system with the highest mean share comes first. `number` makes the element's name unique on the page.
    """

    def share(one: str, other: str) -> float | None:
        met = won.get((one, other), 0.0) + won.get((other, one), 0.0)
        return won.get((one, other), 0.0) / met if met else None

    def mean(name: str) -> float:
        shares = [value for other in systems if (value := share(name, other)) is not None]
        return sum(shares) / len(shares)

    order = sorted(systems, key=lambda name: (-mean(name), name))
    rows = []
    for position, name in enumerate(order, 1):
        cells = [_cell(name, other, share(name, other)) for other in order]
        rows.append(HeatRow("", "", f"{position}  {name}", tuple(cells)))
    values: list[float] = [cell.value for row in rows for cell in row.cells if cell.value]
    caption = (
        f"{criterion}: share of comparisons, in per cent, that the row's system won against the column's, ties one "
        "half, over all Eval-Prompts and both orders. Colours are by distance from 50 %."
    )
    heat_map = HeatMap(
        title=f"Wins of {len(order)} systems, {criterion}",
        alt=f"{len(order)} rows by {len(order)} systems.",
        columns=tuple(str(position) for position, _ in enumerate(order, 1)),
        rows=tuple(rows),
        unit="won, less 50 %",
        scale=Scale.of(values or [10.0], digits=0),
        caption=caption,
        signature="",
    )
    return charts.heat_map(heat_map, f"wins-{number}"), caption


def _cell(name: str, other: str, share: float | None) -> HeatCell:
    if share is None:
        return HeatCell(None, "", f"{name} against {other}: {'the same system' if name == other else 'never compared'}")
    return HeatCell(100 * share - 50, f"{100 * share:.0f}", f"{name} against {other}: {100 * share:.1f} % won")
