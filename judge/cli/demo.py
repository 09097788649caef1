"""`judge demo`: a whole run without key, network or weights."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Where the run lies.")] = Path("runs/demo"),
    form: Annotated[str, typer.Option("--format", help="table, json, csv, md or latex.")] = "table",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the tables to this file.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Judge 48 packaged stories with the control judge, print the tables a run ends in, and write their report.

    The control judge is a regression on surface features, not a language model, and the stories' labels are by
    construction: the demo shows how the program works, not how good any judge is.

    Example: judge demo
    """
    from judge.demo import demo_report, demo_tables, run_demo
    from judge.tables import emit

    result, _ = run_demo(folder, quiet=quiet)
    emit(demo_tables(result), form, output)
    if form != "table":
        return
    page = demo_report(folder, result)
    if not quiet:
        judge = _program()
        sys.stderr.write(
            f"\nresults: {result}\n"
            f"report:  {page}     open it in a browser\n"
            f"         {judge} report {folder} -o {page}     the full page in its place, more resamples\n"
            f"next:    {judge} ratings {folder} | head\n"
            f"         {judge} correlate {folder} --level system\n"
            f"         {judge} try STORY.txt --judge surface --eval-prompts ep1,ep2\n"
            f"         {judge} init my-run                  a run of your own\n"
        )


def _program() -> str:
    """What starts this program again from here: its name where that is found, else the path it was started by."""
    found = shutil.which("judge")
    started = Path(sys.argv[0])
    if started.name != "judge" or not started.is_file() or (found and Path(found).samefile(started)):
        return "judge"
    return shlex.quote(sys.argv[0])
