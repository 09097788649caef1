"""Command `judge systems`: mean ratings of the systems that wrote the stories. The computation is in
`judge.analysis.systems`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judge.analysis.options.table_options import SystemsOptions
from judge.cli.table_command import table_command
from judge.cli.table_options import Long

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "mean_interval": "kind of interval of means",
    "holm_over": "tests that p is adjusted for: the pairs of a cell (judge and criterion), or of the table",
    "resamples": "number of resamples for ranks",
}


@app.command()
@table_command(SystemsOptions, HELP)
def systems(
    table: RatingsTable,
    options: SystemsOptions,
    by: Annotated[
        Literal["auto", "judge", "criterion"],
        typer.Option(
            "--by", help="layout: one table for each judge (criteria as columns) or each criterion (judges as columns)"
        ),
    ] = "auto",
    rank: Annotated[bool, typer.Option("--rank", help="table of ranks with intervals, in place of means")] = False,
    differences: Annotated[
        bool,
        typer.Option(
            "--differences", help="table of all pairs of systems on the same story-prompts, with adjusted p (Holm)"
        ),
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="full tables: every judge, Eval-Prompt and criterion")] = False,
    long: Long = False,
) -> list[Table]:
    """Mean rating of each system by people and judges, ranks, and which systems do not differ significantly.

    Example: judge systems runs/mans-roc --rank --eval-prompt ep1
    """
    from judge.analysis.systems import tables
    from judge.analysis.systems.systems import systems as systems_of

    standings = systems_of(table, options)
    return tables.tables(standings, by=by, rank=rank, differences=differences, full=full, long=long)
