"""One session of a run (one execution of `judge run`): preparation, probe of the server, requests, manifest entry; and
several sessions side by side."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

from judge.answers.journal import JournalReader, JournalWriter, Totals, fold
from judge.answers.journal.parts import coverage
from judge.answers.journal.spending import REUSED
from judge.answers.parsing import parser as load_parser
from judge.answers.parsing.stored_answers import was_read
from judge.asking.execution.helm import Helm
from judge.asking.execution.notes import closed, opened, with_seen
from judge.asking.execution.plan_part import PlanPart, whole_of
from judge.asking.execution.preparation import Prepared, prepare
from judge.asking.execution.progress import Board, Line, Progress, watched
from judge.asking.execution.sending.pace import FormWatch, Pace
from judge.asking.execution.sending.runner import Interruption, Outcomes, Run, split_calls, works
from judge.asking.execution.sending.schedule import Early, Work, first_of, rehearse, with_cache_points
from judge.asking.execution.sending.stopping import Account, Budget
from judge.asking.plan import AnyPlan, WritingPlan, load_prices, plan_of
from judge.asking.plan.prices import how_to_price, reports_cost
from judge.asking.run_definition.writing import AnySpec
from judge.asking.run_folder import ResultFolder, folder_cost, lock, read_manifest, write_manifest
from judge.backends import IN_PROCESS, Backend, Settings, open_backend
from judge.backends.protocol import Rehearsing
from judge.base.credentials.providers import MODELLESS, PROTOCOLS, addresses_of
from judge.base.credentials.trust import on_this_machine
from judge.base.errors import BackendError, JudgeError, RunFolderError, SpecError
from judge.base.printing.text_layout import dollars
from judge.base.records import Commission, Request
from judge.base.wording import Advice

Again = Literal["failed", "unparsed"]
Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Sitting:
    """What one session has to do. `limit`: the plan's first stories or pairs (None: all). `reuse`: a run from which
    equal queries' answers are copied. `again`: repeat only failed (or also unparsed) queries. `part`: a part of the
    plan; `result` is then its own folder, and what is settled in the whole plan's is not requested again."""

    spec: AnySpec
    folder: Path
    result: ResultFolder
    limit: int | None = None
    again: Again | None = None
    reuse: Path | None = None
    quiet: bool = False
    part: PlanPart | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a session. Only the repeats of its part or limit count as `planned` and `missing`. `totals` is what the
    folder holds. `parsed` is the share of sampled answers with a rating or verdict (None: no sample), and
    `unparsed_example` begins an answer without."""

    outcomes: Outcomes
    totals: Totals
    planned: int
    missing: int
    reused: int
    seconds: float
    parsed: float | None
    unparsed_example: str | None


@dataclass(frozen=True, slots=True)
class Beside:
    """What a command's parallel sessions share; empty for a single one. `budget` limits what they spend together."""

    interruption: Interruption
    budget: Budget | None = None
    line: Line | None = None


def sit(sitting: Sitting) -> Result:
    """Run one session to its end. Raises JudgeError for every problem that a user can fix."""
    return _in_a_loop(sit_beside(sitting, Beside(Interruption())))


def _in_a_loop(work: Coroutine[Any, Any, Kind]) -> Kind:
    # uvloop takes less of the processor for each request; it is an extra, and not for Windows.
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)


async def sit_beside(sitting: Sitting, beside: Beside) -> Result:
    """Run one session to its end, possibly in parallel with others."""
    spec = sitting.spec
    if not charged(spec):
        # What costs nothing spends from no budget.
        beside = replace(beside, budget=None)
        if spec.max_cost is not None:
            spec = spec.model_copy(update={"max_cost": None})
            sitting = replace(sitting, spec=spec)
    if (spec.max_cost is not None or beside.budget is not None) and not _cost_will_be_known(sitting):
        raise SpecError(
            f"max_cost is set and no price is known for {spec.judge}: it could not be kept",
            hint=Advice(
                "{}; where the server names the cost of its answers itself, "
                "ask a few with {pilot} and without max_cost first",
                how_to_price(spec.judge),
                pilot=2,
            ),
        )
    plan = plan_of(sitting.spec, folder=sitting.folder)
    backend = open_backend(sitting.spec.judge, settings_of(sitting.spec, sitting.folder, sitting.result))
    with lock(sitting.result.path):
        try:
            return await _sit(sitting, plan, backend, beside)
        finally:
            if sitting.result.journal.exists():
                fold(sitting.result.journal)


