"""What workers on Ray are given and do: blocks, and the stages that answer them by HTTP or vLLM.

Blocks of queries that the driver sends to Ray workers as bytes, made when needed. A prefix group (prompts with a
common beginning) is never divided, so that a worker can use its prefix cache. `Feed`, a Ray actor between driver and
workers, holds a few blocks and hands one out again if its worker was killed."""

from __future__ import annotations

import asyncio
import contextlib
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson

from judge.asking.execution.ray.shards import ShardWriter, answered_row, failed_row, settled_in, write_shard
from judge.asking.execution.sending.pace import FormWatch
from judge.asking.execution.sending.runner import Outcomes, Run, split_calls
from judge.asking.execution.sending.schedule import Work
from judge.asking.run_definition.writing import AnySpec
from judge.backends import Backend, Settings, open_backend
from judge.backends.dialect import joined
from judge.base.credentials.providers import JudgeName
from judge.base.errors import BackendError, MissingExtraError, SpecError
from judge.base.records import Commission, Criterion, Generation, Message, Query, Request, Response, Story, StoryPrompt
from judge.base.wording import Advice
from judge.version import __version__

# Workers that may die over one block. Ray starts dead workers again for ever; a block that kills each is given up.
MOST_WORKERS = 5

# Queries of one prefix group, each with its repeats still to be asked.
Group = list[tuple[Request, tuple[int, ...]]]


def blocks(groups: Iterator[list[Work]], size: int) -> Iterator[list[Group]]:
    """Blocks of whole prefix groups, with at least `size` calls each, except the last."""
    block: list[Group] = []
    count = 0
    for group in groups:
        if not group:
            continue
        block.append([(work.query, work.repeats) for work in group])
        count += len(group)
        if count >= size:
            yield block
            block, count = [], 0
    if block:
        yield block


def encode(block: list[Group]) -> bytes:
    """A block as compressed bytes. Stories, story-prompts and criteria are stored once."""
    stories: dict[str, list[Any]] = {}
    criteria: dict[str, dict[str, Any]] = {}
    groups = []
    for group in block:
        members = []
        for query, repeats in group:
            messages = [(message.role, message.content) for message in query.messages]
            sampled = query.generation
            generation = [sampled.temperature, sampled.top_p, sampled.max_tokens, sampled.seed, sampled.stop]
            common: list[Any] = [query.key, messages, generation, query.api, query.flags, repeats]
            if isinstance(query, Commission):
                wanted = query.wanted
                members.append([*common, [wanted.id, wanted.text, wanted.reference, query.writer_prompt], None])
                continue
            story, criterion = query.story, query.criterion
            for shown in (story, query.other) if query.other is not None else (story,):
                stories[shown.id] = [shown.id, shown.story_prompt, shown.system, shown.text, shown.reference]
            for criterion_asked in query.criteria or (criterion,):
                criteria[criterion_asked.name] = criterion_asked.record()
            asked: list[Any] = [story.id, criterion.name, query.eval_prompt, query.structured, query.scoring]
            compared = None if query.other is None else [query.other.id, query.pair, query.choices]
            names = [criterion_asked.name for criterion_asked in query.criteria]
            members.append([*common, None, [*asked, query.asks_explanation, compared, names]])
        groups.append(members)
    # A story stands in the messages of all its queries: even the fastest compression takes nearly all of that away.
    return zlib.compress(orjson.dumps([list(stories.values()), list(criteria.values()), groups]), 1)


def decode(data: bytes) -> list[Group]:
    """The block that `encode` converted to bytes, without human ratings."""
    story_rows, criteria_told, groups = orjson.loads(zlib.decompress(data))
    stories = {row[0]: Story(*row) for row in story_rows}
    criteria = {record["name"]: Criterion.of(record) for record in criteria_told}
    return [[_request(member, stories, criteria) for member in group] for group in groups]


def _request(
    member: list[Any], stories: dict[str, Story], criteria: dict[str, Criterion]
) -> tuple[Request, tuple[int, ...]]:
    key, sent, (temperature, top_p, max_tokens, seed, stop), api, flags, repeats, written, judged = member
    messages = tuple(Message(role, content) for role, content in sent)
    generation = Generation(temperature, top_p, max_tokens, seed, tuple(stop))
    if written is not None:
        wanted, writer_prompt = StoryPrompt(*written[:3]), written[3]
        return Commission(key, wanted, writer_prompt, messages, generation, api, flags=tuple(flags)), tuple(repeats)
    story, criterion, eval_prompt, structured, scoring, asks, compared, names = judged
    together = tuple(criteria[name] for name in names)
    other, pair, choices = compared or (None, None, ())
    query = Query(
        key=key,
        story=stories[story],
        criterion=Criterion.together(together) if together else criteria[criterion],
        eval_prompt=eval_prompt,
        messages=messages,
        generation=generation,
        api=api,
        structured=structured,
        scoring=scoring,
        asks_explanation=asks,
        flags=tuple(flags),
        other=None if other is None else stories[other],
        choices=tuple(choices),
        pair=pair,
        criteria=together,
    )
    return query, tuple(repeats)


