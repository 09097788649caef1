"""Drives one session on a running Ray, which is passed in, not imported: it renders missing queries, hands blocks to
workers, and merges their shards into the journal. No other process writes the journal; workers do not see it."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from judge.answers.journal import JournalMerger, JournalReader
from judge.answers.parsing import parser as load_parser
from judge.asking.execution.helm import STOPPED, Lookout
from judge.asking.execution.notes import closed, opened, with_seen
from judge.asking.execution.preparation import Prepared
from judge.asking.execution.progress import Progress
from judge.asking.execution.ray import blocks
from judge.asking.execution.ray.blocks import Asker, Task
from judge.asking.execution.ray.shards import read_shard, shards_in, unfinished_in
from judge.asking.execution.sending.runner import Outcomes, works
from judge.asking.execution.session import Result, Sitting, settings_of
from judge.asking.plan import AnyPlan, Price, load_prices
from judge.asking.run_folder import ResultFolder, read_manifest, write_manifest
from judge.asking.run_folder.steering import Steering
from judge.base.credentials.providers import JudgeName
from judge.base.credentials.trust import elsewhere
from judge.base.errors import BackendError, JudgeError, RunFolderError
from judge.base.records import Query, Response, Story
from judge.base.wording import Advice

# Merging of Ray workers' shards into the journal during a run. Shards are never deleted.

_TOLD = ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens", "cost")


class Shards:
    """A result folder's shards, earlier sessions' too, and their merge into the journal."""

    def __init__(self, result: ResultFolder, sitting: Path, plan: AnyPlan, price: Price | None) -> None:
        self.answered = 0
        self.failed = 0
        self.spent = Outcomes()
        self.duplicates = 0
        self._refused: dict[Path, str] = {}
        self._unfinished: list[str] = []
        self._told: list[str] = []
        self._sitting = sitting
        self._plan = plan
        self._criteria = {criterion.name: criterion for criterion in plan.criteria}
        self._price = price
        self._judge_key = plan.spec.judge_key()
        self._merger = JournalMerger(result.journal, executor="ray")
        self._seen = self._merger.names()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._merger.close()

    @property
    def notices(self) -> list[str]:
        """Notes for the user on shards refused or incomplete, and on duplicate attempts."""
        sentences = [*self._refused.values(), *self._unfinished, *self._told]
        if self.duplicates:
            sentences.append(f"{self.duplicates} attempts at repeats that were answered already were left out")
        return sentences

    def merge_left_over(self) -> None:
        """Merge earlier sessions' shards, and note files that were incomplete when these were killed."""
        for path in shards_in(self._sitting.parent):
            self._merge(path, None)
        self._unfinished = [
            f"{path} was being written when its worker ended; it was not read, and what it may hold is requested again"
            for path in unfinished_in(self._sitting.parent)
        ]

    def merge_new(self, progress: Progress) -> None:
        """Merge every complete shard of this session that was not merged yet."""
        # Names only: late in a long run there are very many files, and all but a few are merged.
        for name in sorted(os.listdir(self._sitting)):  # noqa: PTH208
            if name.endswith(".parquet") and f"{self._sitting.name}/{name}" not in self._seen:
                self._merge(self._sitting / name, progress)

    def _merge(self, path: Path, progress: Progress | None) -> None:
        name = f"{path.parent.name}/{path.name}"
        if name in self._seen or path in self._refused:
            return
        try:
            rows = read_shard(path, self._judge_key)
            merged = self._merger.merge(name, rows)
        except RunFolderError as error:
            self._refused[path] = str(error)
            return
        self._seen.add(name)
        self.answered += merged.answered
        self.failed += merged.failed
        self.duplicates += merged.duplicates
        if merged.answered:
            self._count(rows, progress)
        if progress is not None:
            progress.committed(merged.answered, merged.failed)

    def note(self, sentence: str) -> None:
        self._told.append(sentence)

    def finish(self, ended: str) -> None:
        self._merger.finish(ended)

    def _count(self, rows: list[dict[str, Any]], progress: Progress | None) -> None:
        for row in rows:
            if row["outcome"] != "answered":
                continue
            if row["prompt_tokens"] is not None or row.get("cost") is not None:  # the first repeat of its call
                self.spent.spend([Response(row["text"], **{key: row.get(key) for key in _TOLD})], self._price)
            if progress is not None and self._criteria:
                progress.watch(self._query(row), Response(row["text"], row["finish_reason"], row["reasoning"]))

    def _query(self, row: Mapping[str, Any]) -> Query:
        # Only the fields by which the progress line parses the answer.
        spec = self._plan.spec
        return Query(
            key=row["query_key"],
            story=Story(row["story"], "", "", ""),
            criterion=self._criteria[row["criterion"]],
            eval_prompt=row["eval_prompt"],
            messages=(),
            generation=spec.generation.record(),
            structured=spec.structured,
            choices=spec.choices,
        )


