"""Command `judge repeats`: how many repeats are needed, and how to combine them into one rating. The computation is in
`judge.analysis.repeats`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge.analysis.options.table_options import RepeatsOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


def _stated(table: RatingsTable, _options: RepeatsOptions, _runs: list[str], parser: str) -> RatingsTable:
    """The ratings table. For runs whose ratings are computed from log-probabilities, the ratings that the answers state
    as text are added to it.
    """
    from judge.analysis.repeats import with_stated

    return with_stated(table, parser)


@app.command()
@table_command(RepeatsOptions, first_only=True, prepare=_stated)
def repeats(table: RatingsTable, options: RepeatsOptions) -> list[Table]:
    """Number of repeats a judge needs, and ways to combine them: mean, median, mode, log-probabilities.

    Also by how far people disagree on a story, and how far ratings are distributed otherwise than people's.

    Example: judge repeats runs/hanna --criterion Coherence
    """
    from judge.analysis import repeats as of_repeats

    return of_repeats.tables(of_repeats.repeats(table, options))
