"""Merges batch results into a run's journal by custom_id. Each result is merged once, and no answer is overwritten.
Only the result folder is needed: queries are rendered from the journal's stories and templates, and matched by query
key. Importing again, or after an interruption, adds only what is missing."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from judge.analysis.options.alternatives import Nothing
from judge.answers.journal import JournalReader, JournalWriter, Totals, fold
from judge.answers.journal.spending import BATCH
from judge.asking.execution.notes import closed
from judge.asking.execution.sending.runner import Outcomes
from judge.asking.execution.sending.stopping import FATAL
from judge.asking.execution.verification import stored_plan
from judge.asking.plan import AnyPlan, load_prices
from judge.asking.plan.prices import Price
from judge.asking.run_folder import ResultFolder, lock, read_manifest, resolve, write_manifest
from judge.base.errors import BackendError, DataError, RunFolderError, SpecError
from judge.base.records import Request, Response
from judge.base.wording import Advice
from judge.exchange.batch.results import (
    BatchId,
    LinePosition,
    ResultFiles,
    answers_in,
    as_openai,
    created_at,
    find_results,
    judge_part,
    parse_id,
)
from judge.exchange.reader import Look, Reader, Say

if TYPE_CHECKING:
    from judge.asking.run_folder import ResultFolder


@dataclass(slots=True)
class Imported:
    """Result of an import of batch results into a journal.

    `lines` counts result lines; `answered`, `there_already`, `failed` (by kind of error), `errors_known` and
    `not_given` (the line should answer it) count repeats. `example` is the first error's message. `duplicates`,
    `unknown` (not of this run) and `other_judge` are custom_ids; `cut` holds file and line number of incomplete last
    lines, left out. `totals` of the journal are None until counted."""

    lines: int = 0
    answered: int = 0
    there_already: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    errors_known: int = 0
    not_given: int = 0
    duplicates: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    other_judge: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    example: str | None = None
    spent: Outcomes = field(default_factory=Outcomes)
    totals: Totals | None = None

    @property
    def changed(self) -> bool:
        """Whether anything was written to the journal."""
        return bool(self.answered or self.failed)


def import_results(result: ResultFolder, files: tuple[Path, ...]) -> Imported:
    """Merge batch result files into a run's journal. Raises JudgeError if a file is not of this run."""
    with lock(result.path):
        return import_locked(result, files)


def import_locked(result: ResultFolder, files: tuple[Path, ...]) -> Imported:
    """`import_results` for a caller that has already locked the result folder."""
    results = find_results(files)
    if not result.journal.is_file():
        raise RunFolderError(f"{result.path} has no journal", hint="judge export RUN --as batch makes it")
    done = Imported(results.lines, duplicates=results.duplicates, unknown=results.foreign, cut=results.cut)
    began = time.time()
    with JournalReader(result.journal) as journal:
        definition = journal.meta().get("definition")
        if definition is None:
            raise RunFolderError(f"{result.journal} holds no definition", hint="judge export RUN --as batch stores it")
        plan = stored_plan(definition, result)
        _set_apart(results, judge_part(definition["judge_key"]), done)
        price = load_prices(plan.spec.judge, plan.spec.base_url, plan.spec.engine)
        merge = _Merge(result, journal, plan, results, done, price.batch if price is not None else None)
        outcomes = done.spent
        try:
            asyncio.run(merge.run())
        except BackendError as error:
            outcomes.stopped = str(error)
            raise
        finally:
            if done.changed:
                outcomes.answered, outcomes.failed = done.answered, sum(done.failed.values())
                manifest = read_manifest(result.manifest)
                sitting = {"began": began, "executor": BATCH, "imported": [file.name for file in files]}
                manifest = manifest | {"sittings": [*manifest.get("sittings", []), sitting]}
                write_manifest(result.manifest, closed(manifest, journal, outcomes, began, ()))
        done.totals = journal.totals()
    if done.changed:
        fold(result.journal)
    return done