# Calls in a block at most: its worker holds them all, with their stories, in memory.
_LARGEST = 2048

# Blocks rendered for each worker and not taken yet.
_BLOCKS_AHEAD = 2

# Seconds between looks for new shards.
_LOOK = 0.5


@dataclass(slots=True)
class _Course:
    feed: Any
    rows: list[dict[str, Any]] = field(default_factory=list)
    # Why the session was stopped.
    stopped: str | None = None


class Drive:
    """Driver of one session of a run on Ray, which is already running."""

    def __init__(
        self,
        ray: Any,
        llm: Any,
        sitting: Sitting,
        actors: int | None,
        plan: AnyPlan,
        prepared: Prepared,
        journal: JournalReader,
    ) -> None:
        self._ray = ray
        self._sitting = sitting
        self._plan = plan
        self._prepared = prepared
        self._journal = journal
        self._llm = llm
        self._actors = actors or self._usual_actors()
        queries = journal.subject_count(sitting.limit) * plan.queries_per_subject
        self._planned = queries * sitting.spec.repeats
        # With a seed every repeat is a call of its own, see `works`.
        self._calls = queries if sitting.spec.generation.seed is None else self._planned
        self._lookout = Lookout(sitting.result.path)
        self._steered: Steering | None = None
        self._folder = sitting.result.derived / "ray" / f"{time.strftime('%Y%m%dT%H%M%S')}-{uuid.uuid4().hex[:6]}"

    def run(self, server: dict[str, Any], began: float, reused: int) -> Result:
        """Run the session: merge left-over shards, send the missing queries, merge new shards, and note the session.
        `server` holds facts for the manifest, and `reused` is the number of answers copied from another run."""
        sitting, spec = self._sitting, self._sitting.spec
        note = {"began": began, "executor": "ray", "ray": self._facts()}
        write_manifest(sitting.result.manifest, opened(spec, sitting.result, self._prepared, server, note))
        self._folder.mkdir(parents=True)
        price = load_prices(spec.judge, spec.base_url, spec.engine)
        shards = Shards(sitting.result, self._folder, self._plan, price)
        parser = None if sitting.quiet else load_parser("ours")
        progress = Progress(
            self._planned,
            parser=parser,
            quiet=sitting.quiet,
            cost=lambda: shards.spent.known_cost,
            paused=lambda: self._lookout.paused,
        )
        with shards, progress:
            shards.merge_left_over()
            outcomes = self._ask(shards, progress)
            shards.finish("done" if outcomes.stopped is None else f"stopped: {outcomes.stopped}")
        outcomes.answered, outcomes.failed = shards.answered, shards.failed
        outcomes.cost, outcomes.calls, outcomes.unpriced = shards.spent.cost, shards.spent.calls, shards.spent.unpriced
        outcomes.implausible = shards.spent.implausible
        if not sitting.quiet:
            sys.stderr.writelines(f"{notice}\n" for notice in shards.notices)
        totals = self._journal.totals()
        manifest = with_seen(read_manifest(sitting.result.manifest), spec, self._journal, None)
        ended = closed(manifest, self._journal, outcomes, began, shards.notices)
        write_manifest(sitting.result.manifest, ended)
        answered = progress.done if sitting.limit else totals.answered
        return Result(
            outcomes,
            totals,
            self._planned,
            max(self._planned - answered, 0),
            reused,
            time.time() - began,
            progress.parsed_share,
            progress.unparsed_example,
        )

    def _facts(self) -> dict[str, Any]:
        resources = self._ray.cluster_resources()
        return {
            "version": self._ray.__version__,
            "nodes": sum(bool(node["Alive"]) for node in self._ray.nodes()),
            "resources": {name: resources[name] for name in ("CPU", "GPU", "memory") if name in resources},
            "actors": self._actors,
            "shards": self._folder.name,
        }

    def _usual_actors(self) -> int:
        if self._llm is None:
            return max(1, len(self._sitting.spec.base_url))
        gpus = int(self._ray.cluster_resources().get("GPU", 0))
        return max(1, gpus // blocks.gpus_for_engine(self._sitting.spec))

    def _ask(self, shards: Shards, progress: Progress) -> Outcomes:
        ray = self._ray
        feed = ray.remote(blocks.Feed).options(num_cpus=0, max_concurrency=1000).remote()
        course = _Course(feed)
        with ThreadPoolExecutor(2, thread_name_prefix="ray") as pool, _interruptible(course):
            self._steer(course, shards)
            feeding = pool.submit(self._feed, course, progress)
            asking = pool.submit(self._consume, course)
            asking.add_done_callback(lambda _: feed.stop.remote())  # Whoever still renders has nobody to render for.
            while not asking.done():
                time.sleep(_LOOK)
                self._steer(course, shards)
                shards.merge_new(progress)
            shards.merge_new(progress)
            _raise_from(feeding, asking)
        lost = ray.get(feed.given_up.remote())
        ray.kill(feed)
        if lost:
            shards.note(
                f"{lost} blocks were given up: every worker that had them died; the same command asks them again"
            )
        return _outcomes(course)

    def _steer(self, course: _Course, shards: Shards) -> None:
        self._lookout.look()
        before, wanted = self._steered, self._lookout.wanted
        if wanted == before:
            return
        self._steered = wanted
        self._lookout.tell()
        if wanted.max_cost != (before or Steering()).max_cost or (before is not None and wanted.again != before.again):
            shards.note("on Ray, max_cost= and again= of judge status are not followed: its workers know no total")
        if wanted.send == "stop" and course.stopped is None:
            course.stopped = STOPPED
            course.feed.stop.remote()
        each = None if wanted.connections is None else max(1, wanted.connections // self._actors)
        course.feed.steer.remote(each, paused=wanted.send != "go")

    def _feed(self, course: _Course, progress: Progress) -> None:
        feed, spec = course.feed, self._sitting.spec
        try:
            # A journal with nothing in it need not be asked about each query.
            resumed = self._journal.settled_total() > 0
            settled = (lambda query: self._journal.settled(query.key)) if resumed else None
            groups = works(
                self._plan.asked_in(self._journal, self._sitting.limit), spec.repeats, settled, progress.skipped
            )
            for block in blocks.blocks(groups, self._block_size()):
                put = feed.put.remote(blocks.encode(block), _BLOCKS_AHEAD * self._actors)
                if not self._ray.get(put):
                    return
        finally:
            self._ray.get(feed.end.remote())

    def _block_size(self) -> int:
        # Enough to keep a worker busy, and few enough that all workers get a share.
        full = min(32 * self._sitting.spec.concurrency, _LARGEST)
        return max(1, min(full, self._calls // (4 * self._actors)))

    def _consume(self, course: _Course) -> None:
        ray = self._ray
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        # A row is a ticket for a block. A block holds this many calls or more, so there are tickets enough for all.
        tickets = [{"ticket": i} for i in range(math.ceil(self._calls / self._block_size()))]
        dataset = ray.data.from_items(tickets, override_num_blocks=len(tickets))
        stage = self._http_stage if self._llm is None else self._vllm_stage
        for row in stage(dataset, course.feed).iter_rows():
            course.rows.append(row)

    def _task(self) -> Task:
        spec = self._sitting.spec
        settings = settings_of(spec, self._sitting.folder, self._sitting.result)
        urls = spec.base_url or [url for url in (os.environ.get("OPENAI_BASE_URL"),) if url]
        return Task(
            spec.judge,
            spec.judge_key(),
            # The driver's environment may name the server, and say that it is trusted; a worker's need not.
            replace(settings, base_url=tuple(urls), trusted=(*settings.trusted, *elsewhere(urls))),
            spec.max_attempts,
            self._folder.resolve(),
        )

    def _http_stage(self, dataset: Any, feed: Any) -> Any:
        return dataset.map_batches(
            Asker,
            fn_constructor_args=(self._task(), feed),
            batch_size=1,
            # A client waits more than it works, and on a small machine the driver wants a core too.
            num_cpus=0.5,
            compute=self._ray.data.ActorPoolStrategy(size=self._actors, max_tasks_in_flight_per_actor=2),
        )

    def _vllm_stage(self, dataset: Any, feed: Any) -> Any:
        module, ray, task = self._llm, self._ray, self._task()
        model = JudgeName.of(self._sitting.spec.judge).model

        def rows(ticket: dict[str, Any]) -> list[dict[str, Any]]:
            return blocks.rows_of(ticket["ticket"], ray.get(feed.get.remote(ticket["ticket"])))

        def keep(batch: dict[str, Any]) -> dict[str, list[Any]]:
            columns = list(batch)
            stage_rows = [dict(zip(columns, values, strict=True)) for values in zip(*batch.values(), strict=True)]
            name = f"part-{int(stage_rows[0]['ticket']):07d}-{uuid.uuid4().hex[:8]}-0"
            blocks.keep(stage_rows, task.folder, name, task.judge_key, model)
            ray.get([feed.done.remote(int(row["ticket"]), 1, int(row["of"])) for row in stage_rows])
            return {
                "ticket": [int(stage_rows[0]["ticket"])],
                "retries": [0],
                "stopped": [""],
                "kind": [""],
                "hint": [""],
            }

        config = module.vLLMEngineProcessorConfig(**blocks.config_arguments(self._sitting.spec, self._actors))
        processor = blocks.builder(module)(config, preprocess=blocks.preprocess, postprocess=blocks.postprocess)
        answered = processor(dataset.flat_map(rows, num_cpus=0.1, concurrency=2))
        return answered.map_batches(keep, batch_size=blocks.ENGINE_BATCH, num_cpus=0.1)


def _outcomes(course: _Course) -> Outcomes:
    outcomes = Outcomes(stopped=course.stopped, retries=sum(int(row["retries"]) for row in course.rows))
    causes = [row for row in course.rows if row["stopped"] and (row["kind"] or course.stopped is None)]
    # Those that were asked to end early say so too; the cause is with the one that has a kind or its own sentence.
    for row in sorted(causes, key=lambda row: (not row["kind"], row["stopped"] == "the driver asked to end")):
        outcomes.stopped = course.stopped or row["stopped"]
        if row["kind"]:
            outcomes.cause = BackendError(row["stopped"], kind=row["kind"], retryable=False, hint=row["hint"] or None)
        elif course.stopped is None:
            raise JudgeError(row["stopped"])
        break
    return outcomes


def _raise_from(*futures: Future[None]) -> None:
    for future in futures:
        error = future.exception()
        if error is None or isinstance(error, JudgeError):
            future.result()
            continue
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        raise JudgeError(
            f"Ray stopped the run: {lines[-1].strip()[:300]}",
            hint=Advice(
                "everything in shards is kept: the same command merges it and goes on (with {ray_actors} where fewer "
                "nodes are left)",
                ray_actors="N",
            ),
        ) from error


@contextlib.contextmanager
def _interruptible(course: _Course) -> Iterator[None]:
    # The first Ctrl-C stops new requests and keeps those in flight; the second exits at once.
    def interrupted(number: int, frame: Any) -> None:  # noqa: ARG001  the signature of a signal's handler
        if course.stopped is not None:
            raise KeyboardInterrupt
        sys.stderr.write("\nstopping: waiting for what is in flight (Ctrl-C again: leave it)\n")
        course.stopped = "interrupted"
        course.feed.stop.remote()

    try:
        before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread, as in a notebook
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