class Feed:
    """Queue of blocks between driver and workers, in one event loop. The first request with a ticket (a row of Ray's
    Dataset) gets the next block, later ones the same until it is done: a worker that replaces a killed one continues
    its block."""

    def __init__(self) -> None:
        self._next: deque[bytes] = deque()
        self._given: dict[int, bytes] = {}
        self._shown: Counter[int] = Counter()
        self._units: dict[int, int] = {}
        self._done: set[int] = set()
        self._ended = False
        self._stopped = False
        self._paused = False
        # Requests that a worker may have in flight; None: as many as the run's definition says.
        self._connections: int | None = None
        self._changed = asyncio.Condition()

    async def put(self, block: bytes, most: int) -> bool:
        """Add a block once fewer than `most` wait; False where no more are wanted. Blocks taken by workers do not
        count: the pipeline limits them."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._stopped or len(self._next) < most)
            if not self._stopped:
                self._next.append(block)
                self._changed.notify_all()
            return not self._stopped

    async def end(self) -> None:
        """Announce that no more blocks come. Tickets without a block then get empty bytes."""
        async with self._changed:
            self._ended = True
            self._changed.notify_all()

    async def stop(self) -> None:
        """Hand out no new blocks, and tell workers to end early."""
        async with self._changed:
            self._stopped = self._ended = True
            self._next.clear()
            self._changed.notify_all()

    async def steer(self, connections: int | None, *, paused: bool) -> None:
        """Hand out no blocks while `paused`, and let each worker have so many requests in flight."""
        async with self._changed:
            self._connections, self._paused = connections, paused
            self._changed.notify_all()

    async def wanted(self) -> tuple[bool, bool, int | None]:
        """What workers should do: end early, send nothing, and have at most so many requests in flight."""
        return self._stopped, self._paused, self._connections

    async def get(self, ticket: int) -> bytes:
        """The block of a ticket; empty bytes where none is left, and where it is done or was given up."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._stopped or (not self._paused and self._knows(ticket)))
            if ticket in self._done or (self._stopped and ticket not in self._given):
                return b""
            if ticket not in self._given:
                if not self._next:
                    return b""
                self._given[ticket] = self._next.popleft()
                self._changed.notify_all()
            self._shown[ticket] += 1
            if self._shown[ticket] > MOST_WORKERS:
                self._given.pop(ticket)
                self._done.add(ticket)
                return b""
            return self._given[ticket]

    def _knows(self, ticket: int) -> bool:
        return ticket in self._given or ticket in self._done or bool(self._next) or self._ended

    async def given_up(self) -> int:
        """Number of blocks given up because five workers (`MOST_WORKERS`) that had them died."""
        return sum(shown > MOST_WORKERS for shown in self._shown.values())

    async def done(self, ticket: int, units: int = 1, total: int = 1) -> None:
        """Record that `units` of a ticket's `total` are stored; then the block is dropped. A unit is a block for an
        HTTP judge, a repeat for vLLM."""
        async with self._changed:
            self._units[ticket] = self._units.get(ticket, 0) + units
            if self._units[ticket] >= total:
                self._given.pop(ticket, None)
                self._units.pop(ticket, None)
                self._done.add(ticket)


# Worker of a run on Ray with an HTTP judge: an actor that takes a block, sends its queries and writes the answers to
# shards.

# Seconds between looks at what the driver wants.
_LOOK = 1.0


@dataclass(frozen=True, slots=True)
class Task:
    """What a Ray worker needs of the run. `folder` is for shards, `judge_key` identifies the judge in them, and
    `version` must be the same on every node."""

    judge: str
    judge_key: str
    settings: Settings
    max_attempts: int
    folder: Path
    version: str = __version__


