"""Command `judge consistency`: agreement of a judge's repeats with each other. The computation is in
`judge.analysis.reliability.consistency`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import ConsistencyOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command()
@table_command(ConsistencyOptions, {"engine": "program that computes the ICC; pingouin prints its own table"})
def consistency(
    table: RatingsTable,
    options: ConsistencyOptions,
    full: Annotated[bool, typer.Option("--full", help="one row a form, with F, degrees of freedom and p")] = False,
) -> list[Table]:
    """Agreement of a judge with itself over repeats: ICC, exact agreement, flip rate; people's for comparison.

    Example: judge consistency runs/mans-roc --full --format csv -o icc.csv
    """
    from judge.analysis.reliability import consistency_tables
    from judge.analysis.reliability.consistency import consistency as consistency_of

    return consistency_tables.tables(consistency_of(table, options), full=full)
