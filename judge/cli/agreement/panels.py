"""Command `judge panels`: agreement within and between panels of human raters, and of judges with each panel. The
computation is in `judge.analysis.panels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge.analysis.options.table_options import CorrelationOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {"coefficient": "correlation coefficient"}
_WITHOUT = ("level", "control", "given", "interval_kind", "readings")


@app.command()
@table_command(CorrelationOptions, HELP, without=_WITHOUT, first_only=True)
def panels(table: RatingsTable, options: CorrelationOptions) -> list[Table]:
    """Agreement within and between panels of people (expert, lay, crowd), and of judges with each panel.

    Example: judge panels runs/tales --ci boot-inputs --resamples 2000
    """
    from judge.analysis import panels as of_people

    return of_people.tables(of_people.panels(table, options))
