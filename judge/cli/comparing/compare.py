"""Command `judge compare`: compares Eval-Prompts, judges or runs with each other. The computation is in
`judge.analysis.comparison`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import CompareOptions
from judge.cli.table_command import table_command

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "by": "factor whose values are compared",
    "baseline": "value that every other is compared with; default: all pairs",
    "level": "level of Kendall's tau with people: all stories, or system means",
    "adjust": "correction of p values for the number of tests in the family",
    "family": "description of the family of tests, which is printed",
    "swap": "unit that a permutation test swaps; auto: systems at system level, else story-prompts",
    "permutations": "number of permutations of a permutation test",
    "seed": "seed of resamples and permutations",
}


def _both_parsers(table: RatingsTable, options: CompareOptions, runs: list[str], parser: str) -> RatingsTable:
    """The ratings table `table`. If `options.by` is `parser`, the ratings that the HANNA study's published parser reads
    in the same answers are added to it; `parser` must then be `ours` (else SpecError).
    """
    from judge.analysis.comparison.comparison import both_parsers
    from judge.errors import SpecError
    from judge.ratings_table import read

    if options.by != "parser":
        return table
    if parser != "ours":
        raise SpecError("--by parser compares ours with as-published", hint="leave --parser out")
    return both_parsers(table, read(runs, parser="as-published"))


@app.command()
@table_command(CompareOptions, HELP, explanations=True, prepare=_both_parsers)
def compare(
    table: RatingsTable,
    options: CompareOptions,
    pairs: Annotated[
        bool | None,
        typer.Option("--pairs/--no-pairs", help="tables of every pair; default: for up to 6 pairs"),
    ] = None,
) -> list[Table]:
    """Paired comparisons of Eval-Prompts, judges, structured modes, parsers or runs on the same stories and repeats.

    Differences of ratings, of parsed and explained shares, of consistency and of tau with people, each with an
    interval; permutation and Williams' tests as one adjusted family; one sentence for each comparison. For three
    variants or more, first the best and those not significantly different from it.

    Example: judge compare runs/hanna --by eval_prompt --baseline ep1 --drop-system Human
    """
    from judge.analysis.comparison import tables
    from judge.analysis.comparison.comparison import compared

    return tables.tables(compared(table, options), pairs=pairs)
