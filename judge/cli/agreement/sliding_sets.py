"""Command `judge sliding-sets`: agreement of judges with human ratings on sets of stories of increasing quality. The
computation is in `judge.analysis.agreement.sliding_sets`.
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

HELP = {"window": "number of stories in a set", "stride": "number of stories between the beginnings of two sets"}


@app.command("sliding-sets")
@table_command(DriftOptions, HELP)
def sliding_sets(table: RatingsTable, options: DriftOptions) -> list[Table]:
    """Correlation of differences between sliding sets of stories (OpenMEVA), as published and with valid intervals.

    Example: judge sliding-sets runs/mans-roc --window 100
    """
    from judge.analysis.agreement import sliding_sets as analysis
    from judge.analysis.agreement import sliding_sets_tables
    from judge.analysis.inputs.control import Control

    return sliding_sets_tables.tables(analysis.sets(table, options, predict=Control()))
