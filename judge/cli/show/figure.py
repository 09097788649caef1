"""Command `judge figure`: figures of results. The computation is in `judge.analysis`, the drawing in
`judge.figures`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.analysis.options.agreement_options import ConfusionOptions
from judge.analysis.options.table_options import (
    ConsistencyOptions,
    CorrelationOptions,
    DistributionOptions,
    ReliabilityOptions,
    StressOptions,
    SystemsOptions,
)
from judge.cli.show.figure_command import figure_command
from judge.cli.show.figure_explanations import audit, explanations
from judge.cli.show.figure_input import layout, only, who_rated
from judge.cli.show.figure_preferences import strengths, wins

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

Made = tuple[Any, str]
"""A figure, and what there is in it in words."""

_CORRELATIONS = {
    "coefficient": "correlation coefficient",
    "level": "unit of correlation: all stories, system means, or stories within a story-prompt or system",
    "ci": "units that are resampled for confidence intervals",
    "control": "control judge, drawn beside the judges",
}
_STRESS = {"control": "control judge, drawn beside the judges"}
_CALIBRATION = {
    "calibrate": "method of calibration",
    "bins": "largest number of bins, which hold equally many stories",
    "folds": "number of folds of story-prompts",
    "foldings": "number of random foldings",
    "seed": "seed of the first folding",
}


@app.callback()
def _group() -> None:
    """Pictures of results, at the size of a column or a page; needs the extra `report`."""


@app.command()
@figure_command(CorrelationOptions, _CORRELATIONS, without=("ci", "given", "interval_kind", "readings"), width=None)
def heatmap(table: RatingsTable, options: CorrelationOptions, inches: float | None) -> Made:
    """Correlations with people as a heat map: judges and Eval-Prompts by criterion, human ceiling and control as rows.

    The same numbers with intervals, as a table: judge grid. Needs the extra `report`.

    Example: judge figure heatmap runs/hanna --drop-system Human -o heatmap.pdf
    """
    from judge.charts.heatmap import heat_map
    from judge.figures import heatmap as figure

    layouts = layout(table, options)
    picture = figure.draw(heat_map(layouts, who_rated(table, layouts.dataset)), inches)
    return picture, f"{layouts.statistic}, {layouts.where}, {layouts.size}"


@app.command()
@figure_command(CorrelationOptions, _CORRELATIONS, without=("ci", "given", "interval_kind", "readings"))
def correlations(table: RatingsTable, options: CorrelationOptions, inches: float) -> Made:
    """Correlations with people as dots with intervals; human ceiling and control behind them.

    Example: judge figure correlations runs/hanna --drop-system Human --width column -o tau.pdf
    """
    from judge.charts import correlations as chart
    from judge.figures import forest

    layouts = layout(table, options)
    drawing = chart.forest(layouts, who_rated(table, layouts.dataset))
    return forest.draw(drawing, inches), f"{layouts.statistic}, {layouts.where}, {layouts.size}"


@app.command()
@figure_command(ConsistencyOptions, without=("engine",))
def consistency(
    table: RatingsTable,
    options: ConsistencyOptions,
    inches: float,
    *,
    form: Annotated[
        str,
        typer.Option(
            "--form", help="form of the coefficient: ICC(1,1), ICC(1,k), ICC(2,1), ICC(2,k), ICC(3,1) or ICC(3,k)"
        ),
    ] = "ICC(1,1)",
) -> Made:
    """Agreement of judges with themselves over repeats (ICC) as dots with intervals, people's with each other behind.

    Example: judge figure consistency runs/hanna --form "ICC(2,k)" -o icc.pdf
    """
    from judge.analysis.inputs.label_criteria import numbers
    from judge.analysis.options.signature import abbreviations, signature
    from judge.analysis.reliability.consistency import consistency as consistency_of
    from judge.charts import consistency as chart
    from judge.errors import SpecError, unknown
    from judge.figures import forest
    from judge.rating_matrix import build
    from judge.stats.agreement.icc import FORMS

    if form not in FORMS:
        raise SpecError(unknown("--form", form, FORMS))
    table = numbers(table)
    matrix = only(build(table, drop_systems=options.drop_systems), "consistency")
    drawing = chart.forest(
        consistency_of(table, options),
        form,
        dataset=matrix.dataset,
        short=abbreviations(table),
        controls={fact.judge for fact in table.facts if fact.control},
        signature=signature(table, [matrix], options, extra=(f"icc:{form}",), intervals="f"),
        raters=who_rated(table, matrix.dataset),
    )
    return forest.draw(drawing, inches), f"{form}, {len(drawing.lines)} rows, {matrix.n} stories"


@app.command()
@figure_command(DistributionOptions)
def distributions(table: RatingsTable, options: DistributionOptions, inches: float) -> Made:
    """Distribution of ratings in per cent, for people and every judge x Eval-Prompt by criterion.

    Example: judge figure distributions runs/hanna --judge openai/gpt-4o-mini -o ratings.pdf
    """
    from judge.analysis import distributions as analysis
    from judge.charts import distributions as chart
    from judge.figures import distributions as figure

    chart_values = only(analysis.distributions(table, options), "distributions")
    drawing = chart.distributions(chart_values, who_rated(table, chart_values.dataset))
    return figure.draw(
        drawing, inches
    ), f"{len(chart_values.rows)} rows, {sum(cell.n for row in chart_values.rows for cell in row)} ratings"


@app.command()
@figure_command(ConfusionOptions, without=("ci", "resamples", "seed"), width=None)
def confusion(table: RatingsTable, options: ConfusionOptions, inches: float | None) -> Made:
    """Confusion matrices of labels as a heat map: one criterion's, or all binary criteria together.

    The same numbers as tables: judge confusion. Needs the extra `report`.

    Example: judge figure confusion runs/ttcw -o confusion.pdf
    """
    from dataclasses import replace

    from judge.analysis import labels
    from judge.analysis.inputs.bars import CONTROL
    from judge.charts import confusion as chart
    from judge.errors import SpecError
    from judge.figures import heatmap as figure

    confusions = labels.confusions(table, replace(options, ci="none"))
    dataset = only(list(dict.fromkeys(row.subject.dataset for row in confusions.rows)), "confusion")
    rows = [row for row in confusions.main(dataset) if row.kind != CONTROL and row.counts]
    if not rows:
        raise SpecError("people labelled none of these criteria")
    picture = figure.draw(chart.confusion(confusions, rows, dataset, who_rated(table, dataset)), inches)
    return picture, f"{len(rows)} confusion matrices, {dataset}"


@app.command()
@figure_command(StressOptions, _STRESS, without=("as_published", "margin", "alpha", "adjust"), perturbed=True)
def stress(table: RatingsTable, options: StressOptions, inches: float) -> Made:
    """Detection of perturbations by judges as dots with intervals, repeats of unchanged stories behind.

    Example: judge figure stress runs/stress --criterion Coherence -o stress.pdf
    """
    from judge.analysis.stress.compute import stress as stress_of
    from judge.charts import stress as chart
    from judge.figures import forest

    effects = stress_of(table, options)
    dataset = only(list(dict.fromkeys(row.subject.dataset for row in effects.rows)), "stress")
    drawing = chart.forest(effects, dataset, signature=effects.signature)
    return forest.draw(drawing, inches), f"{len(drawing.lines)} perturbations, {len(drawing.series)} who rated"


app.command()(explanations)
app.command()(audit)
app.command()(wins)
app.command()(strengths)


@app.command()
@figure_command(ReliabilityOptions, _CALIBRATION)
def calibration(table: RatingsTable, options: ReliabilityOptions, inches: float) -> Made:
    """Calibration curve: people's mean rating against a judge's, before and after out-of-fold calibration.

    Example: judge figure calibration runs/hanna --eval-prompt ep1 -o calibration.pdf
    """
    from judge.analysis.jury import reliability_curve as analysis
    from judge.figures import calibration as figure

    cells = table.frame.loc[table.frame["source"] == "judge", ["run", "judge", "eval_prompt", "criterion"]]
    figure.check(len(cells.drop_duplicates()))
    curves = only(analysis.curves(table, options), "calibration")
    picture = figure.draw(curves, inches, who_rated(table, curves.dataset).sentence)
    return picture, f"{len(curves.curves)} curves, {options.calibrate}"


@app.command()
@figure_command(SystemsOptions, {"mean_interval": "interval of means"}, without=("holm_over",))
def systems(table: RatingsTable, options: SystemsOptions, inches: float) -> Made:
    """Systems' mean ratings by people and judges as dots with intervals.

    Example: judge figure systems runs/hanna --eval-prompt ep1 -o systems.pdf
    """
    from judge.analysis.options.signature import abbreviations
    from judge.analysis.systems.systems import systems as systems_of
    from judge.charts import systems as chart
    from judge.figures import forest

    standings = systems_of(table, options)
    matrix = only(standings.matrices, "systems")
    drawing = chart.forest(
        standings.standings,
        dataset=matrix.dataset,
        short=abbreviations(table),
        controls={fact.judge for fact in table.facts if fact.control},
        interval=options.mean_interval,
        signature=standings.signature,
        raters=who_rated(table, matrix.dataset),
    )
    return forest.draw(drawing, inches), f"{len(drawing.lines)} systems, {len(drawing.series)} who rated"
