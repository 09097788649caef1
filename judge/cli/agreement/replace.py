"""Command `judge replace`: tests whether a judge may replace a human annotator. The computation is in
`judge.analysis.agreement.replacement`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge.analysis.options.agreement_options import ReplacementOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "epsilon": "advantage granted to a judge because it is cheaper, as a share of stories",
    "measure": "distance between one rating and the others; auto: exact for labels, rmse for numbers",
    "positions": "columns of unidentified raters, each taken for one person",
    "rated": "number of stories of each system that keep their human ratings; the others' are hidden",
    "resamples": "number of resamples for the comparison with uninformed judges",
    "seed": "seed of the resamples, and of the draw of hidden ratings",
}


@app.command()
@table_command(ReplacementOptions, HELP)
def replace(table: RatingsTable, options: ReplacementOptions) -> list[Table]:
    """Test whether a judge may replace an annotator (alternative annotator test); prediction-powered system means.

    Example: judge replace runs/hanna --epsilon 0.2
    """
    from judge.analysis.agreement import replacement, replacement_tables

    return replacement_tables.tables(replacement.replacement(table, options))
