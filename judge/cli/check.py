"""`judge check`: compares ratings of a judge and of people in one table (`exchange.checked_table`,
`show.report.checked`)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.choices import RESAMPLES
from judge.cli.declared import takes
from judge.cli.table_options import Form, Quiet, Seed
from judge.exchange.column_roles import GivenColumns

if TYPE_CHECKING:
    from judge.exchange.checked_table import Checked

app = typer.Typer(add_completion=False, rich_markup_mode=None)


HELP = {
    "judge": "column of a judge's ratings (or CRITERION=COLUMN); with rating, name of a judge among the raters; "
    "may be given several times",
    "human": "column of one person's ratings (or CRITERION=COLUMN); may be given several times",
    "criterion": "column of criteria, where each row is about one criterion",
    "by": "column of systems, which wrote the stories",
    "story": "column of story ids; default: each row is a story",
    "prompt": "column of story-prompts, or of another group that stories share",
    "text": "column of story texts, for the control judge",
    "rater": "column of raters' names, where each rating has its own row",
    "rating": "column of ratings, where each rating has its own row",
    "panel": "column of panels of people, such as expert and lay",
    "labels": "words that serve as ratings, lowest first, such as No,Yes",
    "missing": "word that means a missing rating; may be given several times",
    "sheet": "name of the sheet in a workbook",
    "number_repeats": "rows with the same judge, story and criterion, taken as repeats",
    "positions": "people's columns taken as unordered answers, not as one person each",
}
METAVARS = {
    **dict.fromkeys(("judge", "human", "criterion", "by", "story", "prompt", "text"), "COLUMN"),
    **dict.fromkeys(("rater", "rating", "panel"), "COLUMN"),
    "labels": "WORD,...",
    "missing": "WORD",
}


@app.command()
@takes(GivenColumns, HELP, metavars=METAVARS, name="columns")
def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="table of ratings: CSV, TSV, JSON, JSON Lines, Parquet or XLSX")
    ],
    *,
    columns: GivenColumns,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="file for the HTML page; default: NAME.check.html here, none with another --format"
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep", metavar="FOLDER", help="result folder to write the ratings to, for use by all other commands"
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option("--resamples", help="number of resamples for confidence intervals")
    ] = RESAMPLES,
    seed: Seed = 1,
    form: Form = "table",
    quiet: Quiet = False,
) -> None:
    """Verdict and HTML page on a judge's agreement with people, from one table of ratings, wide or long.

    Columns that are not named are guessed from their names and cells; the command that repeats the guess is printed.
    Ceiling, control, intervals and verdict are those of judge report. Results that the file does not allow are listed.
    Nothing is sent.

    Example: judge check scores.csv --judge gpt4 --human ann1 --human ann2 --by system -o scores.html
    """
    from judge.base.errors import SpecError
    from judge.cli.table_options import emit
    from judge.exchange.checked_table import check as read
    from judge.show.report.inputs import ReportOptions
    from judge.show.report.sections.checked_table import checked_tables, inputs_of
    from judge.show.report.write import write_page

    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise SpecError(f"{output}: the page is an HTML page", hint=f"-o {output.with_suffix('.html')}")
    checked = read(file, columns)
    line = _line(checked)
    page = output or (Path(f"{file.stem}.check.html") if form == "table" else None)
    options = ReportOptions(
        title=f"{file.name}: does the judge agree with people?",
        resamples=resamples,
        permutations=resamples,
        seed=seed,
        command=line,
    )
    with inputs_of(checked, options, keep) as inputs:
        emit(checked_tables(inputs, checked), form)
        if page is not None:
            size = write_page(inputs, page, quiet=quiet)
    if form == "table":
        _end(checked, line)
    if page is not None:
        typer.echo(f"{page}: {size / 1e6:.1f} MB", err=form != "table")


def _line(checked: Checked) -> str:
    from judge.cli.table_options import with_flags

    return f"judge check {shlex.quote(str(checked.path))} {with_flags(checked.columns.options)}".rstrip()


def _end(checked: Checked, line: str) -> None:
    from judge.cli.table_options import with_flags

    for note in checked.notes:
        typer.echo(f"· {with_flags(note)}")
    typer.echo(f"\n{'guessed; to repeat or change it' if checked.guessed else 'to repeat it'}:\n  {line}")
