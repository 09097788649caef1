"""Section on judges' agreement with people, against human ceiling and control, with heat maps and intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from judge.analysis import classes, correlation
from judge.analysis.agreement import correlation_grid
from judge.analysis.agreement.correlation_grid import CEILING, CONTROL, Layout
from judge.analysis.correlation import Correlations
from judge.analysis.correlation.margins import of_panels, table_of
from judge.questions.charts import correlations
from judge.questions.charts.heatmap import heat_map
from judge.show.pages import charts
from judge.show.report.blocks import figure, folded, prose, shown
from judge.show.report.inputs import ReportInputs
from judge.show.report.sections import audit_words, label_words

_READ = (
    "Two reference values are given for every judge. The human ceiling is the agreement of one person with the mean "
    "of the others, and minus people compares the judge with the same means; the control"
)
_READ_LABELS = (
    "No person rated these stories, so there is no human ceiling: judges are compared with labels. One reference value "
    "is given for every judge: the control"
)
_READ_CONTROL = (
    " reads nothing but the surface of a text (length, repetition, vocabulary) and never saw the stories "
    "it is shown on. A judge below the control has not been shown to read the story."
)


def blocks(inputs: ReportInputs) -> list[Markup]:
    """Agreement over all stories, with a bar chart, and then over system means."""
    if not inputs.has_people:
        return [prose("No people's ratings of these stories are known, so agreement with people cannot be estimated.")]
    markup = [prose((_READ_LABELS if inputs.raters.labels_note else _READ) + _READ_CONTROL)]
    result = inputs.correlations
    grids = _layouts(inputs, result)
    for number, grid in enumerate(grids):
        raters = inputs.raters_of(grid.dataset)
        heat = heat_map(grid, raters)
        markup.append(figure(charts.heat_map(heat, f"heat-{number}"), heat.caption))
        if sum(row.kind not in (CEILING, CONTROL) for row in grid.rows) > 1 or len(grid.criteria) > 1:
            dots = correlations.forest(grid, raters)
            markup.append(figure(charts.forest(dots, f"dots-{number}"), dots.caption))
    markup += [shown(table, inputs, folded=True) for table in correlation_grid.tables(grids)]
    markup.append(shown(table_of(result, inputs.margins, of_panels(result)), inputs))
    for table in correlation.tables(result):
        markup.append(shown(table, inputs, folded=True, title=f"{table.title}, every row, with missing ratings"))
    if inputs.classes.rows:
        markup += [shown(table, inputs, folded=True) for table in classes.tables(inputs.classes)]
    return [*markup, *audit_words.blocks(inputs), *_over_systems(inputs), *label_words.blocks(inputs)]


def _layouts(inputs: ReportInputs, result: Correlations) -> list[Layout]:
    # The human ceiling is left out where no person rated the stories.
    return [
        replace(grid, rows=tuple(row for row in grid.rows if row.kind != CEILING))
        if inputs.raters_of(grid.dataset).labels_note
        else grid
        for grid in correlation_grid.layouts(result)
    ]


def _over_systems(inputs: ReportInputs) -> Iterator[Markup]:
    grids = _layouts(inputs, inputs.correlations_over_systems)
    parts = []
    for number, grid in enumerate(grids):
        heat = heat_map(grid, inputs.raters_of(grid.dataset))
        parts.append(figure(charts.heat_map(heat, f"heat-systems-{number}"), heat.caption))
    tables = [shown(table, inputs) for table in correlation_grid.tables(grids)]
    yield folded("Over system means", *parts, *tables)