def charged(spec: AnySpec) -> bool:
    """Whether the judge's answers cost money. Local models without a listed price count as free."""
    free = spec.provider in MODELLESS
    local = spec.provider in IN_PROCESS and load_prices(spec.judge, spec.base_url, spec.engine) is None
    return not (free or local)


def _cost_will_be_known(sitting: Sitting) -> bool:
    spec = sitting.spec
    if load_prices(spec.judge, spec.base_url, spec.engine) is not None or reports_cost(spec.base_url):
        return True
    if not sitting.result.journal.is_file():
        return False
    with JournalReader(sitting.result.journal) as journal:
        return journal.spending().reported_calls > 0


async def _sit(sitting: Sitting, plan: AnyPlan, backend: Backend, beside: Beside) -> Result:
    began = time.time()
    try:
        # A wrong address or key should be told before a large dataset is read.
        server = dict(await backend.probe())
        new, before = not sitting.result.journal.exists(), read_manifest(sitting.result.manifest)
        prepared = prepare(plan, sitting.folder, sitting.result, sitting.part)
        note = {"began": began, "executor": sitting.spec.provider, "server": server.get("servers") or []}
        write_manifest(sitting.result.manifest, opened(sitting.spec, sitting.result, prepared, server, note))
        try:
            with JournalReader(sitting.result.journal) as journal, _whole(sitting) as whole:
                reused = await take_reused(sitting, plan, prepared, journal)
                settled = _settled(sitting, prepared, journal, reused, whole)
                begun = _Begun(journal, reused, began, settled)
                return await _ask(sitting, plan, backend, begun, beside)
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


# Which repeats of a query not to ask.
Settled = Callable[[Request], set[int]]


@dataclass(frozen=True, slots=True)
class _Begun:
    # `settled` gives a query's repeats that are not to be requested; None: all are to be requested.
    journal: JournalReader
    reused: int
    began: float
    settled: Settled | None


async def _ask(sitting: Sitting, plan: AnyPlan, backend: Backend, begun: _Begun, beside: Beside) -> Result:
    spec, journal = sitting.spec, begun.journal
    planned = journal.subject_count(sitting.limit) * plan.queries_per_subject * spec.repeats
    pace = _pace(sitting)
    own = None if spec.max_cost is None else budget_of(spec.max_cost, sitting.part, before=spent_before(sitting))
    account = Account([budget for budget in (own, beside.budget) if budget is not None])
    progress = Progress(
        planned,
        parser=None if sitting.quiet or isinstance(plan, WritingPlan) else load_parser("ours"),
        quiet=sitting.quiet,
        cost=lambda: run.outcomes.known_cost,
        waits=lambda: pace.waits,
        trouble=lambda: run.trouble,
        paused=lambda: helm.paused,
        judge=spec.judge,
        board=beside.line,
    )
    helm = _helm(sitting, account, own, progress)
    groups = works(plan.asked_in(journal, sitting.limit), spec.repeats, begun.settled, progress.skipped)

    def given_up() -> Iterator[list[Work]]:
        everything = set(range(spec.repeats))
        asked = plan.asked_in(journal, sitting.limit)
        for group in works(asked, spec.repeats, lambda query: everything - journal.failed(query.key)):
            count = sum(len(work.repeats) for work in group)
            progress.asked_again(count)
            run.outcomes.failed -= count
            yield group

    groups = with_cache_points(chain(groups, helm.asked_again(given_up)), backend.capabilities.cache_points)
    early = None
    if await helm.may_begin():
        async with watched(progress):
            early, groups = await _first(backend, groups, pace, account)
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
            price=load_prices(spec.judge, spec.base_url, spec.engine),
            account=account,
            pace=pace,
            watch=None if sitting.quiet else progress.watch,
            form=FormWatch(spec.judge, _addresses(spec)),
            early=early,
        )
        beside.interruption.asks(run)
        with progress, beside.interruption.caught():
            async with helm.at(run), watched(progress):
                outcomes = await run.ask(split_calls(groups, backend))
    return _closed(sitting, backend, begun, outcomes, progress)


def _helm(sitting: Sitting, account: Account, own: Budget | None, progress: Progress) -> Helm:
    def pays(most: float) -> Budget:
        # What this session spent is in its account, and in the journal too.
        before = max(0.0, spent_before(sitting) - account.spent) if own is None else own.before
        return budget_of(most, sitting.part, before=before)

    folder = sitting.result if sitting.part is None else whole_of(sitting.result)
    return Helm(folder.path, account, own, pays if charged(sitting.spec) else None, progress.changed)


