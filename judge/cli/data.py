"""Command `judge data`: lists, fetches, shows, checks, adds and converts datasets. The implementation is in
`judge.inputs.datasets`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.base.errors import DataError, SpecError, nearest
from judge.cli import generate
from judge.cli.table_options import Form

if TYPE_CHECKING:
    from judge.inputs.datasets import Dataset

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_Name = Annotated[
    str,
    typer.Argument(metavar="NAME|PATH", help="name of a dataset, or a file: CSV, TSV, JSON, JSON Lines, Parquet, XLSX"),
]
_Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=COLUMN", help="column of a table that holds a field; may be given several times"
    ),
]
_Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="[CRITERION=]LABEL,...",
        help="labels that serve as ratings, in order, for one criterion or all; may be given several times",
    ),
]
_Output = Annotated[Path | None, typer.Option("-o", "--output", help="file for the output, in place of the screen")]


@app.command("list")
def list_(form: Form = "table", output: _Output = None) -> None:
    """List of known datasets, and whether their files are on this machine.

    Example: judge data list
    """
    from judge.cli.table_options import emit
    from judge.inputs.datasets.locate import listing

    emit(listing(), form, output)


@app.command("fetch")
def fetch_(
    name: Annotated[str, typer.Argument(help="name of a dataset or file set, as in `judge data list`")],
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", help="address of another server with the same layout, /REPOSITORY/COMMIT/PATH"),
    ] = None,
) -> None:
    """Download a dataset from where its study published it, check its checksum and keep it in the cache.

    Example: judge data fetch mans_roc
    """
    from judge.inputs.datasets import DATASETS, open_dataset
    from judge.inputs.datasets.locate import fetch

    for got in fetch(name, base_url or None):
        state = "downloaded" if got.downloaded else "was here already"
        address = "" if got.source.verified else " [address unverified]"
        checksum = "checksum right" if got.source.sha256 else "no checksum is published"
        typer.echo(f"{got.source.path}: {state}, {checksum}{address}")
        typer.echo(f"  {got.path}")
        if got.source.sha256 is None and name in DATASETS:
            count = sum(1 for _ in open_dataset(name).stories())
            typer.echo(f"  the reader's own checks passed: {count} stories")


@app.command("show")
def show(
    name: _Name,
    story: Annotated[str | None, typer.Argument(help="id of a story; default: the first story")] = None,
    column: _Columns = None,
    labels: _Labels = None,
) -> None:
    """One story with its story-prompt, reference story and ratings.

    Example: judge data show mans_roc 125-fusion
    """
    from judge.base.printing.text_layout import visible
    from judge.inputs.datasets.locate import story_sheet

    dataset = _open(name, column, labels)
    ids: list[str] = []
    for record in dataset.stories():
        if story is None or record.id == story:
            typer.echo(visible(story_sheet(dataset, record)))
            return
        ids.append(record.id)
    close = nearest(story or "", ids)
    guess = f"; did you mean {close!r}?" if close else ""
    raise DataError(f"{dataset.name} has no story {story!r}{guess}", hint=f"ids look like {', '.join(ids[:3])}")


@app.command("check")
def check_(
    name: _Name, column: _Columns = None, labels: _Labels = None, form: Form = "table", output: _Output = None
) -> None:
    """Table of counts, missing ratings, scale use, duplicates, damaged texts and, where known, raters.

    Example: judge data check hanna
    """
    from judge.cli.table_options import emit
    from judge.inputs.datasets.check import check, check_tables

    emit(check_tables(check(_open(name, column, labels))), form, output)


@app.command("add")
def add(
    name: Annotated[
        str, typer.Argument(help="name of a study's dataset, of a released file, or a new name of your own")
    ],
    path: Annotated[Path, typer.Argument(help="path of the file, or of the folder that holds it")],
    column: _Columns = None,
    labels: _Labels = None,
) -> None:
    """Register the file of a dataset, or a table of your own under a new name.

    Example: judge data add hanna ~/downloads/hanna_stories_annotations.csv

    Example: judge data add mine ratings.csv --column ratings.Plot=plot --labels Plot=No,Partially,Yes
    """
    from judge.inputs.datasets import DATASETS, open_dataset
    from judge.inputs.datasets.files.column_guess import column_options
    from judge.inputs.datasets.locate import register
    from judge.inputs.datasets.sources import FILES, OTHER_FILES, SOURCES, UNPUBLISHED

    columns = column_options(column, labels)
    files = {Path(f).name for f in (*SOURCES, *(f for group in UNPUBLISHED.values() for f in group))}
    own = name not in {*FILES, *OTHER_FILES, *UNPUBLISHED, *files}
    if name in DATASETS and name not in FILES:
        raise SpecError(f"{name} comes with the program; give yours another name")
    if columns and not own:
        raise SpecError(f"{name} has its own reader; --column and --labels are for files of your own")
    if own:
        # A name that cannot be opened must not be remembered.
        columns = _columns(str(path), column, labels)
        next(open_dataset(str(path), columns=columns).stories())
    entry = register(name, path, columns)
    typer.echo(f"{name}: {entry.path}")


@app.command("convert")
def convert(
    name: _Name,
    output: Annotated[Path, typer.Argument(metavar="OUT.jsonl", help="new file to write")],
    column: _Columns = None,
    labels: _Labels = None,
) -> None:
    """Write a dataset in the program's own format: JSON Lines, one line for each story and each pair.

    Example: judge data convert mans_roc mans_roc.jsonl
    """
    from judge.inputs.datasets.files.native import write_stories

    dataset = _open(name, column, labels)
    pairs = None if dataset.pairs is None else list(dataset.pairs())
    count = write_stories(output, dataset.stories(), dataset.labels, pairs)
    typer.echo(f"{output}: {count} stories" + (f", {len(pairs)} pairs" if pairs else ""))


# Stories that models write become data as well.
app.command("generate")(generate.write)
app.command("stories")(generate.stories)
app.command("faults")(generate.check)


def _open(name: str, column: list[str] | None, labels: list[str] | None = None) -> Dataset:
    from judge.inputs.datasets import open_dataset

    return open_dataset(name, columns=_columns(name, column, labels))


def _columns(name: str, column: list[str] | None, labels: list[str] | None) -> dict[str, Any] | None:
    """The column map that was typed; for a table without one, what its columns are taken for, which is printed."""
    from judge.cli.table_options import asked
    from judge.inputs.datasets import is_own_form
    from judge.inputs.datasets.files.column_guess import column_options, guess

    path, given = Path(name), column_options(column, labels)
    if (given and any(key not in ("sheet", "missing", "labels") for key in given)) or not path.is_file():
        return given
    if is_own_form(path):
        return given
    sheet = (given or {}).get("sheet", "").removeprefix("=") or None
    guessed = asked(lambda said: guess(path, sheet, said, texts=False), given)
    for line in guessed.lines:
        typer.echo(line, err=True)
    return guessed.as_map()
