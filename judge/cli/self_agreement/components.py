"""Command `judge components`: variance components of ratings. The computation is in
`judge.analysis.reliability.variance_components`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import ComponentsOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {"target": "reliability to plan for", "seed": "seed of the intervals"}


@app.command()
@table_command(ComponentsOptions, HELP)
def components(
    table: RatingsTable,
    options: ComponentsOptions,
    full: Annotated[bool, typer.Option("--full", help="every component of every criterion")] = False,
) -> list[Table]:
    """Variance components of ratings, and how many repeats, judges and Eval-Prompts a reliability takes.

    Example: judge components runs/hanna --target 0.9
    """
    from judge.analysis.reliability import components_tables
    from judge.analysis.reliability.variance_components import components as components_of

    return components_tables.tables(components_of(table, options), full=full)