def _closed(sitting: Sitting, backend: Backend, begun: _Begun, outcomes: Outcomes, progress: Progress) -> Result:
    # The manifest holds what the session came to.
    spec, journal = sitting.spec, begun.journal
    totals = journal.totals()
    notices = getattr(backend, "notices", ())
    if not sitting.quiet:
        sys.stderr.writelines(f"{notice}\n" for notice in notices)
    several = backend.capabilities.repeats_per_call != 1 if outcomes.answered and spec.repeats > 1 else None
    manifest = with_seen(read_manifest(sitting.result.manifest), spec, journal, several)
    write_manifest(sitting.result.manifest, closed(manifest, journal, outcomes, begun.began, notices))
    answered = progress.done if sitting.limit else totals.answered
    if sitting.part is not None:
        answered = coverage(sitting.result.journal, whole_of(sitting.result).journal).answered
    return Result(
        outcomes,
        totals,
        progress.total,
        max(progress.total - answered, 0),
        begun.reused,
        time.time() - begun.began,
        progress.parsed_share,
        progress.unparsed_example,
    )


class NotBegunError(Exception):
    """Raised when the first query fails in a way that would affect every query; `cause` is its error."""

    def __init__(self, cause: BackendError) -> None:
        super().__init__(str(cause))
        self.cause = cause


async def _first(
    backend: Backend, groups: Iterator[list[Work]], pace: Pace, account: Account
) -> tuple[Early | None, Iterator[list[Work]]]:
    work, groups = first_of(split_calls(groups, backend))
    if work is None or not await account.admit():
        return None, groups
    early = None
    try:
        early = await rehearse(backend, work)
    except BackendError as error:
        raise NotBegunError(error) from error
    finally:
        if early is None:
            await account.settle()
    if early is not None:
        early.tokens = pace.ahead(work)
    return early, groups


async def _note_what_was_learnt(sitting: Sitting, backend: Backend) -> None:
    if not isinstance(backend, Rehearsing):
        return
    manifest = read_manifest(sitting.result.manifest)
    server = manifest["in_force"]["server"]
    learnt = {**server, **await backend.facts()}
    if learnt != server:
        manifest["in_force"]["server"] = learnt
        write_manifest(sitting.result.manifest, manifest)


@contextlib.contextmanager
def _whole(sitting: Sitting) -> Iterator[JournalReader | None]:
    # None where the session runs the whole plan.
    whole = None if sitting.part is None else whole_of(sitting.result).journal
    if whole is None or not whole.is_file():
        yield None
        return
    with JournalReader(whole) as journal:
        yield journal


def _settled(
    sitting: Sitting, prepared: Prepared, journal: JournalReader, reused: int, whole: JournalReader | None
) -> Settled | None:
    everything = set(range(sitting.spec.repeats))
    if sitting.again == "failed":
        return lambda query: everything - journal.failed(query.key)
    if sitting.again == "unparsed":
        parser, names = load_parser("ours"), prepared.definition["criteria"]["names"]

        def without_rating(query: Request) -> set[int]:
            again = journal.failed(query.key)
            if isinstance(query, Commission):
                return everything - again
            for repeat, response in journal.recorded(query.key).items():
                if not was_read(parser, response, query, names)[0]:
                    again.add(repeat)
            return everything - again

        return without_rating
    if whole is not None:
        return lambda query: journal.settled(query.key) | whole.settled(query.key)
    return (lambda query: journal.settled(query.key)) if prepared.resumed or reused else None


def budget_of(most: float, part: PlanPart | None, owner: str = "this run", before: float = 0.0) -> Budget:
    """Budget of a run or, as parts do not communicate, a part's fixed share. `most` is in dollars, `owner` its name in
    messages. Resuming does not renew it: `before` is what earlier sessions spent."""
    if part is None:
        return Budget(most, owner, before)
    return Budget(most * part.share, f"shard {part}, its share of {dollars(most)},", before)


def spent_before(sitting: Sitting) -> float:
    """Dollars that earlier sessions spent in this result folder, as far as costs are known."""
    if not charged(sitting.spec) or not sitting.result.journal.is_file():
        return 0.0
    return folder_cost(sitting.result).dollars or 0.0


def _pace(sitting: Sitting) -> Pace:
    # A part of the plan has a share of the limits.
    spec, share = sitting.spec, 1.0 if sitting.part is None else sitting.part.share
    limits = (spec.requests_per_minute, spec.tokens_per_minute)
    return Pace(*(None if most is None else most * share for most in limits), learns=len(spec.base_url) < 2)


