"""`judge diagnose`: known ways in which judges go wrong, as tests. The work is in `analysis.diagnose`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import DiagnoseOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "own": "system that is the judge's own (default: by name); may be given several times",
    "alpha": "level of each test",
}


@app.command()
@table_command(DiagnoseOptions, HELP)
def diagnose(
    table: RatingsTable,
    options: DiagnoseOptions,
    full: Annotated[bool, typer.Option("--full", help="every test, also those that found nothing")] = False,
) -> list[Table]:
    """Leniency, length bias, compression, a stuck rating, halo, self-preference, loss that depends on quality.

    Each is a test against people's ratings of the same stories, with its effect and what it could have missed.

    Example: judge diagnose runs/hanna --drop-system Human --own Beluga-13b
    """
    from judge.analysis import diagnose as analysis

    return analysis.tables(analysis.diagnose(table, options), full=full)