def _set_apart(results: ResultFiles, judge: str, done: Imported) -> None:
    for key, entries in list(results.by_query.items()):
        done.other_judge.extend(str(each) for each, _ in entries if each.judge != judge)
        results.by_query[key] = [entry for entry in entries if entry[0].judge == judge]
    if done.other_judge and not any(results.by_query.values()):
        # Answers of other judges are left out; that all are is an error.
        raise DataError(
            f"all {len(done.other_judge)} results are of another judge than this run's",
            file=", ".join(map(str, results.files)),
            found=done.other_judge[0],
            allowed=f"custom_ids with -{judge}-",
            hint="import them into the result folder that they were exported from",
        )


class _Merge:
    def __init__(
        self,
        result: ResultFolder,
        journal: JournalReader,
        plan: AnyPlan,
        results: ResultFiles,
        done: Imported,
        price: Price | None,
    ) -> None:
        self._result, self._journal, self._plan, self._found, self._done = result, journal, plan, results, done
        self._price = price
        self._writer: JournalWriter | None = None

    async def run(self) -> None:
        """Merge in groups, with all repeats of one result line in the same group."""
        left = {key: entries for key, entries in self._found.by_query.items() if entries}
        ended = "crashed"
        try:
            if left:
                for group in self._plan.asked_in(self._journal):
                    for query in group:
                        self._merge(query, left.pop(query.key, []))
                    if self._writer is not None:
                        await self._writer.room()
                        await asyncio.sleep(0)
                    if not left:
                        break
            self._done.unknown.extend(str(each) for entries in left.values() for each, _ in entries)
            self._refuse_strangers()
            ended = "done"
        finally:
            if self._writer is not None:
                await self._writer.finish(ended)
                self._writer.close()

    def _refuse_strangers(self) -> None:
        done = self._done
        if done.unknown and len(done.unknown) + len(done.duplicates) + len(done.other_judge) >= done.lines:
            raise DataError(
                f"holds no result of this run: none of its {len(done.unknown)} custom_ids is one of its queries",
                file=", ".join(map(str, self._found.files)),
                found=done.unknown[0],
                hint="import it into the result folder that it was exported from",
            )

    def _merge(self, query: Request, entries: list[tuple[BatchId, LinePosition]]) -> None:
        if entries:
            # What this import adds is not committed yet, so the set grows beside the journal.
            settled = self._journal.settled(query.key, failed_too=False)
            for each, location in entries:
                self._line(query, each, location, settled)

    def _line(self, query: Request, each: BatchId, location: LinePosition, settled: set[int]) -> None:
        line = self._found.read(location)
        started = created_at(line) or time.time()
        done = self._done
        open_ = [repeat for repeat in each.repeats if repeat not in settled]
        done.there_already += len(each.repeats) - len(open_)
        if not open_:
            return
        try:
            responses = answers_in(line, query)
        except BackendError as error:
            if error.kind == "capability" and error.status is None:
                raise
            self._failed(query, open_, error, started)
            return
        done.not_given += max(len(each.repeats) - len(responses), 0)
        pairs = [pair for pair in zip(each.repeats, responses, strict=False) if pair[0] not in settled]
        for number, (repeat, response) in enumerate(pairs):
            kept = _with_usage(response, responses[0]) if number == 0 else response
            self._open().answered(query, repeat, kept, started=started, seconds=0.0)
            settled.add(repeat)
            done.answered += 1
        if pairs:
            done.spent.spend(responses[:1], self._price)

    def _failed(self, query: Request, repeats: list[int], error: BackendError, started: float) -> None:
        recorded = self._journal.errors(query.key)
        # As live: what asking again may mend stays open, what it cannot is given up until `judge run --retry`.
        final = not error.retryable and error.kind not in FATAL
        for repeat in repeats:
            if (repeat, str(error)[:2000]) in recorded:
                self._done.errors_known += 1
                continue
            self._open().failed(query, repeat, error, started=started, seconds=0.0, final=final)
            self._done.failed[error.kind] += 1
            self._done.example = self._done.example or str(error)

    def _open(self) -> JournalWriter:
        # Opened with the first row, so that an import without new results changes nothing.
        if self._writer is None:
            self._writer = JournalWriter(self._result.journal, executor=BATCH)
            self._writer.start()
        return self._writer


