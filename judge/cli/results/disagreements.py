"""`judge disagreements`: stories where ratings differ most. The work is in `analysis.disagreements`."""

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
    "between": "sides whose ratings are compared",
    "top": "number of stories, each once; 0: all, with every judge, prompt and criterion",
}


@app.command()
@table_command(DisagreementsOptions, HELP, explanations=True, first_only=True)
def disagreements(
    table: RatingsTable,
    options: DisagreementsOptions,
    long: Annotated[bool, typer.Option("--long", help="one row a story, with all that was said of it")] = False,
    full_text: Annotated[bool, typer.Option("--full-text", help="on the screen too, texts whole")] = False,
    form: Form = "table",
) -> list[Table]:
    """Stories where judge and people, repeats, Eval-Prompts or judges differ most, with texts and explanations.

    The list, then each story with its texts, which the screen alone shortens.

    Example: judge disagreements runs/mans-roc --top 5 --eval-prompt ep3
    Example: judge disagreements runs/mans-roc --between eval-prompts --long --format json -o differ.json
    """
    from judge.analysis.disagreements import disagreements as analysis
    from judge.analysis.disagreements import tables

    return tables.tables(analysis.disagreements(table, options), long=long, full_text=full_text or form != "table")
