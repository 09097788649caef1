"""Writes the missing queries of a run as JSON Lines for a batch API, with the same request bodies as `judge run`, for
the back-ends that have batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from judge.analysis.options.alternatives import option
from judge.answers.journal import JournalReader, fold
from judge.asking.execution.notes import opened
from judge.asking.execution.preparation import prepare
from judge.asking.execution.sending.runner import works
from judge.asking.execution.sending.schedule import with_cache_points
from judge.asking.plan import AnyPlan, plan_of
from judge.asking.run_definition.writing import AnySpec, load_specs
from judge.asking.run_folder import ResultFolder, folder_for, lock, read_manifest, write_manifest
from judge.asking.run_folder.layout import definition_in_force, definition_of
from judge.backends import Settings, check_api, split_judge
from judge.backends.anthropic import AnthropicBackend
from judge.backends.gemini import gemini_backend
from judge.backends.openai.backend import OpenAIBackend
from judge.backends.refusal_kinds import LIMITS
from judge.base.errors import OptionError, RunFolderError, SpecError
from judge.base.records import Request
from judge.base.wording import Advice, enumerated
from judge.exchange.batch.http_clients import AnthropicBatches, GeminiBatches
from judge.exchange.batch.ledger import BatchApi, read_ledger
from judge.exchange.batch.openai_batches import BatchServer
from judge.exchange.batch.results import GEMINI_LINES, MESSAGE_LINES, OPENAI_LINES, LineForm, judge_part, split_ids
from judge.exchange.dataset_folder import JudgeWords, Output
from judge.exchange.reader import Say

# Batch support of each back-end: the format of its request lines, and the API or program that runs them.

# What asks live over HTTP; a batch's lines hold its requests.
Executor = OpenAIBackend | AnthropicBackend


@dataclass(frozen=True, slots=True)
class BatchForm:
    """Batch support of one back-end: the format of request files, and how its requests are sent. `executor` sends the
    same requests without a batch. `api` is None if there is none (vLLM, whose program `vllm run-batch` answers request
    files). `one_by_one`: each repeat has its own line, even if a request without a batch may ask for several."""

    executor: Callable[[str, Settings], Executor]
    lines: LineForm
    api: Callable[[str, Settings, ResultFolder], BatchApi] | None
    one_by_one: bool = False


BATCH_FORMS: dict[str, BatchForm] = {
    "openai": BatchForm(OpenAIBackend, OPENAI_LINES, lambda _model, settings, _result: BatchServer(settings)),
    "vllm": BatchForm(OpenAIBackend, OPENAI_LINES, None),
    "anthropic": BatchForm(
        AnthropicBackend, MESSAGE_LINES, lambda _model, settings, result: AnthropicBatches(settings, result)
    ),
    # A Gemini model that takes one candidate alone would refuse every line with more, a day later.
    "gemini": BatchForm(
        gemini_backend, GEMINI_LINES, lambda model, settings, _result: GeminiBatches(model, settings), one_by_one=True
    ),
}


def batch_form(judge: str) -> BatchForm:
    """Batch support of the judge's back-end. Raises SpecError if it has none."""
    form = BATCH_FORMS.get(split_judge(judge)[0])
    if form is None:
        raise SpecError(
            f"{judge} has no batch form: batch files are for {enumerated([f'{name}/MODEL' for name in BATCH_FORMS])}",
            hint="judge run asks this judge directly",
        )
    return form


def has_batch_api(judge: str) -> bool:
    form = BATCH_FORMS.get(split_judge(judge)[0])
    return form is not None and form.api is not None


def executor_of(judge: str, settings: Settings) -> Executor:
    """The executor that would send the requests without a batch. No connection is made."""
    check_api(judge, settings)
    return batch_form(judge).executor(split_judge(judge)[1], settings)


def batch_api_of(judge: str, settings: Settings, result: ResultFolder) -> BatchApi:
    """The batch API of a judge's provider. Raises SpecError if there is none."""
    opened = batch_form(judge).api
    if opened is None:
        raise SpecError(
            f"{judge} has no provider with a batch API",
            hint="judge export RUN --as batch writes a file for vllm run-batch",
        )
    return opened(split_judge(judge)[1], settings, result)


# Limits of one batch file at the providers (OpenAI: 50,000 requests, 200 MB).
MOST_LINES, MOST_BYTES = 50_000, 200_000_000


