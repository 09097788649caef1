"""Command `judge confusion`: judges' labels compared with human labels. Computed in `analysis.labels`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge.analysis.options.agreement_options import ConfusionOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command()
@table_command(ConfusionOptions)
def confusion(table: RatingsTable, options: ConfusionOptions) -> list[Table]:
    """Agreement of labels with people's: accuracy, F1, kappa, confusion matrices, with one person and chance beside.

    Example: judge confusion runs/ttcw --resamples 2000
    """
    from judge.analysis import labels

    return labels.tables(labels.confusions(table, options))
