"""Command `judge certify`: certifies that a judge's agreement with human ratings meets stated conditions. The
implementation is in `judge.questions.certificate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.declared import takes
from judge.cli.summary import HELP
from judge.cli.table_options import Criteria, EvalPrompts, Form, Full, Judges, PanelName, ParserName, Runs
from judge.questions.summary.options import EvidenceOptions

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

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


@app.command()
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
    from judge.questions.certificate.conditions import Conditions
    from judge.questions.certificate.file import write
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
