"""Section on preferences between two stories: charts of agreement, strengths and wins, and tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from markupsafe import Markup

from judge.analysis.coverage import counts
from judge.analysis.preference.ranked import Topic, answer, tables
from judge.analysis.preference.systems import Systems
from judge.questions.charts import preferences as chart
from judge.questions.charts.shared import SIGNS
from judge.show.pages import charts
from judge.show.report.blocks import figure, prose, shown
from judge.show.report.inputs import ReportInputs


def blocks(inputs: ReportInputs) -> list[Markup]:
    """Preferences stated by judges and people, and those implied by ratings."""
    comparison = inputs.preferences
    parts = [prose(answer(comparison)), *_pictures(comparison.systems)]
    parts += [shown(table, inputs) for table in tables(comparison, ["agreement", "order"], answered=False)]
    behind = tables(comparison, ["systems", "stories", "transitivity"], answered=False)
    return [*parts, *(shown(table, inputs, folded=True) for table in behind)]


def agreement_blocks(inputs: ReportInputs) -> list[Markup]:
    """Agreement with people, of baselines without a judge too, and by difference in length."""
    read = (
        "Two rows need no judge: the longer story wins, and the control, which reads nothing but the surface of a text "
        "and predicts pairs of story-prompts it was not fitted on. A judge below them has not been shown to read the "
        "stories."
    )
    tables_shown = _tables(inputs, "agreement")
    nothing = prose("No people's preferences or ratings of these stories are known, so agreement cannot be estimated.")
    return [prose(read), *tables_shown] if tables_shown else [nothing]


def order_blocks(inputs: ReportInputs) -> list[Markup]:
    """How the order shown affects the preference, beyond random variation."""
    return _tables(inputs, "order") or [prose("No judge compared.")]


def system_blocks(inputs: ReportInputs) -> list[Markup]:
    """The systems' strengths and wins, as charts and tables."""
    parts = [*_pictures(inputs.preferences.systems), *_tables(inputs, "systems", folded=True)]
    return parts or [prose("All stories that were compared are of one system.")]


def story_blocks(inputs: ReportInputs) -> list[Markup]:
    """How judges and people rank the stories of a story-prompt."""
    return _tables(inputs, "stories") or [prose("No story-prompt has three stories that were compared.")]


def transitivity_blocks(inputs: ReportInputs) -> list[Markup]:
    """Whether the preferences are consistent with one ranking."""
    return _tables(inputs, "transitivity") or [
        prose("No three stories were all compared with each other, so cycles cannot be counted.")
    ]


def coverage_blocks(inputs: ReportInputs) -> list[Markup]:
    """How many comparisons were asked, answered and decided."""
    sentence = counts.sentence(inputs.verdicts)
    return [prose(f"Coverage: {sentence}."), *(shown(table, inputs) for table in counts.tables(inputs.verdicts))]


def _tables(inputs: ReportInputs, topic: Topic, *, folded: bool | None = None) -> list[Markup]:
    topic_tables = tables(inputs.preferences, [topic], answered=False)
    return [shown(table, inputs, folded=folded) for table in topic_tables]


def _pictures(systems: Systems) -> Iterator[Markup]:
    own = [standing for standing in systems.standings if standing.kind != "implied"]
    places = sorted(own, key=lambda standing: (standing.dataset, standing.criterion.casefold()))
    for number, (_, group) in enumerate(
        groupby(places, key=lambda standing: (standing.dataset, standing.criterion.casefold()))
    ):
        some = list(group)[: len(SIGNS)]
        drawn = chart.strengths(some, systems.signature)
        yield figure(charts.forest(drawn, f"strengths-{number}", width=230), drawn.caption)
        wins = chart.win_matrix(some, systems.signature)
        yield figure(charts.heat_map(wins, f"wins-{number}"), wins.caption)
