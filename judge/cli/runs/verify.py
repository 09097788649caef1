"""Way `judge status RUN --verify`: recomputes every hash of a run from its journal, and checks bundles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from judge.cli.option_words import with_flags

if TYPE_CHECKING:
    from judge.asking.run_folder import ResultFolder


def verify(runs: Sequence[Path]) -> None:
    """Check that journals are complete and that every query, rendered again, has the hash of its request. In a bundle,
    every checksum is checked too, and every table is computed again. Exits with code 4 where something differs.
    """
    from judge.asking.run_folder import resolve
    from judge.base.errors import RunFolderError
    from judge.base.printing.visible import visible

    for run in runs:
        if not run.exists():
            raise RunFolderError(
                f"{run} does not exist", hint="RUN is a run.yaml, its folder, a result folder, or a bundle (.zip)"
            )
    bundles = [run for run in runs if run.suffix.lower() == ".zip" and run.is_file()]
    wrong = [path for path in bundles if not _bundle_holds(path)] != []
    rest = [run for run in runs if run not in bundles]
    for folder in resolve(rest):
        count, problems = _problems(folder)
        wrong |= bool(problems)
        print(visible(f"{folder.path}: {'; '.join(problems) if problems else _found(folder, count)}"))
    if wrong:
        raise typer.Exit(4)


def _bundle_holds(path: Path) -> bool:
    """Check one bundle and print the result; False if a file, query or table differs from what the bundle states."""
    from judge.base.printing.visible import visible
    from judge.exchange.bundle.verification import check

    findings = check(path, lambda step: typer.echo(f"{path}: {step}", err=True))
    for problem in findings.problems:
        print(visible(f"{path}: {problem}"))
    counts = f"{findings.files} files, {findings.queries} queries and {findings.tables} tables"
    print(f"{path}: {counts} compared, {len(findings.problems) or 'no'} differences")
    for note in findings.notes:
        print(visible(f"· {with_flags(note)}"))
    return not findings.problems


def _found(folder: ResultFolder, count: int) -> str:
    from judge.answers.journal import JournalReader
    from judge.answers.journal.snapshot import LEFT_OUT

    if folder.journal.is_file():
        with JournalReader(folder.journal) as journal:
            if LEFT_OUT in journal.meta():
                return "the journal is whole; its stories' texts were left out, so no query can be rendered again"
    return f"{count} queries verified"


def _problems(folder: ResultFolder) -> tuple[int, list[str]]:
    from judge.asking.execution.verification import verify_journal

    if not folder.journal.is_file():
        return 0, []
    return verify_journal(folder)
