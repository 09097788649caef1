"""Ways `judge run RUN --batch submit`, `status` and `collect`: a run through a provider's batch API. The implementation
is in `judge.exchange`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from judge.cli.table_options import complaint, mend

if TYPE_CHECKING:
    from judge.asking.run_folder import ResultFolder
    from judge.base.errors import JudgeError
    from judge.exchange.batch.ledger import Batch
    from judge.exchange.batch.requests import Wanted


def submit(run: Path, overrides: Sequence[str], judges: Sequence[str], limit: int | None) -> None:
    """Send what a run lacks to each judge's provider; one's failure does not affect others. Pending requests are not
    sent again: an interrupted call first looks up which batches the provider has."""
    from judge.exchange.batch.requests import has_batch_api, wanted_of_all
    from judge.exchange.batch.submission import submit as send

    asked = wanted_of_all(run, list(overrides), judges, limit=limit)
    sent: list[Path] = []

    def one(wanted: Wanted) -> None:
        if send(wanted, typer.echo):
            sent.append(wanted.result.path)
        else:
            typer.echo(f"nothing to send: {wanted.result.path} lacks nothing that is not in a batch already")

    here = [each for each in asked if len(asked) == 1 or has_batch_api(each.spec.judge)]
    for each in asked:
        if each not in here:
            typer.echo(f"{each.spec.judge} has no batch API; judge run {run} --judge {each.spec.judge} asks it")
    failures = _each([(each.spec.judge, partial(one, each)) for each in here])
    if sent:
        where = sent[0] if len(asked) == 1 else run
        typer.echo(f"next: judge run {where} --batch status, then judge run {where} --batch collect")
    _raise(failures, len(here))


def status(run: Path, form: str) -> None:
    """Print the batches' progress at the provider, and what to do about those that failed."""
    from judge.asking.run_folder import read_manifest, resolve
    from judge.base.printing.tables import Column, Table
    from judge.cli.table_options import emit
    from judge.exchange.batch.submission import advice_for, refresh

    rows: list[dict[str, object]] = []
    notes: list[str] = []

    def one(folder: ResultFolder) -> None:
        manifest = read_manifest(folder.manifest)
        name = {"run": manifest.get("run"), "judge": manifest.get("judge")}
        for batch in refresh(folder):
            rows.append({**name, **_row(batch)})
            if batch.state != "collected" and (advice := advice_for(batch, folder)) is not None:
                notes.append(advice)
            elif batch.in_flight and batch.status == "completed":
                notes.append(
                    f"batch {batch.number} is complete; judge run {folder.path} --batch collect brings its answers"
                )

    folders = resolve([run])
    failed = _each([(str(folder.path), partial(one, folder)) for folder in folders])
    if rows or not failed:
        signature = f"{len(rows)} batch{'' if len(rows) == 1 else 'es'}"
        columns = [Column(key, title) for key, title in _COLUMNS.items()]
        emit(Table("Batches", columns, rows, signature, notes), form)
    _raise(failed, len(folders))


def collect(run: Path) -> None:
    """Write ended batches' answers into the journal; exit code 3 where batches are still running."""
    from judge.asking.run_folder import resolve

    waiting: list[ResultFolder] = []

    def one(folder: ResultFolder) -> None:
        if _collect(folder):
            waiting.append(folder)

    folders = resolve([run])
    _raise(_each([(str(folder.path), partial(one, folder)) for folder in folders]), len(folders))
    if waiting:
        raise typer.Exit(3)


# Of which judge or folder, and what was wrong.
Failure = tuple[str, "JudgeError"]


def _each(steps: Sequence[tuple[str, Callable[[], None]]]) -> list[Failure]:
    """Errors with names; one does not stop the other steps."""
    from judge.base.errors import JudgeError

    failures: list[Failure] = []
    for name, step in steps:
        try:
            step()
        except JudgeError as error:
            failures.append((name, error))
    return failures


def _raise(failures: Sequence[Failure], judges: int) -> None:
    """A single judge's error, else one that names the failed judges after printing each."""
    from judge.base.errors import JudgeError

    if not failures:
        return
    if judges == 1:
        raise failures[0][1]
    for name, error in failures:
        typer.echo(f"{name}: {complaint(error)}" + (f"\n  hint: {mend(error)}" if error.hint else ""), err=True)
    raise JudgeError(
        f"{len(failures)} of {judges} judges ended with an error: {', '.join(name for name, _ in failures)}"
    )


def _collect(folder: ResultFolder) -> bool:
    """True if some batches are not finished."""
    from judge.exchange.batch.importing import merged_sentences
    from judge.exchange.batch.submission import collect as fetch

    collected = fetch(folder, typer.echo)
    if collected.imported is not None:
        for line in merged_sentences(collected.imported, folder, "the batches"):
            typer.echo(line)
    for advice in collected.advice:
        typer.echo(f"· {advice}")
    if collected.waiting:
        states = ", ".join(f"{batch.number} {batch.status or batch.state}" for batch in collected.waiting)
        typer.echo(f"{folder.path}: not collected yet: batch {states}")
    elif not collected.batches:
        typer.echo(f"{folder.path}: no batch is to be collected")
    return bool(collected.waiting)


# Key and title of the columns of `--batch status`.
_COLUMNS = {
    "run": "run",
    "judge": "judge",
    "number": "batch",
    "id": "id",
    "status": "status",
    "lines": "lines",
    "repeats": "repeats",
    "done": "done",
    "failed": "failed",
    "collected": "collected",
}


def _row(batch: Batch) -> dict[str, object]:
    return {
        "number": batch.number,
        "id": batch.batch_id,
        "status": batch.status or batch.state,
        "lines": batch.lines,
        "repeats": batch.repeats,
        "done": batch.done,
        "failed": batch.failed,
        "collected": "yes" if batch.state == "collected" else "no",
    }
