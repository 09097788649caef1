"""One sitting of a run: prepare, probe, ask, note in the manifest what was in force. Never prints but progress."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judge.backends import Backend, Settings, open_backend
from judge.backends.protocol import Rehearsing
from judge.errors import BackendError, RunFolderError, SpecError
from judge.execution.notes import closed, opened
from judge.execution.preparation import Prepared, prepare
from judge.execution.progress import Progress
from judge.execution.rehearsal import Early, first_of, rehearse
from judge.execution.runner import Outcomes, Run, split_calls, works
from judge.execution.schedule import Work
from judge.journal import JournalReader, JournalWriter, Totals, fold
from judge.parsing import parser as load_parser
from judge.parsing.stored_answers import read_response
from judge.plan import Plan, load_prices, make_plan
from judge.plan.prices import user_price_file
from judge.records import Query, Story
from judge.run_folder import ResultFolder, lock, read_manifest, write_manifest
from judge.run_spec import RunSpec

Again = Literal["failed", "unparsed"]


@dataclass(frozen=True, slots=True)
class Sitting:
    """What to do in one sitting. `again` asks only what failed (or also what did not parse); None = what is missing."""

    spec: RunSpec
    folder: Path
    result: ResultFolder
    limit: int | None = None
    again: Again | None = None
    reuse: Path | None = None
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """How the sitting ended. `missing` counts repeats of the whole plan (within `limit`) without an answer."""

    outcomes: Outcomes
    totals: Totals
    planned: int
    missing: int
    reused: int
    seconds: float
    parsed: float | None
    unparsed_example: str | None


def sit(sitting: Sitting) -> Result:
    """Run one sitting to its end. Raises JudgeError for everything a user can mend."""
    if sitting.spec.max_cost is not None and load_prices(sitting.spec.judge) is None:
        raise SpecError(
            f"max_cost is set and no price is known for {sitting.spec.judge}: it could not be kept",
            hint=f"add the price to {user_price_file()}, or leave max_cost out",
        )
    plan = make_plan(sitting.spec, folder=sitting.folder)
    backend = open_backend(sitting.spec.judge, settings_of(sitting.spec, sitting.result))
    with lock(sitting.result.path):
        try:
            return asyncio.run(_sit(sitting, plan, backend))
        finally:
            if sitting.result.journal.exists():
                fold(sitting.result.journal)


async def _sit(sitting: Sitting, plan: Plan, backend: Backend) -> Result:
    began = time.time()
    try:
        # A wrong address or key should be told before a large dataset is read.
        server = dict(await backend.probe())
        new, before = not sitting.result.journal.exists(), read_manifest(sitting.result.manifest)
        prepared = prepare(plan, sitting.folder, sitting.result)
        note = {"began": began, "executor": sitting.spec.provider}
        write_manifest(sitting.result.manifest, opened(sitting.spec, sitting.result, prepared, server, note))
        try:
            with JournalReader(sitting.result.journal) as journal:
                reused = await take_reused(sitting, plan, prepared, journal)
                return await _ask(sitting, plan, backend, prepared, journal, reused, began)
        except NotBegunError as error:
            if not new:
                write_manifest(sitting.result.manifest, before)
            elif sitting.reuse is None:
                # Nothing was asked: the folder is left as it was found, for another definition too.
                sitting.result.journal.unlink()
                sitting.result.manifest.unlink()
            raise error.cause from None
    finally:
        await backend.close()


async def _ask(
    sitting: Sitting,
    plan: Plan,
    backend: Backend,
    prepared: Prepared,
    journal: JournalReader,
    reused: int,
    began: float,
) -> Result:
    spec = sitting.spec
    stories = min(prepared.stories, sitting.limit or prepared.stories)
    planned = stories * plan.queries_per_story * spec.repeats
    price = load_prices(spec.judge)
    settled = _settled(sitting, prepared, journal, reused)
    parser = None if sitting.quiet else load_parser("ours")
    progress = Progress(
        planned, parser=parser, quiet=sitting.quiet, cost=(lambda: run.outcomes.cost) if price is not None else None
    )
    groups = works(plan.groups(stories_of(sitting, journal)), spec.repeats, settled, progress.skipped)
    early, groups = await _first(backend, groups)
    await _note_what_was_learnt(sitting, backend)
    with JournalWriter(
        sitting.result.journal,
        executor=spec.provider,
        replacing=sitting.again == "unparsed",
        on_commit=lambda done: progress.committed(done.answered, done.failed),
    ) as writer:
        run = Run(
            backend,
            writer,
            concurrency=spec.concurrency,
            max_attempts=spec.max_attempts,
            price=price,
            max_cost=spec.max_cost,
            watch=None if sitting.quiet else progress.watch,
            early=early,
        )
        with progress, _interruptible(run):
            outcomes = await run.ask(split_calls(groups, backend))
    totals = journal.totals()
    notices = getattr(backend, "notices", ())
    if not sitting.quiet:
        sys.stderr.writelines(f"{notice}\n" for notice in notices)
    manifest = read_manifest(sitting.result.manifest)
    write_manifest(
        sitting.result.manifest, closed(manifest, totals, outcomes, began, notices, priced=price is not None)
    )
    answered = progress.done if sitting.limit else totals.answered
    return Result(
        outcomes,
        totals,
        planned,
        max(planned - answered, 0),
        reused,
        time.time() - began,
        progress.parsed_share,
        progress.unparsed_example,
    )


class NotBegunError(Exception):
    """The first query showed that no query can be answered; `cause` says why."""

    def __init__(self, cause: BackendError) -> None:
        super().__init__(str(cause))
        self.cause = cause


async def _first(backend: Backend, groups: Iterator[list[Work]]) -> tuple[Early | None, Iterator[list[Work]]]:
    """Send the plan's first query ahead of the others; returns its call and the whole plan."""
    work, groups = first_of(split_calls(groups, backend))
    try:
        return await rehearse(backend, work), groups
    except BackendError as error:
        raise NotBegunError(error) from error