class Asker:
    """Sends queries in a Ray worker, once per batch of tickets. `feed` is the handle of the `Feed` actor."""

    def __init__(self, task: Task, feed: Any) -> None:
        self._task = task
        self._feed = feed
        self._loop = asyncio.new_event_loop()
        self._backend: Backend | None = None
        self._form = FormWatch(task.judge, task.settings.base_url)

    def __call__(self, tickets: dict[str, Any]) -> dict[str, list[Any]]:
        """Send each ticket's block, with the answers to shards. Lists per ticket: the ticket, retries, why the worker
        stopped ("": it did not), and kind and hint of the error."""
        rows = [self._loop.run_until_complete(self._ticket(int(ticket))) for ticket in tickets["ticket"]]
        return {key: [row[key] for row in rows] for key in rows[0]}

    async def _ticket(self, ticket: int) -> dict[str, Any]:
        wrong = self._wrong()
        if wrong is not None:
            await self._feed.stop.remote()
            return _row(ticket, Outcomes(stopped=wrong))
        data = await self._feed.get.remote(ticket)
        if not data:
            return _row(ticket, Outcomes())
        outcomes = await self._ask(ticket, decode(data))
        if outcomes.cause is not None:
            # What stops one worker would stop all: nobody is to go through the whole plan with it.
            await self._feed.stop.remote()
        await self._feed.done.remote(ticket)
        return _row(ticket, outcomes)

    def _wrong(self) -> str | None:
        if self._task.version != __version__:
            return f"a node has storyjudge {__version__} and the driver {self._task.version}: install the same on both"
        if not self._task.folder.is_dir():
            return f"a node does not see {self._task.folder}: the run must lie on storage that all nodes share"
        return None

    async def _ask(self, ticket: int, groups: list[Group]) -> Outcomes:
        task = self._task
        backend = await self._opened()
        name = f"{ticket:07d}"
        # A worker that had this block before and was killed may have written some of it.
        settled = settled_in(task.folder, name, task.judge_key)
        writer = ShardWriter(task.folder, name, task.judge_key)
        run = Run(
            backend,
            writer,
            concurrency=task.settings.concurrency,
            max_attempts=task.max_attempts,
            form=self._form,
        )
        await self._steered(run)
        watching = asyncio.create_task(self._watch(run))
        try:
            return await run.ask(split_calls(_works(groups, settled), backend))
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    async def _opened(self) -> Backend:
        if self._backend is None:
            self._backend = open_backend(self._task.judge, self._task.settings)
            # The driver has probed already; here it tells which servers this node can reach and how they are spoken to.
            with contextlib.suppress(BackendError):
                await self._backend.probe()
        return self._backend

    async def _watch(self, run: Run) -> None:
        while not await self._steered(run):  # noqa: ASYNC110  the event is in another process
            await asyncio.sleep(_LOOK)
        run.stop("the driver asked to end")

    async def _steered(self, run: Run) -> bool:
        stopped, paused, connections = await self._feed.wanted.remote()
        run.hold(paused=paused)
        run.narrow(connections)
        return bool(stopped)


def _works(groups: list[Group], settled: set[tuple[str, int]]) -> Iterator[list[Work]]:
    for group in groups:
        left = ((query, tuple(r for r in repeats if (query.key, r) not in settled)) for query, repeats in group)
        yield [Work(query, repeats) for query, repeats in left if repeats]


def _row(ticket: int, outcomes: Outcomes) -> dict[str, Any]:
    cause = outcomes.cause
    return {
        "ticket": ticket,
        "retries": outcomes.retries,
        "stopped": outcomes.stopped or "",
        "kind": "" if cause is None else cause.kind,
        "hint": (cause.hint if cause is not None else None) or "",
    }


# Configuration, input rows and answers of Ray Data's vLLM stage, on the cluster's GPUs. A row is one repeat, because
# the stage returns one answer per row, without a finish reason: exactly `max_tokens` tokens count as truncated.

# Rows that a vLLM engine is handed at a time; Ray keeps several such batches in one engine.
ENGINE_BATCH = 64


def check(spec: AnySpec) -> None:
    """Raise SpecError for options that the stage does not support, before a GPU is allocated."""
    instead = "serve the model with vLLM and name the servers as base_url of an openai/ judge: Ray then asks over HTTP"
    if spec.structured != "none" or spec.scoring != "text":
        raise SpecError(
            f"Ray's vLLM stage takes structured: none and scoring: text; the run says {spec.structured} and "
            f"{spec.scoring}",
            hint=instead,
        )
    unsaid = [key for key in ("temperature", "max_tokens") if getattr(spec.generation, key) is None]
    if unsaid:
        raise SpecError(
            f"Ray's vLLM stage fills in its own values where generation does not say {' and '.join(unsaid)} "
            f"(16 tokens, say), so the run must say them",
            hint=Advice("{overrides}; or {}", instead, overrides=f"generation.{unsaid[0]}=..."),
        )


