"""Command `judge aspects`: whether judges notice the aspects of a story that readers commented on. Computed in
`analysis.aspects`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge.analysis.options.table_options import AspectsOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command("aspects")
@table_command(AspectsOptions)
def aspects(table: RatingsTable, options: AspectsOptions) -> list[Table]:
    """Recall at 1, 3 and 5 of the aspects that readers commented on, and correlations with their ratings (StoryER).

    For runs on storyer_reasons with the criteria sets storyer_salience (which aspects stand out) and storyer (how good
    each aspect is). Baselines beside them name the same aspects for every story.

    Example: judge aspects runs/storyer-reasons
    """
    from judge.analysis.aspects import printed
    from judge.analysis.aspects.compute import aspects as aspects_of

    return printed.tables(aspects_of(table, options))
