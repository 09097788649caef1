"""How the judges of a run are asked: by sittings in this process, or by a provider's batch API."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from judge.base.wording import joined
from judge.cli.table_options import complaint, mend

if TYPE_CHECKING:
    from judge.asking.execution.session import Ended, Result, Sitting
    from judge.asking.run_definition.writing import AnySpec
    from judge.asking.run_folder import ResultFolder
    from judge.base.errors import JudgeError
    from judge.exchange.batch.ledger import Batch
    from judge.exchange.batch.requests import Wanted


# Ways `judge run RUN --batch submit`, `status` and `collect`: a run through a provider's batch API. The
# implementation is in `judge.exchange`.


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


def sit_all(
    sittings: list[Sitting], max_cost: float | None, engine: str, ray_address: str, ray_actors: int | None
) -> bool:
    """True if repeats are missing after all judges' sittings. `max_cost` is in dollars, and must be None (SpecError)
    with `engine` "ray"."""
    from judge.base.errors import JudgeError, SpecError

    for sitting in sittings:
        _say_before(sitting)
    if engine == "ray":
        from judge.asking.execution.ray.engine import Cluster, sit_on_ray
        from judge.asking.execution.session import Ended

        if max_cost is not None:
            raise SpecError("max_cost cannot be kept with --engine ray", hint="leave max_cost out, or --engine")
        if len(sittings) == 1:
            return report(sittings[0], sit_on_ray(sittings[0], Cluster(ray_address, ray_actors)))
        ended = []
        for sitting in sittings:
            try:
                ended.append(Ended(sitting, sit_on_ray(sitting, Cluster(ray_address, ray_actors))))
            except JudgeError as error:
                ended.append(Ended(sitting, error=error))
        return report_all(ended)
    if len(sittings) == 1:
        from judge.asking.execution.session import sit

        return report(sittings[0], sit(sittings[0]))
    from judge.asking.execution.session import sit_side_by_side

    _settle_trust(sittings)
    return report_all(sit_side_by_side(sittings, max_cost=max_cost))


def _settle_trust(sittings: list[Sitting]) -> None:
    """On a terminal, UntrustedHostError before any request, so that the user can be asked. Without one, only the judge
    in question fails later."""
    from judge.asking.execution.session import charged, settings_of
    from judge.backends import open_backend
    from judge.base.credentials.trust import UntrustedHostError
    from judge.base.errors import JudgeError

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    for sitting in filter(lambda one: charged(one.spec), sittings):
        try:
            open_backend(sitting.spec.judge, settings_of(sitting.spec, sitting.folder, sitting.result))
        except UntrustedHostError:
            raise
        except JudgeError:
            continue  # The judge's own line says it.


def _say_before(sitting: Sitting) -> None:
    from judge.asking.execution.part_merge import not_merged
    from judge.asking.in_force.settings import warnings
    from judge.exchange.batch.ledger import in_flight_note

    if sitting.part is None and (parts := not_merged(sitting.result)):
        sys.stderr.write(
            f"{parts} of this run are not merged; what they answered is asked again here: judge run --merge first\n"
        )
    if (waiting := in_flight_note(sitting.result)) is not None:
        sys.stderr.write(f"{waiting} of this run are not collected yet; what is asked here too is paid for twice\n")
    if not sitting.quiet:
        sys.stderr.write(f"{sitting.spec.judge} -> {sitting.result.path}{_asked_at(sitting.spec)}\n")
        sys.stderr.writelines(f"{warning}\n" for warning in warnings(sitting.spec))


def _asked_at(spec: AnySpec) -> str:
    """Empty if the definition gives no address."""
    from judge.base.credentials.written_keys import origin_of

    return (
        f", asked at {', '.join(dict.fromkeys(str(origin_of(url)) for url in spec.base_url))}" if spec.base_url else ""
    )


def _command(sitting: Sitting) -> str:
    from judge.asking.run_definition.spec import RunSpec

    asks = "judge run" if isinstance(sitting.spec, RunSpec) else "judge data generate"
    return f"{asks} {sitting.result.path.parent}"


def report_all(ended: Sequence[Ended]) -> bool:
    """Print how each judge's run ended; True if repeats are missing. Raises JudgeError if one ended with an error."""
    from judge.asking.execution.session import names
    from judge.base.errors import JudgeError

    failed, missing = [], []
    for run_end, name in zip(ended, names([run_end.sitting for run_end in ended]), strict=True):
        try:
            if run_end.error is not None:
                raise run_end.error
            if run_end.result is not None and report(run_end.sitting, run_end.result, f"{name}: "):
                missing.append(name)
        except JudgeError as error:
            failed.append(name)
            sys.stderr.write(f"{name}: {complaint(error)}\n" + (f"  hint: {mend(error)}\n" if error.hint else ""))
    if failed:
        others = len(ended) - len(failed)
        rest = f"; {others - len(missing)} of the others are complete" if others else ""
        raise JudgeError(
            f"{len(failed)} of {len(ended)} judges ended with an error: {', '.join(failed)}{rest}",
            hint="mend what the lines above say; the same command then asks only what is missing",
        )
    return bool(missing)


def report(sitting: Sitting, ended: Result, name: str = "") -> bool:
    """Print how a run ended, with `name` before each line; True if repeats are missing. Raises JudgeError if no request
    was answered, or if an error stopped the run."""
    from judge.answers.journal import JournalReader
    from judge.base.errors import JudgeError
    from judge.base.printing.text_layout import dollars, implausible_costs

    outcomes, totals, where = ended.outcomes, ended.totals, sitting.result.path
    if totals.answered == 0 and ended.missing:
        cause: Any = outcomes.cause
        if cause is None:
            with JournalReader(sitting.result.journal) as journal:
                cause = journal.latest_error()
            cause = JudgeError(cause[1] if cause else outcomes.stopped or "nothing was asked")
        raise JudgeError(joined("no query was answered: ", cause.sentence), hint=cause.hint)
    parts = [f"{outcomes.answered} answered"]
    if ended.reused:
        parts.append(f"{ended.reused} reused")
    if totals.failed:
        parts.append("given up: " + ", ".join(f"{count} {kind}" for kind, count in totals.failed.items()))
    if outcomes.retries:
        parts.append(f"{outcomes.retries} retries")
    if outcomes.known_cost:
        parts.append(dollars(outcomes.known_cost))
    if outcomes.implausible:
        parts.append(implausible_costs(outcomes.implausible))
    if not sitting.quiet:
        there = ended.planned - ended.missing if sitting.part is not None else totals.answered
        sys.stderr.write(f"{name}{', '.join(parts)}; {there} of {ended.planned} in {where}\n")
    if outcomes.stopped and outcomes.cause is not None:
        again = f"then go on with: {_command(sitting)}" if sitting.part is None else "then run the shard again"
        raise JudgeError(f"stopped: {outcomes.stopped}", hint=outcomes.cause.hint or again)
    if outcomes.stopped and ended.missing:
        from judge.asking.run_folder.steering import read_steering

        steered = read_steering(sitting.result.path).send == "stop"
        first = f"judge status {sitting.result.path} --set send=go, then " if steered else ""
        sys.stderr.write(f"{name}stopped: {outcomes.stopped}; {first}the same command goes on\n")
    elif ended.missing and totals.failed:
        sys.stderr.write(
            f"{name}{ended.missing} repeats are missing; ask the failed ones again: judge run {where} --retry\n"
        )
    elif ended.missing and sitting.again is not None:
        sys.stderr.write(f"{name}{ended.missing} repeats were never asked; go on with: {_command(sitting)}\n")
    return ended.missing > 0
