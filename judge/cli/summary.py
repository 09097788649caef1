"""Command `judge summary`: the main results of runs on one screen. The computation is in `judge.questions.summary`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from judge.cli.declared import takes
from judge.cli.table_options import (
    Criteria,
    EvalPrompts,
    Form,
    Judges,
    Output,
    PanelName,
    ParserName,
    PassRate,
    Runs,
    ScoresFiles,
)
from judge.questions.summary.options import EvidenceOptions

if TYPE_CHECKING:
    from judge.questions.summary.result import Summary

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "epsilon": "advantage granted to a judge over a person, as in judge replace",
    "margin": "difference of tau from the average person within which a judge counts as not below people",
    "positions": "columns of unidentified raters, each taken for one person, as in judge replace",
    "own": "system that is the judge's own model (default: by name), as in judge diagnose",
    "no_own": "statement that no system is the judge's own model, as in judge diagnose",
    "readings": "judge's ratings compared with one person's: mean (of its repeats) or single (each repeat)",
}


@app.command()
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
