"""Command `judge labels`: how well judges' ratings separate labelled stories from other stories. Computed in
`analysis.agreement.binary_labels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge.analysis.options.agreement_options import LabelOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "labels": "rule that gives a story label 1: a criterion of two values, or 'Overall > 4'",
    "errors": "rule of an error type, compared with the labelled stories; may be given several times",
    "equivalence": "largest difference in rating points that counts as equivalent (two one-sided tests)",
}


def _criteria(options: LabelOptions) -> list[str | None]:
    from judge.analysis.agreement.label_rules import criterion_of

    return [criterion_of(rule) for rule in (options.labels, *options.errors)]


@app.command()
@table_command(LabelOptions, HELP, people=_criteria)
def labels(table: RatingsTable, options: LabelOptions) -> list[Table]:
    """Separation of labelled stories from others by ratings: point-biserial r, area under the ROC curve, win rate.

    Example: judge labels runs/hanna --labels 'Engagement > 3'
    """
    from judge.analysis.agreement import labels_tables
    from judge.analysis.agreement.binary_labels import discrimination
    from judge.analysis.inputs.control import Control

    return labels_tables.tables(discrimination(table, options, predict=Control()))
