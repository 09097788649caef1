"""`judge figure`: pictures of results. The numbers come from `analysis`, the drawing from `figures`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from judge.cli.show.figure_explanations import audit, explanations
from judge.cli.show.figure_input import checked, layout, only, ratings, who_rated
from judge.cli.table_options import (
    Against,
    Criteria,
    DropSystem,
    EvalPrompts,
    Judges,
    ParserName,
    Picture,
    Resamples,
    Runs,
    Seed,
    Width,
)

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

Coefficient = Annotated[str, typer.Option("--coefficient", help="kendall, spearman or pearson")]
Level = Annotated[str, typer.Option("--level", help="overall, system, by-item or by-system")]
ControlRow = Annotated[bool, typer.Option("--control/--no-control", help="the control judge beside the judges")]


@app.callback()
def _group() -> None:
    """Pictures of results, at the size of a column or a page; needs the extra `report`."""


@app.command()
def heatmap(
    runs: Runs,
    output: Picture,
    coefficient: Coefficient = "kendall",
    level: Level = "overall",
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    control: ControlRow = True,
    width: Annotated[
        str | None, typer.Option("--width", help="column (3.03 in) or page (6.3 in); else as wide as it needs to be")
    ] = None,
    parser: ParserName = "ours",
) -> None:
    """Correlations with people as a heat map: judges and Eval-Prompts by criterion, human ceiling and control as rows.

    The same numbers with intervals, as a table: judge grid. Needs the extra `report`.

    Example: judge figure heatmap runs/hanna --drop-system Human -o heatmap.pdf
    """
    from judge.charts.heatmap import heat_map
    from judge.figures import heatmap as figure
    from judge.figures import page

    inches = checked(output, width)
    words: dict[str, Any] = {
        "coefficient": coefficient,
        "level": level,
        "drop_systems": tuple(drop_system or ()),
        "against": against,
    }
    words |= {"resamples": resamples, "seed": seed, "control": control}
    table = ratings(runs, parser, criterion, judge, eval_prompt)
    found = layout(table, words)
    page.write(figure.draw(heat_map(found, who_rated(table, found.dataset)), inches), output)
    typer.echo(f"{output}: {found.statistic}, {found.where}, {found.size}")


@app.command()
def correlations(
    runs: Runs,
    output: Picture,
    coefficient: Coefficient = "kendall",
    level: Level = "overall",
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    control: ControlRow = True,
    width: Width = "page",
    parser: ParserName = "ours",
) -> None:
    """Correlations with people as dots with intervals; human ceiling and control behind them.

    Example: judge figure correlations runs/hanna --drop-system Human --width column -o tau.pdf
    """
    from judge.charts import correlations as chart
    from judge.figures import forest, page

    inches = checked(output, width)
    words: dict[str, Any] = {
        "coefficient": coefficient,
        "level": level,
        "drop_systems": tuple(drop_system or ()),
        "against": against,
    }
    words |= {"resamples": resamples, "seed": seed, "control": control}
    table = ratings(runs, parser, criterion, judge, eval_prompt)
    found = layout(table, words)
    made = chart.forest(found, who_rated(table, found.dataset))
    page.write(forest.draw(made, inches or page.WIDTHS["page"]), output)
    typer.echo(f"{output}: {found.statistic}, {found.where}, {found.size}")


@app.command()
def consistency(
    runs: Runs,
    output: Picture,
    form: Annotated[
        str, typer.Option("--form", help="ICC(1,1), ICC(1,k), ICC(2,1), ICC(2,k), ICC(3,1) or ICC(3,k)")
    ] = "ICC(1,1)",
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    width: Width = "page",
    parser: ParserName = "ours",
) -> None:
    """Agreement of judges with themselves over repeats (ICC) as dots with intervals, people's with each other behind.

    Example: judge figure consistency runs/hanna --form "ICC(2,k)" -o icc.pdf
    """
    from judge.analysis.options.signature import abbreviations, signature
    from judge.analysis.options.table_options import ConsistencyOptions
    from judge.analysis.reliability.consistency import consistency as consistency_of
    from judge.charts import consistency as chart
    from judge.errors import SpecError, unknown
    from judge.figures import forest, page
    from judge.rating_matrix import build
    from judge.stats.agreement.icc import FORMS

    inches = checked(output, width)
    if form not in FORMS:
        raise SpecError(unknown("--form", form, FORMS))
    options = ConsistencyOptions(tuple(drop_system or ()))
    table = ratings(runs, parser, criterion, judge, eval_prompt)
    matrix = only(build(table, drop_systems=options.drop_systems), "consistency")
    made = chart.forest(
        consistency_of(table, options),
        form,
        dataset=matrix.dataset,
        short=abbreviations(table),
        controls={fact.judge for fact in table.facts if fact.control},
        signature=signature(table, [matrix], options, extra=(f"icc:{form}",), intervals="f"),
        raters=who_rated(table, matrix.dataset),
    )
    page.write(forest.draw(made, inches or page.WIDTHS["page"]), output)
    typer.echo(f"{output}: {form}, {len(made.lines)} rows, {matrix.n} stories")


@app.command()
def distributions(
    runs: Runs,
    output: Picture,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    width: Width = "page",
    parser: ParserName = "ours",
) -> None:
    """How often each rating was given, in per cent: people and every judge x Eval-Prompt by criterion.

    Example: judge figure distributions runs/hanna --judge openai/gpt-4o-mini -o ratings.pdf
    """
    from judge.analysis import distributions as analysis
    from judge.analysis.options.table_options import DistributionOptions
    from judge.charts import distributions as chart
    from judge.figures import distributions as figure
    from judge.figures import page

    inches = checked(output, width)
    table = ratings(runs, parser, criterion, judge, eval_prompt)
    options = DistributionOptions(tuple(drop_system or ()))
    found = only(analysis.distributions(table, options), "distributions")
    made = chart.distributions(found, who_rated(table, found.dataset))
    page.write(figure.draw(made, inches or page.WIDTHS["page"]), output)
    typer.echo(f"{output}: {len(found.rows)} rows, {sum(one.n for row in found.rows for one in row)} ratings")


app.command()(explanations)
app.command()(audit)


@app.command()
def calibration(
    runs: Runs,
    output: Picture,
    calibrate: Annotated[str, typer.Option("--calibrate", help="linear, isotonic or ordinal")] = "isotonic",
    bins: Annotated[int, typer.Option("--bins", min=2, max=20, help="bins of equally many stories, at most")] = 10,
    folds: Annotated[int, typer.Option("--folds", help="folds of story-prompts")] = 5,
    foldings: Annotated[int, typer.Option("--foldings", help="how often folds are dealt")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="seed of the first folding")] = 1,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    width: Width = "page",
    parser: ParserName = "ours",
) -> None:
    """Reliability: people's mean of stories that a judge rated alike, before and after out-of-fold calibration.

    Example: judge figure calibration runs/hanna --eval-prompt ep1 -o calibration.pdf
    """
    from judge.analysis.jury import reliability_curve as analysis
    from judge.analysis.options.table_options import JuryOptions, from_words
    from judge.errors import SpecError
    from judge.figures import calibration as figure
    from judge.figures import page

    inches = checked(output, width)
    if calibrate == "none":
        raise SpecError("--calibrate none leaves nothing to compare; allowed: linear, isotonic, ordinal")
    options = from_words(
        JuryOptions,
        calibrate=calibrate,
        folds=folds,
        foldings=foldings,
        seed=seed,
        drop_systems=tuple(drop_system or ()),
    )
    table = ratings(runs, parser, criterion, judge, eval_prompt)
    cells = table.frame.loc[table.frame["source"] == "judge", ["run", "judge", "eval_prompt", "criterion"]]
    figure.check(len(cells.drop_duplicates()))
    found = only(analysis.curves(table, options, bins=bins), "calibration")
    page.write(figure.draw(found, inches or page.WIDTHS["page"], who_rated(table, found.dataset).sentence), output)
    typer.echo(f"{output}: {len(found.curves)} curves, {calibrate}")


@app.command()
def systems(
    runs: Runs,
    output: Picture,
    interval: Annotated[
        str, typer.Option("--interval", help="of means: clustered, as-published or boot")
    ] = "clustered",
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    width: Width = "page",
    parser: ParserName = "ours",
) -> None:
    """Systems' mean ratings by people and judges as dots with intervals.

    Example: judge figure systems runs/hanna --eval-prompt ep1 -o systems.pdf
    """
    from judge.analysis.options.signature import abbreviations
    from judge.analysis.options.table_options import SystemsOptions, from_words
    from judge.analysis.systems.systems import systems as systems_of
    from judge.charts import systems as chart
    from judge.figures import forest, page

    inches = checked(output, width)
    words: dict[str, Any] = {
        "mean_interval": interval,
        "resamples": resamples,
        "seed": seed,
        "drop_systems": tuple(drop_system or ()),
    }
    options = from_words(SystemsOptions, **words)
    table = ratings(runs, parser, criterion, judge, eval_prompt)
    found = systems_of(table, options)
    matrix = only(found.matrices, "systems")
    made = chart.forest(
        found.standings,
        dataset=matrix.dataset,
        short=abbreviations(table),
        controls={fact.judge for fact in table.facts if fact.control},
        interval=options.mean_interval,
        signature=found.signature,
        raters=who_rated(table, matrix.dataset),
    )
    page.write(forest.draw(made, inches or page.WIDTHS["page"]), output)
    typer.echo(f"{output}: {len(made.lines)} systems, {len(made.series)} who rated")
