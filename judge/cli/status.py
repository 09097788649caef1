"""Command `judge status`: progress of runs, and how many repeats were answered or failed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from judge.cli.declared import flags_given
from judge.cli.table_options import Form, Full, with_flags

if TYPE_CHECKING:
    from judge.asking.run_folder import ResultFolder


# Way `judge status RUN --verify`: recomputes every hash of a run from its journal, and checks bundles.


def verify(runs: Sequence[Path]) -> None:
    """Check that journals are complete and queries, rendered again, have their hashes; exit code 4 if not. In a bundle,
    every checksum is checked too, and every table is computed again."""
    from judge.asking.run_folder import resolve
    from judge.base.errors import RunFolderError
    from judge.base.printing.text_layout import visible

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
    """False if a file, query or table differs."""
    from judge.base.printing.text_layout import visible
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


def status(
    ctx: typer.Context,
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="run.yaml, its folder, a result folder, or (--verify) a bundle (.zip)"),
    ],
    verify: Annotated[
        bool,
        typer.Option("--verify", help="every hash, checksum and table, computed again; exit code 4 if one differs"),
    ] = False,
    full: Full = False,
    form: Form = "table",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="file for the output, in place of the screen")
    ] = None,
    send: Annotated[
        Literal["go", "pause", "stop"] | None,
        typer.Option("--send", help="go on, pause or stop asking; what is in flight is kept"),
    ] = None,
    connections: Annotated[
        int | None, typer.Option("--connections", help="requests in flight at most, up to the run's concurrency")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="dollars to spend at most, on each judge, earlier sessions included"),
    ] = None,
    again: Annotated[
        Literal["failed"] | None,
        typer.Option("--again", help="ask repeats that were given up once more, after the rest"),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="a line on each change, until the run ends")] = False,
) -> None:
    """Progress of runs: repeats answered and given up (by cause), tokens, cost, hours. Works during a run.

    --set steers a run that goes on, from another terminal: within a second it pauses, goes on, asks fewer at a time,
    keeps to another budget or ends. What was set last stays in the result folder, and the next judge run keeps to it.

    --verify checks that journals are complete and that every query, rendered again, has the hash of its request. In
    a bundle it also checks every checksum, and computes every table again.

    Example: judge status runs/mans-roc

    Example: judge status runs/mans-roc --verify

    Example: judge status runs/mans-roc --set send=pause
    """
    wanted = {"send": send, "connections": connections, "max_cost": max_cost, "again": again}
    if verify:
        _verify(flags_given(ctx), runs)
    elif any(value is not None for value in wanted.values()):
        _steer(runs, wanted, form, output)
    elif follow:
        _follow(runs)
    else:
        _progress(runs, form, output, full=full)


def _verify(flags: Sequence[str], runs: Sequence[Path]) -> None:
    from judge.base.errors import SpecError

    for flag in flags:
        if flag != "--verify":
            raise SpecError(f"{flag} does not go with --verify", hint="--verify prints lines, and no table")
    verify(runs)


def _steer(runs: Sequence[Path], wanted: Mapping[str, Any], form: str, output: Path | None) -> None:
    from judge.asking.run_folder import is_held, resolve
    from judge.asking.run_folder.steering import steer
    from judge.base.errors import SpecError
    from judge.base.printing.text_layout import visible

    if form != "table" or output is not None:
        raise SpecError("steering prints lines, and no table", hint="leave --format and -o out")
    folders = resolve(list(runs))
    imported = next((folder for folder in folders if not folder.journal.is_file()), None)
    if imported is not None:
        raise SpecError(f"the ratings of {imported.path} were imported: nothing is asked there")
    if wanted["connections"] is not None and wanted["connections"] < 1:
        raise SpecError(f"--set connections={wanted['connections']} is below 1", hint="--set send=pause asks nothing")
    if wanted["max_cost"] is not None and not wanted["max_cost"] > 0:
        raise SpecError(f"--set max_cost={wanted['max_cost']:g} is not above 0", hint="--set send=stop ends a run")
    for folder in folders:
        words = steer(folder.path, **wanted).words or "goes on as its definition says"
        words += ": --set send=go goes on" if wanted["send"] == "pause" else ""
        again = "; given-up repeats are asked again after the rest" if wanted["again"] else ""
        runs_now = "" if is_held(folder.path) else " (it does not run now: the next judge run keeps to it)"
        print(visible(f"{folder.path}: {words}{again}{runs_now}"))


# Seconds between two looks at runs that are followed.
_EVERY = 2.0


def _follow(runs: Sequence[Path]) -> None:
    from judge.api import status_row
    from judge.asking.run_folder import is_held, resolve
    from judge.asking.run_folder.steering import read_steering
    from judge.base.printing.text_layout import dollars, visible

    told: dict[Path, str] = {}
    folders = resolve(list(runs))
    while True:
        going = [folder for folder in folders if is_held(folder.path)]
        for folder in folders:
            row = status_row(folder)
            if row.get("answered") is None:
                continue
            words = read_steering(folder.path).words
            line = " · ".join([
                f"{row['judge']}: {row['answered']} of {row['planned'] or '?'} answered",
                *([f"{row['failed']} given up"] if row["failed"] else []),
                *([dollars(row["cost"])] if row["cost"] is not None else []),
                *([words] if words else []),
                *([] if folder in going else ["does not run"]),
            ])  # fmt: skip
            if told.get(folder.path) != line:
                told[folder.path] = line
                print(visible(line), flush=True)
        if not going:
            return
        time.sleep(_EVERY)


def _progress(runs: Sequence[Path], form: str, output: Path | None, *, full: bool) -> None:
    from judge.api import status_row
    from judge.asking.run_folder import resolve
    from judge.asking.run_folder.layout import not_begun
    from judge.asking.run_folder.steering import read_steering
    from judge.base.errors import RunFolderError
    from judge.base.printing.tables import Column, Table
    from judge.cli.table_options import emit

    shards = {run: list(_shards(run)) for run in runs}
    folders = []
    for run in runs:
        try:
            folders += [folder for folder in resolve([run]) if folder not in folders]
        except RunFolderError:
            # Shards that are not merged yet are something to tell of.
            if not shards[run]:
                raise
    rows = [status_row(folder) for folder in folders]
    steered = [read_steering(folder.path).words for folder in folders]
    lacking = [f"{judge} has no results yet: judge run {run} asks it" for run in runs for judge in not_begun(run)]
    lacking += [sentence for sentences in shards.values() for sentence in sentences]
    signature = f"status of {len(rows)} result folder{'s' if len(rows) != 1 else ''}"
    if form == "table":
        from judge.cli.table_options import listing

        if not rows:
            emit(Table("Shards", [], [], signature, lacking), form, output, full=full)
            return
        listed = [
            listing(f"{row['run']}", [*_facts(row), *([("steered", words)] if words else [])])
            for row, words in zip(rows, steered, strict=True)
        ]
        emit([*listed[:-1], replace(listed[-1], signature=signature, notes=lacking)], form, output, full=full)
        return
    columns = [Column(key, title, digits, money=key == "cost") for key, title, digits in _COLUMNS]
    notes = [f"cost of {row['judge']}: {row['cost_basis']}" for row in rows]
    emit(Table("Status", columns, rows, signature, [*dict.fromkeys(notes), *lacking]), form, output, full=full)


# Key, title and decimals of the columns that machines and papers get.
_COLUMNS = (
    ("run", "run", 2),
    ("judge", "judge", 2),
    ("answered", "answered", 2),
    ("planned", "planned", 2),
    ("failed", "given up", 2),
    ("causes", "causes", 2),
    ("batches", "in batches", 2),
    ("attempts", "attempts", 2),
    ("prompt_tokens", "prompt tokens", 2),
    ("cached_tokens", "of them cached", 2),
    ("cache_write_tokens", "of them written into the cache", 2),
    ("completion_tokens", "answer tokens", 2),
    ("reasoning_tokens", "of them thinking", 2),
    ("settings", "settings", 2),
    ("cost", "cost", 2),
    ("hours", "hours", 2),
    ("first_request", "first request", 3),
    ("last_commit", "last commit", 3),
)


def _facts(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    from judge.base.printing.text_layout import dollars, moment

    yield "judge", str(row["judge"])
    if row.get("answered") is None:
        yield "answered", "ratings were imported: nothing was asked here"
        return
    planned = row["planned"]
    # Cut, not rounded: 100.0 % means all.
    share = f" of {planned:,} planned ({1000 * row['answered'] // planned / 10:.1f} %)" if planned else ""
    yield "answered", f"{row['answered']:,}{share}"
    yield "given up", f"{row['failed']:,}" + (f": {row['causes']}" if row["causes"] else "")
    if row["batches"]:
        yield "in batches", str(row["batches"])
    yield "attempts", f"{row['attempts']:,} (requests sent, those sent again after a failure included)"
    if row["prompt_tokens"] is not None:
        cached = f", {row['cached_tokens']:,} of them cached" if row["cached_tokens"] is not None else ""
        if row.get("cache_write_tokens"):
            cached += f" and {row['cache_write_tokens']:,} written into the cache"
        yield "tokens", f"{row['prompt_tokens']:,} of prompts{cached}; {row['completion_tokens'] or 0:,} of answers"
    if row.get("reasoning_tokens"):
        yield "thinking", f"{row['reasoning_tokens']:,} of the answers' tokens"
    if row.get("settings"):
        yield "settings", str(row["settings"])
    if row["cost"] is not None:
        yield "cost", f"{dollars(row['cost'])} ({row['cost_basis']})"
    if row["hours"] is not None:
        yield "hours", f"{row['hours']:.2f}" if row["hours"] >= 0.01 else "less than 0.01"
    for key, name in (("first_request", "first request"), ("last_commit", "last commit")):
        if (when := moment(row[key])) is not None:
            yield name, when.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _shards(run: Path) -> Iterator[str]:
    """One sentence for each judge with unmerged shards."""
    from judge.answers.journal.parts import untaken
    from judge.api import status_row
    from judge.asking.execution.plan_part import parts_in
    from judge.asking.run_folder import ResultFolder
    from judge.asking.run_folder.layout import DEFINITION, results_beside

    definition = run / DEFINITION if run.is_dir() else run
    beside = results_beside(definition) if definition.is_file() else []
    for result in [ResultFolder(run), *beside] if run.is_dir() else beside:
        parts = [
            (shards, status_row(folder))
            for number, shards, folder in parts_in(result)
            if untaken(result.journal, folder.journal, f"{number}-of-{shards}")
        ]
        for split in sorted({shards for shards, _ in parts}):
            rows = [row for shards, row in parts if shards == split]
            whole = sum(row["answered"] + row["failed"] == row["planned"] for row in rows)
            answers = sum(row["answered"] for row in rows)
            yield (
                f"{rows[0]['judge']}: {len(rows)} of {split} shards are not merged, {whole} of them at their end, with "
                f"{answers:,} answers: judge run {run} --merge"
            )