def _with_usage(response: Response, first: Response) -> Response:
    # Counts and cost belong to the whole call, which may have answered several repeats; they are stored once, with the
    # first repeat whose answer is written.
    return replace(
        response,
        prompt_tokens=first.prompt_tokens,
        completion_tokens=first.completion_tokens,
        cached_tokens=first.cached_tokens,
        reasoning_tokens=first.reasoning_tokens,
        cache_write_tokens=first.cache_write_tokens,
        cost=first.cost,
    )


# Reader of a batch's result files, whose answers go into the journal of the run that asked for them.

# custom_ids named of each kind.
_SHOWN = 5


def _fits(look: Look) -> bool:
    """Whether a file has results of a batch, or its requests, which the import refuses with a sentence of its own."""
    record = dict(look.record())
    named = as_openai(record)
    return "custom_id" in record or parse_id(str(named.get("custom_id") or record.get("key") or "")) is not None


def _read(files: Sequence[Path], _words: Nothing, target: Path | None, say: Say) -> None:
    if target is None:
        raise SpecError(Advice("a batch's results go into the run that asked for them: {output}", output="RUN"))
    folders = resolve([target])
    if len(folders) > 1:
        names = ", ".join(folder.path.name for folder in folders)
        hint = Advice("name one: {output}", output=str(folders[0].path))
        raise RunFolderError(f"{target} holds results of several judges: {names}", hint=hint)
    for line in merged_sentences(import_results(folders[0], tuple(files)), folders[0], ", ".join(map(str, files))):
        say(line)


def merged_sentences(merged: Imported, folder: ResultFolder, source: str) -> Iterator[str]:
    """The outcome of an import: one sentence on `source`, and one line for each kind of problem."""
    there, failed = merged.there_already, sum(merged.failed.values())
    if not merged.changed:
        yield f"nothing new in {source}: {folder.path} has {there} of its answers already"
    else:
        from judge.base.printing.text_layout import dollars

        known_cost = merged.spent.known_cost
        cost = "" if known_cost is None else f", {dollars(known_cost)}"
        yield f"{folder.path}: {merged.answered} answers from {source}{cost}; {there} were there already"
    if failed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in merged.failed.most_common())
        yield f"· {failed} repeats failed ({kinds}): {merged.example}"
        again = f"judge export {folder.path} --as batch"
        yield f"· ask them again: {again}; those given up: judge run {folder.path} --retry"
    if merged.errors_known:
        yield f"· {merged.errors_known} failed repeats were noted before"
    if merged.not_given:
        again = f"judge export {folder.path} --as batch --set one_by_one=true"
        yield f"· {merged.not_given} repeats were not given: the server ignores n; {again}"
    for reason, ids in (
        ("custom_ids stand twice, the first answer counts", merged.duplicates),
        ("custom_ids are not of this run", merged.unknown),
        ("results are of another judge and were left out", merged.other_judge),
        ("half-written last lines were skipped", merged.cut),
    ):
        if ids:
            more = ", ..." if len(ids) > _SHOWN else ""
            yield f"· {len(ids)} {reason}: {', '.join(ids[:_SHOWN])}{more}"
    if merged.totals is not None:
        yield f"· {merged.totals.answered} repeats are answered in all; judge status {folder.path}"


READERS = (
    Reader(
        "batch", "results of a batch API or of vllm run-batch, for the run that asked for them", Nothing, _fits, _read
    ),
)