def builder(module: ModuleType) -> Callable[..., Any]:
    """Ray's builder of the stage: `build_processor` of ray.data.llm, or `build_llm_processor` in older versions."""
    for name in ("build_processor", "build_llm_processor"):
        function = getattr(module, name, None)
        if function is not None:
            built: Callable[..., Any] = function
            return built
    lacks = "{engine} with a vllm/ judge (this Ray has no builder of LLM processors)"
    raise MissingExtraError(Advice(lacks, engine="ray"), "ray")


def config_arguments(spec: AnySpec, engines: int) -> dict[str, Any]:
    """Arguments for `vLLMEngineProcessorConfig`: the run's engine settings, with prefix caching unless they say
    otherwise."""
    model = JudgeName.of(spec.judge).model
    kwargs: dict[str, Any] = {"enable_prefix_caching": True, **spec.engine}
    if spec.revision is not None:
        kwargs["revision"] = spec.revision
    return {
        "model_source": model,
        "engine_kwargs": kwargs,
        "concurrency": engines,
        "batch_size": ENGINE_BATCH,
        "max_pending_requests": spec.concurrency,
        "should_continue_on_error": True,
        # On the completions route the text goes in as it is, as it would to a server.
        "chat_template_stage": spec.api == "chat",
    }


def gpus_for_engine(spec: AnySpec) -> int:
    return int(spec.engine.get("tensor_parallel_size", 1)) * int(spec.engine.get("pipeline_parallel_size", 1))


def rows_of(ticket: int, data: bytes) -> list[dict[str, Any]]:
    """Input rows for a ticket's block, one per repeat. Queries with a common prefix stay adjacent. Empty for empty
    `data`."""
    if not data:
        return []
    rows = []
    for group in decode(data):
        for query, repeats in group:
            for repeat in repeats:
                work = encode([[(query, (repeat,))]])
                rows.append({"ticket": ticket, "work": work, **_asked(query, repeat)})
    return [row | {"of": len(rows)} for row in rows]


def _asked(query: Request, repeat: int) -> dict[str, Any]:
    generation = query.generation
    sampling: dict[str, Any] = {"temperature": generation.temperature, "max_tokens": generation.max_tokens}
    if generation.top_p is not None:
        sampling["top_p"] = generation.top_p
    if generation.seed is not None:
        sampling["seed"] = generation.seed + repeat
    if generation.stop:
        sampling["stop"] = list(generation.stop)
    if query.api == "chat":
        messages = [{"role": message.role, "content": message.content} for message in query.messages]
        return {"messages": messages, "sampling_params": sampling}
    return {"prompt": joined(query.messages), "sampling_params": sampling}


def preprocess(row: dict[str, Any]) -> dict[str, Any]:
    """The input row with `asked`, the time at which the stage received it."""
    return {**row, "asked": time.time()}


def postprocess(row: dict[str, Any]) -> dict[str, Any]:
    """The stage's output row, with only the fields that are needed to store the answer."""
    kept = ("ticket", "of", "work", "asked", "generated_text", "num_input_tokens", "num_generated_tokens")
    return {key: row[key] for key in kept}


def attempt_of(row: dict[str, Any], model: str) -> dict[str, Any]:
    """Shard row for an output row of the stage: an answer, or an error of the engine."""
    (((query, (repeat,)),),) = decode(row["work"])
    started = float(row["asked"])
    seconds = time.time() - started
    problem = row.get("__inference_error__")
    if problem:
        error = BackendError(f"vLLM: {problem}", kind=_kind(problem), retryable=False)
        return failed_row(query, repeat, error, started=started, seconds=seconds, final=True)
    tokens = int(row["num_generated_tokens"])
    response = Response(
        row["generated_text"],
        "length" if tokens == query.generation.max_tokens else None,
        prompt_tokens=int(row["num_input_tokens"]),
        completion_tokens=tokens,
        model=model,
    )
    return answered_row(query, repeat, response, started=started, seconds=seconds, status=None)


def keep(rows: list[dict[str, Any]], folder: Path, name: str, judge_key: str, model: str) -> None:
    """Write output rows of the stage to one shard in `folder`."""
    write_shard(folder, name, [attempt_of(row, model) for row in rows], judge_key)


def _kind(problem: str) -> Any:
    # "context" where the prompt is too long for the model.
    return "context" if "context length" in problem or "max_model_len" in problem else "server"
