"""Command `judge drift`: agreement with human ratings for each system and dataset. Computed in
`analysis.agreement.drift`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge.analysis.options.agreement_options import DriftOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command()
@table_command(DriftOptions, without=("window", "stride", "ci", "resamples", "seed"))
def drift(table: RatingsTable, options: DriftOptions) -> list[Table]:
    """Agreement with people for every system and dataset, with a test of homogeneity.

    Example: judge drift runs/hanna
    """
    from judge.analysis.agreement import drift as analysis
    from judge.analysis.agreement import drift_tables
    from judge.analysis.inputs.control import Control

    return drift_tables.tables(analysis.drift(table, options, predict=Control()))
