"""Command `judge correlate`: correlations of judges with human ratings. Computed in `analysis.correlation`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import CorrelationOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "coefficient": "correlation coefficient",
    "level": "unit of correlation: all stories, system means, or stories within a story-prompt or system",
    "interval_kind": "kind of bootstrap interval",
    "given": "third variable of an additional partial correlation: length, another feature, or none",
    "readings": "judge's ratings compared with one person's: the mean of its repeats, or each single repeat",
}


@app.command()
@table_command(CorrelationOptions, HELP)
def correlate(
    table: RatingsTable,
    options: CorrelationOptions,
    within: Annotated[
        bool, typer.Option("--within", help="additional correlations within classes: author, system, dataset")
    ] = False,
) -> list[Table]:
    """Correlations with people's ratings, with intervals, human ceiling and the control judge's row.

    A note warns where a pooled correlation hides other correlations within human and generated stories, or within
    systems. Where people belong to panels, each panel has its own rows.

    Example: judge correlate runs/hanna --level system --drop-system Human --ci boot-both
    """
    from judge.analysis import classes, correlation
    from judge.analysis.inputs.control import Control

    correlations = correlation.correlations(table, options, Control())
    return classes.beside(correlation.tables(correlations), classes.classes(correlations), full=within)
