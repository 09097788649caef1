"""Command `judge rank`: statistics of preferences between two stories. The computation is in
`judge.analysis.preference`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import RankOptions
from judge.cli.declared import takes
from judge.cli.table_options import Criteria, EvalPrompts, Form, Full, Judges, Long, Output, Width, is_picture

if TYPE_CHECKING:
    from judge.analysis.preference.standings import Systems

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


@takes(RankOptions, HELP)
def rank(
    runs: Runs,
    options: RankOptions,
    table: Tables = None,
    long: Long = False,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    full: Full = False,
    form: Form = "table",
    output: Output = None,
    width: Width = "page",
) -> None:
    """Tables on comparisons of two stories: agreement with people, position bias, systems, stories, transitivity.

    Runs of ratings beside runs of comparisons are counted by the preferences that their means imply. The name of a
    dataset stands for its people: their systems, with the longer story and the control as baselines for a judge.

    With -o FILE.pdf: a picture of the systems' strengths or, with --table wins, of who won against whom.

    Example: judge rank runs/mans-roc-pairs --table agreement --table order

    Example: judge rank runs/mans-roc-pairs -o strengths.pdf
    """
    from judge.analysis.preference.ranked import TOPICS, ranked, tables
    from judge.analysis.preference.sides import of_names, read
    from judge.base.errors import SpecError, unknown
    from judge.cli.table_options import emit

    picture = output if is_picture(output) else None
    for name in table or ():
        if name not in TOPICS and not (picture and name == _WINS):
            raise SpecError(unknown("--table", name, [*TOPICS, _WINS] if picture else TOPICS))
    paths: list[Path | str] = [*runs]
    preferences = of_names(read(paths), criterion, judge, eval_prompt)
    if picture:
        _draw(ranked(preferences, replace(options, control=False)).systems, picture, width, wins=_WINS in (table or ()))
        return
    ranking = ranked(preferences, options)
    topics = [topic for topic in TOPICS if not table or topic in table]
    emit(tables(ranking, topics, long=long), form, output, full=full)


# The picture of who won against whom, as a name of --table.
_WINS = "wins"


def _draw(ranking: Systems, output: Path, width: str, *, wins: bool) -> None:
    from judge.base.errors import SpecError
    from judge.base.wording import Advice
    from judge.questions.charts.preferences import strengths, win_matrix
    from judge.questions.figures import forest, heatmap, panels

    places = {(standing.dataset, standing.criterion.casefold()) for standing in ranking.standings}
    if not places:
        raise SpecError("nobody compared stories of two systems here", hint="judge rank prints what there is")
    if len(places) > 1:
        raise SpecError(
            f"{len(places)} criteria or datasets are too many for one figure",
            hint=Advice("choose one with {criterion}, or name runs of one dataset"),
        )
    inches = panels.inches_of(width)
    if wins:
        matrix = win_matrix(ranking.standings, ranking.signature)
        panels.write(heatmap.draw(matrix, None), output)
        typer.echo(f"{output}: {len(matrix.rows)} rows, {len(matrix.columns)} systems")
    else:
        drawing = strengths(ranking.standings, ranking.signature)
        panels.write(forest.draw(drawing, inches), output)
        typer.echo(f"{output}: {len(drawing.lines)} systems, {len(drawing.series)} who compared")
