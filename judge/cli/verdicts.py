"""Commands `judge summary`, `certify` and `succeed`: what a judge comes to, whether it is good enough, and whether it
may replace another. The computations are in `judge.questions.summary`, `judge.questions.certificate` and
`judge.analysis.succession`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.agreement_options import SuccessionOptions
from judge.cli.declared import takes
from judge.cli.table_options import (
    Criteria,
    EvalPrompts,
    Form,
    Full,
    Judges,
    Output,
    PanelName,
    ParserName,
    PassRate,
    Runs,
    ScoresFiles,
)
from judge.questions.summary.result import EvidenceOptions

if TYPE_CHECKING:
    from judge.questions.summary.result import Summary
    from judge.ratings.ratings_table import RatingsTable


SUCCEED_HELP = {
    "margin": "largest difference of tau with people that counts as equivalent",
    "points": "largest difference of mean ratings that counts as equivalent, in points",
    "cut": "lowest rating with which a story passes; default: the verdict is the nearest point of the scale",
    "power": "power with which the additional stories should decide the test",
    "folds": "number of folds of story-prompts for the crosswalks",
    "top": "number of stories that are shown",
    "seed": "seed of the folds",
}
_OLD = typer.Argument(metavar="OLD", help="run of the old judge: a run.yaml, its folder, or a result folder")
_NEW = typer.Argument(metavar="NEW", help="run of the new judge over the same stories")
_OldJudge = Annotated[str | None, typer.Option("--old-judge", help="name of the old judge, where OLD has several")]
_NewJudge = Annotated[str | None, typer.Option("--new-judge", help="name of the new judge, where NEW has several")]


@takes(SuccessionOptions, SUCCEED_HELP)
def succeed(
    old: Annotated[str, _OLD],
    new: Annotated[str, _NEW],
    *,
    options: SuccessionOptions,
    old_judge: _OldJudge = None,
    new_judge: _NewJudge = None,
    criterion: Criteria = None,
    eval_prompt: EvalPrompts = None,
    panel: PanelName = None,
    full: Full = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Test whether the judge of NEW may replace the judge of OLD, for example when OLD's model is shut down.

    An equivalence test with a margin that you declare, a crosswalk of scales, the stories whose verdict changes, and
    the number of additional stories that would decide an undecided test. Both judges have to rate the same stories.

    Example: judge succeed runs/tales/openai-gpt-4o runs/tales/openai-gpt-5 --margin 0.05
    """
    from judge.analysis import succession
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.cli.table_options import emit, reading_bar
    from judge.ratings.ratings_table import read

    def side(run: str, judge: str | None) -> RatingsTable:
        judges = None if judge is None else [judge]
        keep = Selection.of(criterion, judges, eval_prompt, people=[options.against], pass_rate=False, panel=panel)
        return narrowed(read([run], parser=parser, explanations=False, telling=reading_bar), keep)

    outcome = succession.succession(side(old, old_judge), side(new, new_judge), options)
    emit(succession.tables(outcome), form, output, full=full)


HELP = {
    "epsilon": "advantage granted to a judge over a person, as in judge replace",
    "margin": "difference of tau from the average person within which a judge counts as not below people",
    "positions": "columns of unidentified raters, each taken for one person, as in judge replace",
    "own": "system that is the judge's own model (default: by name), as in judge diagnose",
    "no_own": "statement that no system is the judge's own model, as in judge diagnose",
    "readings": "judge's ratings compared with one person's: mean (of its repeats) or single (each repeat)",
}


@takes(EvidenceOptions, HELP)
def summary(
    runs: Runs,
    *,
    options: EvidenceOptions,
    contamination: ScoresFiles = None,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    panel: PanelName = None,
    pass_rate: PassRate = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Summary on one screen: whether the judge may replace a person, the best prompt, faults, what is missing.

    The summary is of the judge and Eval-Prompt with the highest agreement; docs/summary.md has the rule of every
    verdict.

    Example: judge summary runs/hanna

    Example: judge summary runs/hanna --judge openai/my-model --eval-prompt ep1 --format md
    """
    from judge.questions.summary.kept import Chosen, summaries_of

    chosen = Chosen(criterion, judge, eval_prompt, panel, pass_rate)
    show(summaries_of(runs, chosen, options, contamination or (), parser), form, output)


def show(summaries: list[Summary], form: str, output: Path | None) -> None:
    """Print text on the screen, or tables for another `form` or an `output` file."""
    from judge.cli.table_options import emit
    from judge.questions.summary import screen

    if form == "table" and output is None:
        sys.stdout.write(screen.printed(summaries))
    else:
        emit([table for summary_row in summaries for table in screen.summary_tables(summary_row)], form, output)


# The exit code where a condition does not hold.
NOT_MET = 4


_Floor = Annotated[
    list[str] | None,
    typer.Option(
        "--floor",
        metavar="NAME=NUMBER",
        help="lowest accepted tau, icc, coverage or accuracy; may be given several times",
    ),
]
_Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="NAME",
        help="condition to meet: replace, control or unbiased; may be given several times",
    ),
]
_Output = Annotated[Path | None, typer.Option("-o", "--output", help="file for the certificate (JSON)")]


@takes(EvidenceOptions, HELP)
def certify(
    runs: Runs,
    *,
    floor: _Floor = None,
    require: _Require = None,
    output: _Output = None,
    options: EvidenceOptions,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    panel: PanelName = None,
    full: Full = False,
    form: Form = "table",
    parser: ParserName = "ours",
) -> None:
    """Certificate of one judge's agreement with people, by template and criterion, and whether it is sufficient.

    Every Eval-Prompt and criterion has to meet every condition; floors apply to the lower end of the 95 % interval, and
    90 % of the repeats need a rating unless --floor coverage says otherwise. The file is written in either case and
    records the result; exit code 4 where a condition is not met. judge run --require-certificate refuses a run that the
    certificate does not cover.

    Example: judge certify runs/hanna --eval-prompt ep1 --floor tau=0.3 --require replace -o hanna.certificate.json
    """
    from datetime import UTC, datetime

    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.base.errors import SpecError
    from judge.cli.table_options import emit, reading_bar
    from judge.questions.certificate.certify import LeftOut
    from judge.questions.certificate.certify import certify as certified
    from judge.questions.certificate.file import Conditions, write
    from judge.questions.certificate.printed import certificate_tables
    from judge.questions.summary.evidence import Evidence
    from judge.ratings.preferences_table import comparing
    from judge.ratings.ratings_table import read

    conditions = Conditions.of(floor or (), require or ())
    compare, rate = comparing(runs)
    if compare:
        raise SpecError("a certificate is of ratings, and these runs compare stories", hint="judge rank has the tables")
    keep = Selection.of(criterion, judge, eval_prompt, panel=panel)
    whole = read(rate, parser=parser, explanations=False, telling=reading_bar)
    table = narrowed(whole, keep)
    left_out = LeftOut.between(whole, table)
    certificate = certified(Evidence(table, options), conditions, datetime.now(UTC).date(), left_out)
    emit(certificate_tables(certificate, brief=form == "table"), form, full=full)
    if output is not None:
        write(certificate.record, output)
        sys.stderr.write(f"{output}: the certificate {'holds' if certificate.holds else 'does not hold'}\n")
    if not certificate.holds:
        raise typer.Exit(NOT_MET)