@dataclass(slots=True)
class Purse:
    """Remaining budget in dollars, shared by the batches of several judges."""

    left: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """Selection of the repeats of a run to write to batch files; with `failed`, those given up in place of open ones.

    `limit` is the number of stories (or pairs), None = all. `purse` is the budget shared with other judges' batches,
    None = no limit. With `one_by_one` each repeat has its own line. With `max_completion_tokens` requests name this
    parameter in place of `max_tokens`."""

    spec: AnySpec
    folder: Path
    result: ResultFolder
    limit: int | None = None
    purse: Purse | None = None
    one_by_one: bool = False
    max_completion_tokens: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One written batch file, with its numbers of lines, repeats and bytes."""

    path: Path
    lines: int
    repeats: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Exported:
    """Written batch files; `in_flight` counts repeats left out because a submitted batch contains them."""

    parts: list[Part]
    in_flight: int

    @property
    def repeats(self) -> int:
        return sum(part.repeats for part in self.parts)


def wanted(
    run: Path, overrides: list[str], *, judge: str | None = None, limit: int | None = None, **choices: bool
) -> Wanted:
    """Selection of repeats for one judge of a run.yaml, its folder, or a result folder; `choices` are fields of
    `Wanted`. Without `judge` it is the manifest's, or the definition's only one; SpecError if that has several.
    `overrides` are changes of the definition as ``KEY=VALUE``."""
    selections = wanted_of_all(run, overrides, [judge] if judge else [], limit=limit, **choices)
    if len(selections) > 1:
        names = ", ".join(selection.spec.judge for selection in selections)
        raise SpecError(
            f"{run} has {len(selections)} judges, and one is wanted: {names}", hint=Advice("name one with {judge}")
        )
    return selections[0]


def wanted_of_all(
    run: Path, overrides: list[str], judges: Sequence[str] = (), *, limit: int | None = None, **choices: bool
) -> list[Wanted]:
    """Selections as `wanted` makes them, for every judge of the run or for those in `judges`."""
    result = ResultFolder(run)
    if result.exists():
        judge = judges[0] if judges else None
        spec, base = definition_in_force(result, overrides, judge)
        return [Wanted(spec, base, result, limit, None, **choices)]
    definition = definition_of(run)
    specs = load_specs(definition, overrides, judges)
    purse = None if specs.max_cost is None else Purse(specs.max_cost)
    places = [folder_for(definition, spec.name, spec.judge, spec.revision) for spec in specs.asked]
    return [
        Wanted(spec, definition.parent, result_folder, limit, purse, **choices)
        for spec, result_folder in zip(specs.asked, places, strict=True)
    ]


def export(asked: Wanted, name: Callable[[int], Path], *, most_lines: int = MOST_LINES) -> Exported:
    """Prepare the journal as `judge run` would and write the selected repeats to batch files. The result folder is
    locked meanwhile; the caller must not hold its lock. `name(n)` is the path of the n-th file, from 1; files have
    these names only when all of them are complete."""
    with lock(asked.result.path):
        return export_locked(asked, name, most_lines=most_lines)


def export_locked(asked: Wanted, name: Callable[[int], Path], *, most_lines: int = MOST_LINES) -> Exported:
    """`export` for a caller that has already locked the result folder."""
    backend = _executor(asked)
    plan = plan_of(asked.spec, folder=asked.folder)
    prepared = prepare(plan, asked.folder, asked.result)
    taken = read_ledger(asked.result).in_flight()
    left_out = 0

    def settled(query: Request) -> set[int]:
        nonlocal left_out
        done = journal.settled(query.key)
        if asked.failed:
            done = set(range(asked.spec.repeats)) - journal.failed(query.key)
        waiting = taken.get(query.key, set()) - done
        left_out += len(waiting)
        return done | waiting

    try:
        with JournalReader(asked.result.journal) as journal:
            lines = _lines(asked, plan, backend, journal, settled)
            parts = _write(lines, name, most_lines)
    finally:
        fold(asked.result.journal)
    before = read_manifest(asked.result.manifest)
    server = before.get("in_force", {}).get("server", {})
    files = [{"file": part.path.name, "lines": part.lines, "repeats": part.repeats} for part in parts]
    note = {"began": time.time(), "executor": "batch export", "exported": files}
    write_manifest(asked.result.manifest, opened(asked.spec, asked.result, prepared, server, note))
    return Exported(parts, left_out)


def _executor(asked: Wanted) -> Executor:
    spec, terms = asked.spec, asked.result.server_terms
    settings = Settings(base_url=tuple(spec.base_url), engine=spec.engine, terms_file=terms, api=spec.api)
    backend = executor_of(spec.judge, settings)
    if not isinstance(backend, OpenAIBackend) or backend.dialect().limit is not None:
        return backend
    facts = read_manifest(asked.result.manifest).get("in_force", {}).get("server", {})
    if asked.max_completion_tokens:
        backend.name_max_tokens("max_completion_tokens")
    elif not terms.exists() and facts.get("max_tokens_parameter") in LIMITS:
        backend.name_max_tokens(facts["max_tokens_parameter"])
    return backend


def _lines(
    asked: Wanted,
    plan: AnyPlan,
    backend: Executor,
    journal: JournalReader,
    settled: Callable[[Request], set[int]],
) -> Iterator[tuple[bytes, int]]:
    """(line, number of repeats that it requests) in plan order."""
    judge, form = judge_part(asked.spec.judge_key()), batch_form(asked.spec.judge)
    alone = asked.one_by_one or form.one_by_one
    lacking = works(plan.asked_in(journal, asked.limit), asked.spec.repeats, settled)
    for group in with_cache_points(lacking, backend.capabilities.cache_points):
        for work in group:
            most = 1 if alone else backend.capabilities.repeats_per_call or len(work.repeats)
            calls = [work.repeats[i : i + most] for i in range(0, len(work.repeats), most)]
            for call in calls:
                for each in split_ids(work.query.key, judge, call):
                    line = form.lines.request(str(each), backend.route, backend.payload(work.query, each.repeats))
                    yield orjson.dumps(line) + b"\n", len(each.repeats)


def _write(lines: Iterator[tuple[bytes, int]], name: Callable[[int], Path], most_lines: int) -> list[Part]:
    # All files have temporary names until the last one is complete.
    parts: list[Part] = []
    stream: BinaryIO | None = None
    count = repeats = size = 0
    try:
        for line, held in lines:
            if stream is not None and (count >= most_lines or size + len(line) > MOST_BYTES):
                stream.close()
                parts[-1] = Part(parts[-1].path, count, repeats, size)
                stream = None
            if stream is None:
                path = name(len(parts) + 1)
                path.parent.mkdir(parents=True, exist_ok=True)
                parts.append(Part(path, 0, 0, 0))
                stream = _temporary(path).open("wb")
                count = repeats = size = 0
            stream.write(line)
            count, repeats, size = count + 1, repeats + held, size + len(line)
        if stream is not None:
            stream.close()
            parts[-1] = Part(parts[-1].path, count, repeats, size)
        for part in parts:
            _temporary(part.path).replace(part.path)
    except OSError as error:
        where = error.filename or (parts[-1].path if parts else "the batch file")
        raise RunFolderError(f"{where} cannot be written: {error.strerror}", hint="choose another with -o") from error
    finally:
        if stream is not None:
            stream.close()
        for part in parts:
            with suppress(OSError):
                _temporary(part.path).unlink(missing_ok=True)
    return parts


def _temporary(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def numbered(output: Path) -> Callable[[int], Path]:
    """Names of one export's files by number: FILE-0001.jsonl, FILE-0002.jsonl, ..."""
    return lambda number: output.with_name(f"{output.stem}-{number:04d}{output.suffix}")


