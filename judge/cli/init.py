"""`judge init`: a commented run.yaml to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def init(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name of the new run.")] = None,
    template: Annotated[str, typer.Option("--from", help="Shipped definition to copy: see --list.")] = "mans-roc",
    folder: Annotated[Path, typer.Option(help="Where runs lie.")] = Path("runs"),
    list_: Annotated[bool, typer.Option("--list", help="List the shipped definitions.")] = False,
) -> None:
    """Write FOLDER/NAME/run.yaml from a shipped definition, every key with a comment.

    Example: judge init my-run --from hanna-api
    """
    from judge.errors import SpecError, unknown
    from judge.shipped import shipped

    known = {path.parent.name: path for path in sorted(shipped("runs").glob("*/run.yaml"))}
    if list_:
        for key, path in known.items():
            print(f"{key.ljust(max(map(len, known)))}  {path.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}")
        return
    if name is None:
        raise SpecError("judge init needs a NAME", hint="e.g. judge init my-run --from hanna-api")
    if template not in known:
        raise SpecError(unknown("definition", template, known))
    target = folder / name / "run.yaml"
    if target.exists():
        raise SpecError(f"{target} exists already", hint=f"edit it, or choose another name; judge run {target.parent}")
    lines = known[template].read_text(encoding="utf-8").splitlines()
    text = "\n".join(f"name: {name}" if line.startswith("name: ") else line for line in lines) + "\n"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SpecError(f"{target} cannot be written: {error.strerror}") from error
    print(f"{target}\nthen: judge run {target.parent} --dry-run")
