"""`judge verify`: derive every hash of a run again from what the journal holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from judge.run_folder import ResultFolder

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def verify(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="run.yaml, its folder, or a result folder.")],
) -> None:
    """Check that journals are whole and that every query, rendered again, has the hash it was asked under.

    Exit code 4 where something differs.

    Example: judge verify runs/mans-roc
    """
    from judge.run_folder import resolve

    wrong = False
    for folder in resolve(runs):
        count, problems = _problems(folder)
        wrong |= bool(problems)
        print(f"{folder.path}: {'; '.join(problems) if problems else f'{count} queries verified'}")
    if wrong:
        raise typer.Exit(4)


def _problems(folder: ResultFolder) -> tuple[int, list[str]]:
    from judge.execution.verification import verify_journal

    if not folder.journal.is_file():
        return 0, []
    return verify_journal(folder)
