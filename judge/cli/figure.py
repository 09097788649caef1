"""`judge figure`: pictures of results. The numbers come from `analysis`, the drawing from `figures`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.table_options import Against, DropSystem, ParserName, Runs

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Pictures of results."""


@app.command()
def heatmap(
    runs: Runs,
    output: Annotated[Path, typer.Option("-o", "--output", help="the picture: .png, .svg or .pdf")],
    coefficient: Annotated[str, typer.Option("--coefficient", help="kendall, spearman or pearson")] = "kendall",
    level: Annotated[str, typer.Option("--level", help="overall, system, by-item or by-system")] = "overall",
    drop_system: DropSystem = None,
    against: Against = None,
    resamples: Annotated[int, typer.Option("--resamples", help="number of resamples for intervals")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="seed of the resamples")] = 1,
    control: Annotated[bool, typer.Option("--control/--no-control", help="the control judge's row")] = True,
    parser: ParserName = "ours",
) -> None:
    """Correlations with people as a heat map: judges and Eval-Prompts by criterion, human ceiling and control as rows.

    The same numbers with intervals, as a table: judge compare --heatmap. Needs the extra `report`.

    Example: judge figure heatmap runs/hanna --drop-system Human -o heatmap.pdf
    """
    from judge.analysis import layout
    from judge.analysis.control import control_predictions
    from judge.analysis.options import CorrelationOptions, from_words
    from judge.errors import SpecError
    from judge.figures import heatmap as figure
    from judge.figures import page
    from judge.ratings_table import read

    page.check_suffix(output)
    options = from_words(
        CorrelationOptions,
        coefficient=coefficient,
        level=level,
        drop_systems=tuple(drop_system or ()),
        against=against,
        resamples=resamples,
        seed=seed,
        control=control,
    )
    found = layout.layouts(read(runs, parser=parser), options, predict=control_predictions)
    if len(found) != 1:
        names = ", ".join(one.dataset for one in found) or "none"
        raise SpecError(f"a heat map shows one dataset; these runs have {names}", hint="draw a figure for each")
    page.write(figure.draw(found[0]), output)
    typer.echo(f"{output}: {found[0].statistic}, {found[0].where}, {found[0].size}")
