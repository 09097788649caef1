"""`judge compare`: Eval-Prompts, judges or runs against each other. The work is in `analysis.comparison.comparison`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.table_options import (
    Against,
    Criteria,
    DropSystem,
    EvalPrompts,
    Form,
    Judges,
    Output,
    ParserName,
    Resamples,
    Runs,
)

if TYPE_CHECKING:
    from judge.analysis.options.table_options import CompareOptions
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_Baseline = Annotated[
    str | None, typer.Option("--baseline", metavar="NAME", help="compare each with this one; without it, all pairs")
]
_Family = Annotated[
    str | None, typer.Option("--family", metavar="TEXT", help="what the family of tests is about; printed")
]
_Swap = Annotated[
    str,
    typer.Option(
        "--swap",
        help="what a permutation test swaps as a whole: stories, story-prompts or systems; auto: systems at system "
        "level, else story-prompts",
    ),
]
_Heatmap = Annotated[
    bool, typer.Option("--heatmap", help="the published layout instead: judge x Eval-Prompt by criterion")
]


@app.command()
def compare(
    runs: Runs,
    by: Annotated[str, typer.Option("--by", help="eval_prompt, judge, structured, parser or run")] = "eval_prompt",
    baseline: _Baseline = None,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    level: Annotated[str, typer.Option("--level", help="tau with people: overall or system")] = "overall",
    drop_system: DropSystem = None,
    against: Against = None,
    adjust: Annotated[str, typer.Option("--adjust", help="p values over the family: bh, by, holm or none")] = "bh",
    family: _Family = None,
    swap: _Swap = "auto",
    resamples: Resamples = 1000,
    permutations: Annotated[int, typer.Option("--permutations", help="number of swaps of a permutation test")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="seed of resamples and permutations")] = 1,
    heatmap: _Heatmap = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Paired contrasts of Eval-Prompts, judges, structured modes, parsers or runs, on the same stories and repeats.

    Differences of ratings, of what was parsed and explained, of consistency and of tau with people, each with an
    interval; permutation and Williams' tests as one adjusted family; one plain sentence for each contrast.

    Example: judge compare runs/hanna --by eval_prompt --baseline ep1 --drop-system Human
    """
    from judge.analysis.comparison import tables
    from judge.analysis.comparison.comparison import both_parsers
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.analysis.options.table_options import CompareOptions, from_words
    from judge.cli.option_words import emit
    from judge.errors import SpecError
    from judge.ratings_table import read

    options = from_words(
        CompareOptions,
        by=by,
        baseline=baseline,
        level=level,
        drop_systems=tuple(drop_system or ()),
        against=against,
        adjust=adjust,
        family=family,
        swap=swap,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )
    keep = Selection.of(criterion, judge, eval_prompt, people=[against])
    table = narrowed(read(runs, parser=parser), keep)
    if options.by == "parser" and not heatmap:
        if parser != "ours":
            raise SpecError("--by parser compares ours with as-published", hint="leave --parser out")
        table = both_parsers(table, read(runs, parser="as-published"))
    found = _layout(table, options) if heatmap else tables.tables(table, options)
    emit(with_coverage(table, found, form, options.drop_systems), form, output)


def _layout(table: RatingsTable, options: CompareOptions) -> list[Table]:
    from judge.analysis.agreement import correlation_grid
    from judge.analysis.inputs.control import control_predictions
    from judge.analysis.options.table_options import CorrelationOptions

    chosen = CorrelationOptions(
        level=options.level,
        drop_systems=options.drop_systems,
        against=options.against,
        resamples=options.resamples,
        seed=options.seed,
    )
    return correlation_grid.tables(table, chosen, predict=control_predictions)
