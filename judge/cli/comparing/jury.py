"""Command `judge jury`: combines a panel of judges into one rating, evaluated out of fold. The computation is in
`judge.analysis.jury.jury`.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import JuryOptions
from judge.cli.declared import takes
from judge.cli.table_options import Criteria, EvalPrompts, Form, Judges, Output, PanelName, ParserName, PassRate, Runs

if TYPE_CHECKING:
    from judge.analysis.jury.result import Juries
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "combiner": "method that combines ratings; auto: chosen inside the folds",
    "members": "judge of the panel, or 'JUDGE EVAL-PROMPT'; may be given several times",
    "min_members": "smallest number of members' ratings with which a story is rated",
    "all_criteria": "predictors from members' ratings of all criteria, or of the same criterion",
    "with_features": "additional predictors: surface features of the stories",
    "calibrate": "calibration that maps ratings onto people's scale",
    "predict": "coverage of an interval of one story's rating, such as 0.9",
    "carry_over": "largest mean error in points that counts as none, for a test of the calibration on each system",
    "hold_out": "unit that a fold holds out",
    "folds": "number of folds, outer and inner",
    "foldings": "number of random foldings; results are means over them",
    "seed": "seed of the first folding and of the resamples",
}
_Ratings = Annotated[
    Path | None, typer.Option("--ratings", metavar="FOLDER", help="result folder to write the jury's ratings to")
]


@app.command()
@takes(JuryOptions, HELP)
def jury(
    runs: Runs,
    *,
    options: JuryOptions,
    weights: Annotated[bool, typer.Option("--weights", help="additional table of weights, means over folds")] = False,
    effective: Annotated[
        bool, typer.Option("--effective", help="additional table: number of independent judges that the panel is worth")
    ] = False,
    long: Annotated[
        bool, typer.Option("--long", help="long layout, with --weights: one row for each predictor")
    ] = False,
    ratings: _Ratings = None,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    panel: PanelName = None,
    pass_rate: PassRate = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Agreement with people of a panel's combined ratings, out of fold, beside its best member, mean and control.

    Example: judge jury runs/hanna --drop-system Human --with-features --weights
    """
    # Many small decompositions: threads of the linear algebra only get into each other's way.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from judge.analysis.coverage.tables import with_coverage
    from judge.analysis.inputs.pass_rate import asked_for
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.analysis.jury import jury as analysis
    from judge.analysis.jury import tables
    from judge.cli.option_words import emit
    from judge.cli.reading_bar import reading_bar
    from judge.ratings_table import read

    keep = Selection.of(criterion, judge, eval_prompt, pass_rate=pass_rate, panel=panel)
    table = narrowed(read(runs, parser=parser, explanations=False, telling=reading_bar), keep)
    juries = analysis.jury(table, options)
    jury_tables = tables.tables(juries, weights=weights, long=long, effective=effective)
    emit(with_coverage(asked_for(table), jury_tables, form, options.drop_systems), form, output)
    if ratings is not None:
        _write(ratings, juries, table)


def _write(folder: Path, juries: Juries, table: RatingsTable) -> None:
    """Write the jury's combined ratings to `folder` as a result folder of imported ratings. Raises SpecError unless
    there is exactly one dataset.
    """
    from judge.analysis.jury.ratings import jury_name, notes_of, ratings_of
    from judge.errors import SpecError
    from judge.exchange.imports.imported_folder import Import, write_folder

    if len(juries.held) != 1:
        raise SpecError("--ratings writes one dataset's ratings", hint="name the runs of one dataset")
    (held_jury,) = juries.held
    stories = held_jury.matrix.stories.drop(columns=["story_prompt", "system"]).assign(dataset=held_jury.matrix.dataset)
    imported = Import(
        frame=ratings_of(held_jury, table),
        judge=jury_name(held_jury),
        criteria=[criterion for fact in table.facts[:1] for criterion in fact.criteria],
        notes=notes_of(held_jury),
        sources=[],
        stories=stories,
        ratings="means",
        asked=asdict(held_jury.options),
    )
    write_folder(folder, imported)
    typer.echo(f"{jury_name(held_jury)}: ratings in {folder}", err=True)
