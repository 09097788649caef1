"""Command `judge accuracy`: how often judges order two stories as human raters do. Computed in
`analysis.agreement.accuracy`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge.analysis.options.agreement_options import AccuracyOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "level": "pairs that are counted: of all stories, or of stories of one story-prompt",
    "folds": "number of folds of story-prompts in which the width of ties is fitted",
    "flips": "number of permutations for soft pairwise accuracy",
}


@app.command()
@table_command(AccuracyOptions, HELP)
def accuracy(table: RatingsTable, options: AccuracyOptions) -> list[Table]:
    """Pairwise accuracy, accuracy with calibrated ties (acc_eq), and soft pairwise accuracy of systems.

    Example: judge accuracy runs/hanna --drop-system Human
    """
    from judge.analysis.agreement import accuracy as analysis
    from judge.analysis.agreement import accuracy_tables
    from judge.analysis.inputs.control import Control

    return accuracy_tables.tables(analysis.accuracies(table, options, predict=Control()))
