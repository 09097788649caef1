"""Command `judge disagreements`: lists the stories whose ratings differ most. The computation is in
`judge.analysis.disagreements`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import DisagreementsOptions
from judge.cli.table_command import table_command
from judge.cli.table_options import Form

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "between": "sides whose ratings are compared with each other",
    "top": "number of stories, each listed once; 0: all, for every judge, Eval-Prompt and criterion",
}


@app.command()
@table_command(DisagreementsOptions, HELP, explanations=True, first_only=True)
def disagreements(
    table: RatingsTable,
    options: DisagreementsOptions,
    long: Annotated[
        bool,
        typer.Option("--long", help="long layout: one row for each story, with all ratings and explanations of it"),
    ] = False,
    full_text: Annotated[bool, typer.Option("--full-text", help="whole texts, on the screen too")] = False,
    form: Form = "table",
) -> list[Table]:
    """List of stories where judge and people, repeats, Eval-Prompts or judges differ most, with explanations.

    The list comes first, then each story with its texts, which are shortened only on the screen.

    Example: judge disagreements runs/mans-roc --top 5 --eval-prompt ep3

    Example: judge disagreements runs/mans-roc --between eval-prompts --long --format json -o differ.json
    """
    from judge.analysis.disagreements import disagreements as analysis
    from judge.analysis.disagreements import tables

    return tables.tables(analysis.disagreements(table, options), long=long, full_text=full_text or form != "table")