async def take_reused(sitting: Sitting, plan: AnyPlan, prepared: Prepared, journal: JournalReader) -> int:
    """Copy answers to equal queries from another run of the same judge; their number."""
    if sitting.reuse is None:
        return 0
    other = ResultFolder(sitting.reuse)
    with JournalReader(other.journal) as source:
        definition = source.meta().get("definition", {})
        if definition.get("judge_key") != prepared.definition["judge_key"]:
            raise RunFolderError(
                Advice("{reuse}: those answers come from another judge", reuse=str(sitting.reuse)),
                hint="only answers of the same provider, model or identity, revision and engine may be reused",
            )
        count = 0
        with JournalWriter(sitting.result.journal, executor=f"{REUSED}{sitting.reuse.name}") as writer:
            writer.start()
            for group in plan.asked_in(journal, sitting.limit):
                for query in group:
                    recorded = source.recorded(query.key)
                    for repeat in sorted(recorded.keys() - journal.settled(query.key)):
                        if repeat < sitting.spec.repeats:
                            writer.answered(query, repeat, recorded[repeat], started=time.time(), seconds=0.0)
                            count += 1
                await writer.room()
            await writer.finish("done")
    return count


def _addresses(spec: AnySpec) -> Sequence[str]:
    # Empty for a model in this process.
    return addresses_of(spec.base_url, spec.provider) if spec.provider in PROTOCOLS else ()


def settings_of(spec: AnySpec, folder: Path | None, result: ResultFolder | None = None) -> Settings:
    """Settings that open the run's back-end. `folder` is the definition's (None: given on the command line). `result`
    stores what it learns from refusals; with None, nothing is stored."""
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
        headers=spec.headers,
        api_key_env=spec.api_key_env,
        trusted=on_this_machine(spec.base_url, folder),
    )


# Runs several judges of one run in parallel, in one process. If one judge fails, the others continue.


@dataclass(frozen=True, slots=True)
class Ended:
    """Outcome of one judge's session: exactly one of `result` and `error` is set."""

    sitting: Sitting
    result: Result | None = None
    error: JudgeError | None = None


def names(sittings: Sequence[Sitting]) -> list[str]:
    """Each judge's name for its progress line, with the revision where two judges have the same name."""
    judges = [sitting.spec.judge for sitting in sittings]
    return [
        judge if judges.count(judge) == 1 else f"{judge}@{sitting.spec.revision}"
        for judge, sitting in zip(judges, sittings, strict=True)
    ]


def sit_side_by_side(sittings: Sequence[Sitting], *, max_cost: float | None = None) -> list[Ended]:
    """Run the sessions in parallel, together for at most `max_cost` dollars; their outcomes in the order given."""
    return _in_a_loop(_run_all(sittings, max_cost))


async def _run_all(sittings: Sequence[Sitting], max_cost: float | None) -> list[Ended]:
    interruption = Interruption()
    budget = None
    if max_cost is not None:
        before = sum(map(spent_before, sittings))
        budget = budget_of(max_cost, sittings[0].part, "all judges of this command", before)
    called = names(sittings)
    engine = asyncio.Lock()
    with interruption.caught(), Board(called, quiet=all(sitting.quiet for sitting in sittings)) as board:
        tasks = []
        for sitting, name in zip(sittings, called, strict=True):
            line = board.line_of(name)
            # Two models may not fit into this process beside each other.
            turn = engine if sitting.spec.provider in IN_PROCESS else contextlib.nullcontext()
            task = asyncio.create_task(_run_one(sitting, Beside(interruption, budget, line), line, turn))
            interruption.prepares(task)
            tasks.append(task)
        # Whatever happens to one, the others come to their own ends; a bug is raised after that.
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in ended:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in ended if isinstance(outcome, Ended)]


async def _run_one(sitting: Sitting, beside: Beside, line: Line, turn: AbstractAsyncContextManager[None]) -> Ended:
    try:
        async with turn:
            result = await sit_beside(sitting, beside)
    except JudgeError as error:
        line.end("failed")
        return Ended(sitting, error=error)
    except asyncio.CancelledError:
        line.end("interrupted")
        return Ended(sitting, error=JudgeError("interrupted before the first request"))
    line.end(_how(result))
    return Ended(sitting, result)


def _how(result: Result) -> str:
    if result.outcomes.stopped and result.missing:
        return "stopped"
    return f"{result.missing} missing" if result.missing else "done"
