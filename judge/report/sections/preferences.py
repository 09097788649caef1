"""Section on preferences between two stories: agreement, strengths and wins as pictures, and tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from markupsafe import Markup

from judge.analysis.coverage import verdicts
from judge.analysis.preference.printed import Topic, tables
from judge.analysis.preference.sentence import answer
from judge.analysis.preference.systems import Systems
from judge.charts import preferences as chart
from judge.charts.signs import SIGNS
from judge.pages import charts
from judge.report.blocks import figure, prose, shown
from judge.report.inputs import ReportInputs


def blocks(inputs: ReportInputs) -> list[Markup]:
    """Of runs that compared, and of what the ratings of the others imply."""
    found = inputs.preferences
    made = [prose(answer(found)), *_pictures(found.systems)]
    made += [shown(table, inputs) for table in tables(found, ["agreement", "order"], answered=False)]
    behind = tables(found, ["systems", "stories", "transitivity"], answered=False)
    return [*made, *(shown(table, inputs, folded=True) for table in behind)]


def agreement_blocks(inputs: ReportInputs) -> list[Markup]:
    """How often judges prefer what people prefer, beside what needs no judge, and by difference of length."""
    read = (
        "Two rows need no judge: the longer story wins, and the control, which reads nothing but the surface of a text "
        "and predicts pairs of story-prompts it was not fitted on. A judge below them has not been shown to read the "
        "stories."
    )
    made = _tables(inputs, "agreement")
    nothing = prose("No people's preferences or ratings of these stories are known, so agreement cannot be estimated.")
    return [prose(read), *made] if made else [nothing]


def order_blocks(inputs: ReportInputs) -> list[Markup]:
    """What the place of a story does, apart from noise."""
    return _tables(inputs, "order") or [prose("No judge compared.")]


def system_blocks(inputs: ReportInputs) -> list[Markup]:
    """Strengths and wins, drawn; the tables behind them."""
    made = [*_pictures(inputs.preferences.systems), *_tables(inputs, "systems", folded=True)]
    return made or [prose("All stories that were compared are of one system.")]


def story_blocks(inputs: ReportInputs) -> list[Markup]:
    """How each side orders the stories of a story-prompt."""
    return _tables(inputs, "stories") or [prose("No story-prompt has three stories that were compared.")]


def transitivity_blocks(inputs: ReportInputs) -> list[Markup]:
    """Whether preferences make an order."""
    return _tables(inputs, "transitivity") or [
        prose("No three stories were all compared with each other, so cycles cannot be counted.")
    ]


def coverage_blocks(inputs: ReportInputs) -> list[Markup]:
    """What was asked, answered and decided."""
    found = verdicts.sentence(inputs.verdicts)
    return [prose(f"Coverage: {found}."), *(shown(table, inputs) for table in verdicts.tables(inputs.verdicts))]


def _tables(inputs: ReportInputs, topic: Topic, *, folded: bool | None = None) -> list[Markup]:
    found = tables(inputs.preferences, [topic], answered=False)
    return [shown(table, inputs, folded=folded) for table in found]


def _pictures(found: Systems) -> Iterator[Markup]:
    """Strengths and wins for each dataset and criterion that people or judges compared."""
    own = [one for one in found.standings if one.kind != "implied"]
    places = sorted(own, key=lambda one: (one.dataset, one.criterion.casefold()))
    for number, (_, group) in enumerate(groupby(places, key=lambda one: (one.dataset, one.criterion.casefold()))):
        some = list(group)[: len(SIGNS)]
        drawn = chart.strengths(some, found.signature)
        yield figure(charts.forest(drawn, f"strengths-{number}", width=230), drawn.caption)
        wins = chart.win_matrix(some, found.signature)
        yield figure(charts.heat_map(wins, f"wins-{number}"), wins.caption)
