"""Command `judge grid`: correlations in the layout used in papers. Computed in
`analysis.agreement.correlation_grid`.
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
}


@app.command()
@table_command(CorrelationOptions, HELP, without=("given", "readings"))
def grid(table: RatingsTable, options: CorrelationOptions) -> list[Table]:
    """Correlations in the published layout: judge and Eval-Prompt down, criteria across, ceiling and control as rows.

    Where people belong to panels, each panel has its own rows.

    Example: judge grid runs/hanna --drop-system Human --format latex
    """
    from judge.analysis.agreement import correlation_grid
    from judge.analysis.correlation import correlations
    from judge.analysis.inputs.control import control_predictions

    return correlation_grid.tables(correlation_grid.layouts(correlations(table, options, control_predictions)))
