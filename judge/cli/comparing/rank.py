"""Command `judge rank`: statistics of preferences between two stories. The computation is in
`judge.analysis.preference`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge.analysis.options.table_options import RankOptions
from judge.cli.declared import takes
from judge.cli.table_options import Criteria, EvalPrompts, Form, Judges, Long, Output

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "ties": "model of ties for strengths: an outcome (Davidson), half a win for both, or left out",
    "bootstraps": "number of resamples of story-prompts for intervals of strengths; 0: clustered intervals",
    "seed": "seed of resamples and of the control's folds",
    "control": "row of the control judge, out of fold",
}

Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...", help="a run.yaml, its folder, a result folder, or the name of a dataset (for its people)"
    ),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="NAME",
        help="table to print: agreement, order, systems, stories or transitivity; may be given several times",
    ),
]


@app.command()
@takes(RankOptions, HELP)
def rank(
    runs: Runs,
    options: RankOptions,
    table: Tables = None,
    long: Long = False,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    form: Form = "table",
    output: Output = None,
) -> None:
    """Tables on comparisons of two stories: agreement with people, position bias, systems, stories, transitivity.

    Runs of ratings beside runs of comparisons are counted by the preferences that their means imply. The name of a
    dataset stands for its people: their systems, with the longer story and the control as baselines for a judge.

    Example: judge rank runs/mans-roc-pairs --table agreement --table order
    """
    from judge.analysis.preference.printed import TOPICS, tables
    from judge.analysis.preference.ranked import ranked
    from judge.analysis.preference.reading import narrowed, read
    from judge.cli.option_words import emit
    from judge.errors import SpecError, unknown

    for name in table or ():
        if name not in TOPICS:
            raise SpecError(unknown("--table", name, TOPICS))
    paths: list[Path | str] = [*runs]
    ranking = ranked(narrowed(read(paths), criterion, judge, eval_prompt), options)
    topics = [topic for topic in TOPICS if not table or topic in table]
    emit(tables(ranking, topics, long=long), form, output)
