"""Command `judge coverage`: counts of requested, answered and rated repeats. The computation is in
`judge.analysis.coverage.coverage`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import CoverageOptions
from judge.cli.declared import takes
from judge.cli.table_options import Criteria, EvalPrompts, Form, Full, Judges, Output, ParserName, Runs

if TYPE_CHECKING:
    from judge.base.printing.tables import Table

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

# Exit code of a declared check that failed.
CHECK_FAILED = 4


@app.command()
@takes(CoverageOptions, {"seed": "seed of permuted tests where counts are small"})
def coverage(
    runs: Runs,
    *,
    options: CoverageOptions,
    require: Annotated[
        float | None,
        typer.Option("--require", metavar="PERCENT", help="share of rated repeats below which the exit code is 4"),
    ] = None,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    full: Full = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Counts of what was requested, answered and rated, tests whether ratings are missing at random, bounds of means.

    For runs of comparisons: counts of what was requested, answered and decided.

    Example: judge coverage runs/mans-roc --require 95
    """
    from judge.base.errors import SpecError
    from judge.cli.table_options import emit
    from judge.ratings.preferences_table import comparing

    if require is not None and not 0 <= require <= 100:
        raise SpecError(f"--require {require:g} is not a percentage; allowed: 0 to 100")
    compare, rate = comparing(runs)
    printed: list[Table] = []
    sentences: list[tuple[float | None, str]] = []
    if rate:
        from judge.analysis.coverage.coverage import coverage as coverage_of
        from judge.analysis.coverage.coverage import sentence, tables
        from judge.analysis.inputs.selection import Selection, narrowed
        from judge.cli.table_options import reading_bar
        from judge.questions.sentences import coverage as coverage_sentence
        from judge.ratings.ratings_table import read

        keep = Selection.of(criterion, judge, eval_prompt)
        whole = read(rate, parser=parser, explanations=False, telling=reading_bar, perturbed=True)
        table = narrowed(whole, keep)
        of_ratings = coverage_of(table, options)
        counted = tables(of_ratings)
        if form == "table" and output is None:
            counted[0] = replace(counted[0], above=coverage_sentence(of_ratings))
        printed += counted
        sentences.append((of_ratings.share, sentence(of_ratings.total)))
    if compare:
        from judge.analysis.coverage import counts
        from judge.analysis.preference import sides
        from judge.ratings import preferences_table

        compared = sides.narrowed(preferences_table.read(compare), criterion, judge, eval_prompt)
        of_verdicts = counts.verdict_coverage(compared)
        printed += counts.tables(of_verdicts)
        sentences.append((of_verdicts.share, counts.sentence(of_verdicts)))
    emit(printed, form, output, full=full)
    if require is not None:
        _check(sentences, require)


def _check(sentences: Sequence[tuple[float | None, str]], require: float) -> None:
    """Leave with the code of a failed check where less than this percentage, or none that is known, was rated."""
    below = [words for share, words in sentences if share is None or 100 * share < require]
    if below:
        typer.echo(f"coverage: {'; '.join(below)}: below {require:g} %", err=True)
        raise typer.Exit(CHECK_FAILED)
