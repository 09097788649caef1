"""`judge correlate`: how far judges follow people. The work is in `analysis.correlation`."""

from __future__ import annotations

from typing import Annotated

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
    Seed,
)

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_Ci = Annotated[
    str, typer.Option("--ci", help="auto, boot-inputs, boot-both, boot-systems, boot-stories, fisher-z or none")
]
_Interval = Annotated[
    str, typer.Option("--interval", help="of a bootstrap: auto, expanded, percentile, bca or calibrated")
]
_Given = Annotated[
    str | None,
    typer.Option("--given", metavar="FEATURE", help="beside it the partial correlation given length, or a feature"),
]
_Also = Annotated[
    list[str] | None,
    typer.Option("--also", metavar="TABLE", help="further tables: leads, accuracy, drift, sliding-sets, replacement"),
]
_Readings = Annotated[
    str, typer.Option("--readings", help="a judge beside one person: mean (of its repeats) or single (each repeat)")
]
_Labels = Annotated[
    str | None,
    typer.Option("--labels", metavar="RULE", help="binary labels: a criterion of two values, or 'Overall > 4'"),
]
_Errors = Annotated[
    list[str] | None,
    typer.Option("--errors", metavar="RULE", help="an error type to set against --labels, one at a time"),
]


@app.command()
def correlate(
    runs: Runs,
    coefficient: Annotated[str, typer.Option("--coefficient", help="kendall, spearman or pearson")] = "kendall",
    level: Annotated[str, typer.Option("--level", help="overall, system, by-item or by-system")] = "overall",
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    against: Against = None,
    ci: _Ci = "auto",
    interval: _Interval = "auto",
    resamples: Resamples = 1000,
    seed: Seed = 1,
    given: _Given = None,
    readings: _Readings = "mean",
    also: _Also = None,
    labels: _Labels = None,
    errors: _Errors = None,
    control: Annotated[bool, typer.Option("--control/--no-control", help="the control judge's row")] = True,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Correlations with people's ratings, with intervals, human ceiling and the control judge's row.

    --also leads: each judge's paired distance from people and control; accuracy: pairwise accuracy, acc_eq, soft
    pairwise accuracy; drift: by dataset and system; sliding-sets: of differences between sets; replacement: the
    alternative annotator test and prediction-powered means.

    Example: judge correlate runs/hanna --level system --drop-system Human --ci boot-both --also accuracy
    """
    from judge.analysis import correlation as analysis
    from judge.analysis.agreement.further_tables import further_tables
    from judge.analysis.agreement.label_rules import criterion_of
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.inputs.control import Control
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.analysis.options.table_options import CorrelationOptions, from_words
    from judge.cli.option_words import emit
    from judge.ratings_table import read

    options = from_words(
        CorrelationOptions,
        coefficient=coefficient,
        level=level,
        drop_systems=tuple(drop_system or ()),
        against=against,
        ci=ci,
        interval_kind=interval,
        resamples=resamples,
        seed=seed,
        control=control,
        given=given,
        readings=readings,
    )
    labelled = [criterion_of(words) for words in (labels, *(errors or ())) if words]
    keep = Selection.of(criterion, judge, eval_prompt, people=[against, *labelled])
    table = narrowed(read(runs, parser=parser, explanations=False), keep)
    predict = Control()
    found = analysis.tables(table, options, predict=predict)
    found += further_tables(also or (), table, options, predict, labels=labels, errors=errors or ())
    emit(with_coverage(table, found, form, options.drop_systems), form, output)
