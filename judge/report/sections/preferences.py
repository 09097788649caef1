"""Preferences between two stories: the answer, strengths and wins as pictures, tables behind them. Never tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from markupsafe import Markup

from judge.analysis.preference.printed import tables
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
