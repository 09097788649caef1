"""Command `judge demo`: a complete example run that needs no API key, network or model weights."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.table_options import Form, Quiet

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def demo(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="folder for the run; default: runs/demo, or runs/demo-llm"),
    ] = None,
    judge: Annotated[
        str, typer.Option("--judge", help="judge to run: surface, or local/smollm2 (make demo-llm sets it up)")
    ] = "surface",
    form: Form = "table",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="file for the tables")] = None,
    quiet: Quiet = False,
) -> None:
    """Judge 48 packaged stories with the control judge, print the tables of results, and write a report.

    The control judge is a regression on surface features, not a language model, and the stories' labels follow from how
    the stories were made: the demo shows how the program works, not how good any judge is. With --judge local/smollm2 a
    very small language model judges the stories in this process, and explains some of its ratings.

    Example: judge demo
    """
    from judge.analysis.raters import Raters
    from judge.base.printing.tables import worded
    from judge.cli.table_options import FLAGS, emit
    from judge.demo import JUDGES, demo_report, demo_tables, run_demos
    from judge.inputs.datasets.studies import LABELS_NOTE

    folder = folder or Path("runs") / JUDGES.get(judge, JUDGES["surface"])[0]
    results = run_demos(folder, judge, quiet=quiet)
    result = results[0]
    raters = Raters(LABELS_NOTE)
    emit([raters.table(worded(each, FLAGS)) for each in demo_tables(result)], form, output)
    if form != "table":
        return
    page = demo_report(folder, *results)
    if not quiet:
        program = _program()
        words = (
            f"         {program} view {results[1]}     the answers in its own words, beside the stories\n"
            if results[1:]
            else ""
        )
        sys.stderr.write(
            f"\nresults: {result}\n"
            f"report:  {page}     open it in a browser\n"
            f"next:    {program} ratings {folder} | head\n{words}"
            f"         {program} correlate {folder} --level system\n"
            f"         {program} try STORY.txt --judge {judge} --eval-prompts ep1,ep2\n"
            f"         {program} init my-run                  a run of your own\n"
        )


def _program() -> str:
    # Where the program was started from a file `judge` that the shell would not find, the command is its path.
    program = shutil.which("judge")
    started = Path(sys.argv[0])
    if started.name != "judge" or not started.is_file() or (program and Path(program).samefile(started)):
        return "judge"
    return shlex.quote(sys.argv[0])
