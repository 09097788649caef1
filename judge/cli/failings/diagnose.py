"""Command `judge diagnose`: tests judges for known biases, such as leniency and length bias. The computation is in
`judge.analysis.diagnose`.
"""

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
    "own": "system that is the judge's own model (default: by name); may be given several times",
    "no_own": "statement that no system is the judge's own model, so that self-preference is not tested",
    "alpha": "significance level of each test",
}


@app.command()
@table_command(DiagnoseOptions, HELP)
def diagnose(
    table: RatingsTable,
    options: DiagnoseOptions,
    full: Annotated[bool, typer.Option("--full", help="full table: every test, also those without an effect")] = False,
) -> list[Table]:
    """Tests of leniency, length bias, compression, constant ratings, halo, self-preference, loss, reversed raters.

    Each is a test against people's ratings of the same stories, with its effect size and the smallest detectable
    effect.

    Example: judge diagnose runs/hanna --drop-system Human --own Beluga-13b
    """
    from judge.analysis import diagnose as analysis

    return analysis.tables(analysis.diagnose(table, options), full=full)