async def _note_what_was_learnt(sitting: Sitting, backend: Backend) -> None:
    """Put into the manifest what the first query taught of the server."""
    if not isinstance(backend, Rehearsing):
        return
    manifest = read_manifest(sitting.result.manifest)
    server = manifest["in_force"]["server"]
    learnt = {**server, **await backend.facts()}
    if learnt != server:
        manifest["in_force"]["server"] = learnt
        write_manifest(sitting.result.manifest, manifest)


def _settled(
    sitting: Sitting, prepared: Prepared, journal: JournalReader, reused: int
) -> Callable[[Query], set[int]] | None:
    """Which repeats of a query not to ask."""
    everything = set(range(sitting.spec.repeats))
    if sitting.again == "failed":
        return lambda query: everything - journal.failed(query.key)
    if sitting.again == "unparsed":
        parser = load_parser("ours")

        def without_rating(query: Query) -> set[int]:
            again = journal.failed(query.key)
            for repeat, response in journal.recorded(query.key).items():
                if read_response(parser, response, query).rating is None:
                    again.add(repeat)
            return everything - again

        return without_rating
    return (lambda query: journal.settled(query.key)) if prepared.resumed or reused else None


def stories_of(sitting: Sitting, journal: JournalReader) -> Callable[[], Iterator[Story]]:
    """Opens the plan's stories in plan order, the first `limit` of them."""

    def stories() -> Iterator[Story]:
        for count, story in enumerate(journal.stories(by_prompt=True, ratings=False), 1):
            yield story
            if count == sitting.limit:
                return

    return stories


async def take_reused(sitting: Sitting, plan: Plan, prepared: Prepared, journal: JournalReader) -> int:
    """Copy answers to equal queries from another run of the same judge; returns how many."""
    if sitting.reuse is None:
        return 0
    other = ResultFolder(sitting.reuse)
    with JournalReader(other.journal) as source:
        definition = source.meta().get("definition", {})
        if definition.get("judge_key") != prepared.definition["judge_key"]:
            raise RunFolderError(
                f"--reuse {sitting.reuse}: those answers come from another judge",
                hint="only answers of the same provider, model or identity, revision and engine may be reused",
            )
        count = 0
        with JournalWriter(sitting.result.journal, executor=f"reused from {sitting.reuse.name}") as writer:
            writer.start()
            for group in plan.groups(stories_of(sitting, journal)):
                for query in group:
                    found = source.recorded(query.key)
                    for repeat in sorted(found.keys() - journal.settled(query.key)):
                        if repeat < sitting.spec.repeats:
                            writer.answered(query, repeat, found[repeat], started=time.time(), seconds=0.0)
                            count += 1
                await writer.room()
            await writer.finish("done")
    return count


@contextlib.contextmanager
def _interruptible(run: Run) -> Iterator[None]:
    """First Ctrl-C: ask nothing new and keep what is in flight. Second: leave at once."""
    loop = asyncio.get_running_loop()
    pressed: list[int] = []

    def interrupted() -> None:
        pressed.append(1)
        if len(pressed) == 1:
            sys.stderr.write("\nstopping: waiting for what is in flight (Ctrl-C again: leave it)\n")
            run.stop("interrupted")
        else:
            run.abandon()

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupted)
    except (ValueError, NotImplementedError, RuntimeError):  # no signals off the main thread (notebooks) or on Windows
        yield
        return
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def settings_of(spec: RunSpec, result: ResultFolder | None = None) -> Settings:
    """How the run wants its back-end opened; what servers teach is kept in the result folder."""
    return Settings(
        base_url=tuple(spec.base_url),
        revision=spec.revision,
        engine=spec.engine,
        attempt_timeout=spec.attempt_timeout,
        concurrency=spec.concurrency,
        seed=spec.generation.seed,
        api=spec.api,
        probe_timeout=spec.probe_timeout,
        terms_file=None if result is None else result.server_terms,
    )