# A run's missing requests as a form of export: a file for batch APIs.


@dataclass(frozen=True, kw_only=True)
class BatchWords(JudgeWords):
    limit: int | None = option("number of stories (or pairs) of a batch, from the first of the plan on")
    most_lines: int = option("largest number of lines in a file; further files are numbered", default=MOST_LINES)
    one_by_one: bool = option("separate line for each repeat, for servers that ignore n", default=False)
    failed: bool = option("repeats that failed for good, in place of those never requested", default=False)
    max_completion_tokens: bool = option(
        "max_completion_tokens in place of max_tokens, for newer OpenAI models", default=False
    )

    def __post_init__(self) -> None:
        """Raise OptionError for a number that no file can have."""
        if not 1 <= self.most_lines <= MOST_LINES:
            raise OptionError("most_lines", self.most_lines, f"must be 1 to {MOST_LINES:,}")
        if self.limit is not None and self.limit < 1:
            raise OptionError("limit", self.limit, "must be 1 or more")


def _write_lines(runs: Sequence[str], output: Path | None, words: BatchWords, say: Say) -> None:
    if len(runs) > 1:
        raise SpecError(f"a batch holds requests of one run, and {len(runs)} are named")
    run, path = Path(runs[0]), output or Path("batch.jsonl")
    name = numbered(path)
    there = [file for file in (path, name(1)) if file.exists()]
    if there:
        hint = Advice("delete it, or name another file with {output}")
        raise RunFolderError(f"{there[0]} exists already, and may hold what was sent", hint=hint)
    asked = wanted(
        run,
        [],
        judge=words.judge,
        limit=words.limit,
        one_by_one=words.one_by_one,
        failed=words.failed,
        max_completion_tokens=words.max_completion_tokens,
    )
    exported = export(asked, name, most_lines=words.most_lines)
    names = [str(part.path) for part in exported.parts]
    if len(exported.parts) == 1:
        exported.parts[0].path.rename(path)
        names = [str(path)]
    if exported.in_flight:
        say(f"{exported.in_flight} repeats are left out: submitted batches hold them (judge run {run} --batch status)")
    if not names:
        say(f"nothing to export: {asked.result.path} lacks nothing that is to be asked")
        return
    for shown, part in zip(names, exported.parts, strict=True):
        say(f"{shown}: {part.lines} lines, {part.repeats} repeats, {part.bytes / 1e6:.2f} MB")
    say(f"answer them elsewhere, then: judge import RESULTS -o {asked.result.path}")


OUTPUTS = (
    Output(
        "batch",
        "requests that a run still lacks as OpenAI-batch JSON Lines, for batch APIs",
        BatchWords,
        _write_lines,
    ),
)
