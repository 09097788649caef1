"""`judge check`: one table of a judge's and people's ratings. The work is in `exchange.check` and `report.checked`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.cli.table_options import Form, Quiet, Seed

if TYPE_CHECKING:
    from judge.exchange.check.table import Checked

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def _column(name: str, words: str) -> Any:
    return typer.Option(f"--{name}", metavar="COLUMN", help=f"column of {words}")


_Judge = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="COLUMN",
        help="column of a judge's ratings (or CRITERION=COLUMN); with --rating, a judge among the raters; several "
        "times",
    ),
]
_Human = Annotated[
    list[str] | None,
    typer.Option(
        "--human",
        metavar="COLUMN",
        help="column of a person's ratings (or CRITERION=COLUMN); several times, one a person",
    ),
]


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, JSON, JSON Lines, Parquet or XLSX")],
    judge: _Judge = None,
    human: _Human = None,
    criterion: Annotated[str | None, _column("criterion", "criteria, where a row is about one")] = None,
    by: Annotated[str | None, _column("by", "systems: who wrote each story")] = None,
    story: Annotated[str | None, _column("story", "stories' ids; without one, rows are stories")] = None,
    prompt: Annotated[str | None, _column("prompt", "story-prompts, or of what else stories share")] = None,
    text: Annotated[str | None, _column("text", "stories' texts, for the control")] = None,
    rater: Annotated[str | None, _column("rater", "people's names or numbers, where each has a row")] = None,
    rating: Annotated[str | None, _column("rating", "ratings, where each row is one by somebody")] = None,
    panel: Annotated[str | None, _column("panel", "panels of people, such as expert and lay")] = None,
    labels: Annotated[
        str | None, typer.Option("--labels", metavar="WORD,...", help="words that are ratings, lowest first, as No,Yes")
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option("--missing", metavar="WORD", help="word that stands for no rating; several times"),
    ] = None,
    sheet: Annotated[str | None, typer.Option("--sheet", help="a workbook's sheet")] = None,
    number_repeats: Annotated[
        bool, typer.Option("--number-repeats", help="several rows of a judge, story and criterion are its repeats")
    ] = False,
    positions: Annotated[
        bool, typer.Option("--positions", help="people's columns are answers in any order, not of a person each")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="the page; default: NAME.check.html here, and none with another --format"),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FOLDER", help="also the ratings as a result folder, for all commands"),
    ] = None,
    resamples: Annotated[int, typer.Option("--resamples", help="number of resamples for intervals")] = 500,
    seed: Seed = 1,
    form: Form = "table",
    quiet: Quiet = False,
) -> None:
    """Does a judge agree with people? One table of ratings, wide or long, to an answer and a page in one command.

    Columns that are not named are guessed from names and cells; the command that repeats the guess is printed. Ceiling,
    control, intervals and verdict are those of judge report. What the file cannot tell is said. Nothing is sent.

    Example: judge check scores.csv --judge gpt4 --human ann1 --human ann2 --by system -o scores.html
    """
    from judge.cli.option_words import emit
    from judge.errors import SpecError
    from judge.exchange.check.said import SaidColumns
    from judge.exchange.check.table import check as read
    from judge.report.checked import inputs_of, tables
    from judge.report.inputs import ReportOptions
    from judge.report.write import write_page

    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise SpecError(f"{output}: the page is an HTML page", hint=f"-o {output.with_suffix('.html')}")
    said = SaidColumns(
        judge=tuple(judge or ()),
        human=tuple(human or ()),
        criterion=criterion,
        story=story,
        by=by,
        prompt=prompt,
        text=text,
        rater=rater,
        rating=rating,
        panel=panel,
        labels=labels,
        missing=tuple(missing or ()),
        sheet=sheet,
        number_repeats=number_repeats,
        positions=positions,
    )
    checked = read(file, said)
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
        emit(tables(inputs, checked), form)
        if page is not None:
            size = write_page(inputs, page, quiet=quiet)
    if form == "table":
        _end(checked, line)
    if page is not None:
        typer.echo(f"{page}: {size / 1e6:.1f} MB", err=form != "table")


def _line(checked: Checked) -> str:
    """The command that reads the table so again."""
    from judge.cli.option_words import said

    return f"judge check {shlex.quote(str(checked.path))} {said(checked.columns.options)}".rstrip()


def _end(checked: Checked, line: str) -> None:
    from judge.cli.option_words import said

    for note in checked.notes:
        typer.echo(f"· {said(note)}")
    typer.echo(f"\n{'guessed; to repeat or change it' if checked.guessed else 'to repeat it'}:\n  {line}")
