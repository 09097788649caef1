"""Command `judge init`: writes a commented run.yaml from a shipped definition, or for the user's own stories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from judge.cli.guessed_dataset import Guessed

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def init(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="name of the new run")] = None,
    template: Annotated[str, typer.Option("--from", help="shipped definition to copy; see --list")] = "mans-roc",
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="NAME|PATH",
            help="dataset or table of stories to judge; columns of a table are guessed",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=COLUMN", help="column that holds a field, where the guess is wrong"),
    ] = None,
    folder: Annotated[Path, typer.Option(help="folder that holds the runs")] = Path("runs"),
    list_: Annotated[bool, typer.Option("--list", help="list of the shipped definitions")] = False,
) -> None:
    """Write FOLDER/NAME/run.yaml from a shipped definition, with a comment on every key.

    Example: judge init my-run --from hanna-api

    Example: judge init my-run --dataset stories.csv
    """
    from judge.base.errors import SpecError, unknown
    from judge.base.folders import shipped
    from judge.base.whole_file import write_whole

    run_files = {path.parent.name: path for path in sorted(shipped("runs").glob("*/run.yaml"))}
    if list_:
        width = max(map(len, run_files))
        for key, path in run_files.items():
            title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
            print(f"{key.ljust(width)}  {title}")
        return
    if name is None:
        raise SpecError("judge init needs a NAME", hint="e.g. judge init my-run --from hanna-api")
    if template not in run_files:
        raise SpecError(unknown("definition", template, run_files))
    if column and dataset is None:
        raise SpecError("--column goes with --dataset FILE", hint="e.g. judge init my-run --dataset stories.csv")
    target = folder / name / "run.yaml"
    if target.exists():
        raise SpecError(f"{target} exists already", hint=f"edit it, or choose another name; judge run {target.parent}")
    guessed = _guessed(dataset, column, target.parent) if dataset is not None else None
    text = _text(run_files[template].read_text(encoding="utf-8"), name, guessed)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text)
    except OSError as error:
        raise SpecError(f"{target} cannot be written: {error.strerror}") from error
    if guessed is not None:
        _trust(dataset)
        print(guessed.sentence)
    print(f"{target}\nthen: judge run {target.parent} --dry-run")


def _trust(dataset: str | None) -> None:
    """Let runs read a dataset file of the user, which may lie outside the run's folder."""
    import contextlib

    from judge.base.folders import trust

    if dataset is not None and Path(dataset).is_file():
        with contextlib.suppress(OSError):
            trust(Path(dataset))


def _guessed(dataset: str, column: list[str] | None, folder: Path) -> Guessed:
    from judge.cli.guessed_dataset import guess_dataset
    from judge.inputs.datasets.files.column_guess import column_options

    return guess_dataset(dataset, column_options(column), folder)


def _text(template: str, name: str, guessed: Guessed | None) -> str:
    """The template's text with the new name and the guessed values."""
    import yaml

    from judge.cli.definition_text import comments_of, definition_text

    values: dict[str, Any] = yaml.safe_load(template)
    comments = comments_of(template)
    head = [line for line in template.splitlines() if line.startswith("#") and not line.startswith("# base_url")]
    values["name"] = name
    if guessed is not None:
        head[0] = f"# Stories of {guessed.sentence}"
        for key in ("dataset", "criteria"):
            comments.pop(key, None)
        values |= guessed.values
        comments |= guessed.comments
    return definition_text(head, values, comments)
