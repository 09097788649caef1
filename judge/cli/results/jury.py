"""`judge jury`: a panel of judges combined, out of fold. The work is in `analysis.jury.jury`."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.table_options import Criteria, DropSystem, EvalPrompts, Form, Judges, Output, ParserName, Resamples, Runs

if TYPE_CHECKING:
    from judge.analysis.jury.jury import Held
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_Combiner = Annotated[
    str,
    typer.Option(
        "--combiner",
        help="auto, mean, median, calibrated, weighted, ridge, ordinal or stack; auto chooses inside folds",
    ),
]
_Members = Annotated[
    list[str] | None,
    typer.Option("--members", metavar="JUDGE", help='only this judge, or "JUDGE EVAL-PROMPT"; may be repeated'),
]
_AllCriteria = Annotated[
    bool, typer.Option("--all-criteria/--criterion-own", help="read members' ratings of the other criteria too")
]
_WithFeatures = Annotated[bool, typer.Option("--with-features", help="read surface features of the stories too")]
_Calibrate = Annotated[
    str, typer.Option("--calibrate", help="put ratings on people's scale: none, linear, isotonic or ordinal")
]
_HoldOut = Annotated[str, typer.Option("--hold-out", help="what folds hold out: story-prompt or system")]
_Ratings = Annotated[
    Path | None, typer.Option("--ratings", metavar="FOLDER", help="write the jury's ratings as a result folder")
]


@app.command()
def jury(
    runs: Runs,
    combiner: _Combiner = "auto",
    members: _Members = None,
    min_members: Annotated[int, typer.Option("--min-members", help="ratings that a story needs to be rated")] = 1,
    all_criteria: _AllCriteria = True,
    with_features: _WithFeatures = False,
    calibrate: _Calibrate = "none",
    hold_out: _HoldOut = "story-prompt",
    folds: Annotated[int, typer.Option("--folds", help="folds, outer and inner")] = 5,
    foldings: Annotated[int, typer.Option("--foldings", help="how often folds are dealt; figures are means")] = 5,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    ci: Annotated[str, typer.Option("--ci", help="boot-inputs, boot-both or none")] = "boot-inputs",
    resamples: Resamples = 1000,
    seed: Annotated[int, typer.Option("--seed", help="seed of the first folding and of the resamples")] = 1,
    weights: Annotated[bool, typer.Option("--weights", help="also the weights, mean over folds")] = False,
    ratings: _Ratings = None,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """A panel's ratings combined into one and scored out of fold, beside its best member, its mean and the control.

    Example: judge jury runs/hanna --drop-system Human --with-features --weights
    """
    # Many small decompositions: threads of the linear algebra only get into each other's way.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.analysis.jury import jury as analysis
    from judge.analysis.jury import tables
    from judge.analysis.options.table_options import JuryOptions, from_words
    from judge.cli.option_words import emit
    from judge.ratings_table import read

    options = from_words(
        JuryOptions,
        combiner=combiner,
        members=tuple(members or ()),
        min_members=min_members,
        all_criteria=all_criteria,
        with_features=with_features,
        calibrate=calibrate,
        hold_out=hold_out,
        folds=folds,
        foldings=foldings,
        drop_systems=tuple(drop_system or ()),
        ci=ci,
        resamples=resamples,
        seed=seed,
    )
    keep = Selection.of(criterion, judge, eval_prompt)
    table = narrowed(read(runs, parser=parser, explanations=False), keep)
    held = analysis.hold(table, options)
    found = tables.tables(table, options, weights=weights, predictors=form in ("json", "csv"), held=held)
    emit(with_coverage(table, found, form, options.drop_systems), form, output)
    if ratings is not None:
        _write(ratings, held, table)


def _write(folder: Path, held: list[Held], table: RatingsTable) -> None:
    """The jury's ratings as a result folder of imported ratings."""
    from judge.analysis.jury.ratings import jury_name, notes_of, ratings_of
    from judge.errors import SpecError
    from judge.exchange.imports.imported_folder import Import, write_folder

    if len(held) != 1:
        raise SpecError("--ratings writes one dataset's ratings", hint="name the runs of one dataset")
    (one,) = held
    stories = one.matrix.stories.drop(columns=["story_prompt", "system"]).assign(dataset=one.matrix.dataset)
    found = Import(
        frame=ratings_of(one, table),
        judge=jury_name(one),
        criteria=[criterion for fact in table.facts[:1] for criterion in fact.criteria],
        notes=notes_of(one),
        sources=[],
        stories=stories,
        ratings="means",
        asked=asdict(one.options),
    )
    write_folder(folder, found)
    typer.echo(f"{jury_name(one)}: ratings in {folder}", err=True)
