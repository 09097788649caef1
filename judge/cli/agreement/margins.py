"""Command `judge margins`: difference between each judge's agreement and that of one rater and of the control. Computed
in `analysis.correlation.margins`.
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

HELP = {
    "coefficient": "correlation coefficient",
    "level": "unit of correlation: all stories, system means, or stories within a story-prompt or system",
    "interval_kind": "kind of bootstrap interval",
    "readings": "judge's ratings compared with one person's: the mean of its repeats, or each single repeat",
}


@app.command()
@table_command(CorrelationOptions, HELP, without=("given",))
def margins(table: RatingsTable, options: CorrelationOptions) -> list[Table]:
    """Difference between each judge's agreement with people and that of one person and the control, with intervals.

    Where people belong to panels, each panel has its own rows.

    Example: judge margins runs/hanna --drop-system Human
    """
    from judge.analysis.correlation import correlations
    from judge.analysis.correlation import margins as analysis
    from judge.analysis.correlation.margins_table import table_of
    from judge.analysis.inputs.control import Control

    result = correlations(table, options, Control(), paired=True)
    return [table_of(result, analysis.margins(result), analysis.of_panels(result))]
