"""Submission of a run's missing queries to a provider's batch API; every step can be resumed. `batches.json` is written
before and after each step. Where a kill or a lost reply leaves a step's outcome unknown, the provider is searched for
the file (by name) or the batch (by metadata), so that nothing is paid for twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from judge.asking.execution.session import settings_of
from judge.asking.plan import load_prices
from judge.asking.plan.prices import how_to_price
from judge.asking.run_folder import ResultFolder, lock, read_manifest
from judge.backends import Settings
from judge.base.credentials.trust import on_this_machine
from judge.base.errors import RunFolderError, SpecError
from judge.base.printing.text_layout import dollars
from judge.base.wording import Advice
from judge.exchange.batch.importing import Imported, import_locked
from judge.exchange.batch.ledger import ENDED, Batch, BatchApi, Ledger, Remote, read_ledger
from judge.exchange.batch.requests import MOST_LINES, Part, Wanted, batch_api_of, export_locked

Say = Callable[[str], None]

_ANSWER_TOKENS = 150
# For the check against max_cost only: tokens of an answer without max_tokens, and the usual ratio for English.
_CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class Collected:
    """What `collect` did: merged results (None: there were none), ended `batches`, those still in progress, and
    advice."""

    imported: Imported | None = None
    batches: list[Batch] = field(default_factory=list)
    waiting: list[Batch] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)


def submit(asked: Wanted, say: Say, *, most_lines: int = MOST_LINES) -> list[Batch]:
    """Batches sent by this call with the selected repeats, after steps that an earlier submission left incomplete."""
    result = asked.result
    with lock(result.path):
        ledger = read_ledger(result)
        unfinished = [batch for batch in ledger.batches if batch.state not in ("created", "collected")]
        for batch in unfinished:
            # Where it was going to: only there can be found what was done unseen.
            with _server(result, base_url=batch.base_url) as server:
                _send(ledger, batch, server, say)
        with _server(result, asked) as server:
            new = _prepare(asked, ledger, most_lines, server.url)
            for batch in new:
                _send(ledger, batch, server, say)
    return [*unfinished, *new]


def refresh(result: ResultFolder) -> list[Batch]:
    """All batches of the folder with their current state at the provider."""
    with lock(result.path):
        ledger = read_ledger(result)
        _refresh(result, ledger)
    return ledger.batches


def collect(result: ResultFolder, say: Say) -> Collected:
    """Fetch the results of ended batches and merge them into the journal. Others are not changed."""
    collected = Collected()
    with lock(result.path):
        ledger = read_ledger(result)
        _refresh(result, ledger)
        ended = [batch for batch in ledger.batches if batch.state == "created" and batch.status in ENDED]
        collected.waiting = [batch for batch in ledger.batches if batch.in_flight and batch not in ended]
        files: list[Path] = []
        for batch in ended:
            with _server(result, base_url=batch.base_url) as server:
                files += _fetch(ledger, batch, server, say)
            if (advice := advice_for(batch, result)) is not None:
                collected.advice.append(advice)
        if files:
            collected.imported = import_locked(result, tuple(files))
        for batch in ended:
            batch.state = "collected"
        ledger.save()
        collected.batches = ended
    return collected


def advice_for(batch: Batch, result: ResultFolder) -> str | None:
    """Advice on a batch that was not sent completely, failed, expired or was cancelled; otherwise None."""
    name, again = f"batch {batch.number}", f"judge run {result.path} --batch submit"
    if batch.state in ("written", "uploading", "uploaded", "creating"):
        return f"{name} was not sent to its end; {again} goes on with it"
    if batch.status == "failed":
        why = f": {batch.problem}" if batch.problem else ""
        return f"{name} was refused by the provider, which ran no request{why}; mend that, then {again}"
    if batch.status in ("expired", "cancelled"):
        done = "" if batch.done is None else f" with {batch.done} of {batch.lines} lines done"
        ended = "expired" if batch.status == "expired" else "was cancelled"
        return f"{name} {ended}{done}; judge run {result.path} --batch collect keeps them, {again} asks the rest"
    return None


def _prepare(asked: Wanted, ledger: Ledger, most_lines: int, url: str) -> list[Batch]:
    """Nothing is sent yet."""
    first = len(ledger.batches)
    export = export_locked(asked, lambda n: ledger.folder / f"requests-{first + n:04d}.jsonl", most_lines=most_lines)
    _check_cost(asked, export.parts)
    new = [Batch(first + n, part.lines, part.repeats, base_url=url) for n, part in enumerate(export.parts, 1)]
    ledger.batches += new
    ledger.save()
    return new


def _send(ledger: Ledger, batch: Batch, server: BatchApi, say: Say) -> None:
    requests, name = ledger.requests(batch), ledger.remote_name(batch)
    if batch.file_id is None:
        if batch.state == "uploading":
            batch.file_id = server.find_file(name, _size(requests))
        if batch.file_id is None:
            batch.state = "uploading"
            ledger.save()
            batch.file_id = server.upload(name, requests)
        batch.state = "uploaded"
        ledger.save()
    metadata = {"judge_run": ledger.run_id, "judge_part": str(batch.number)}
    remote = server.find_batch(metadata) if batch.state == "creating" else None
    if remote is None:
        batch.state = "creating"
        ledger.save()
        remote = server.create(batch.file_id, _route(requests), metadata)
    batch.batch_id, batch.state, batch.submitted = remote.id, "created", time.time()
    _update(batch, remote)
    ledger.save()
    say(f"batch {batch.number}: {batch.lines} lines, {batch.repeats} repeats, sent as {remote.id}")


def _refresh(result: ResultFolder, ledger: Ledger) -> None:
    for batch in ledger.batches:
        if batch.state == "created" and batch.batch_id is not None:
            with _server(result, base_url=batch.base_url) as server:
                _update(batch, server.retrieve(batch.batch_id))
            ledger.save()


def _update(batch: Batch, remote: Remote) -> None:
    batch.status, batch.done, batch.failed = remote.status, remote.done, remote.failed
    batch.output_file_id, batch.error_file_id, batch.problem = (
        remote.output_file_id,
        remote.error_file_id,
        remote.problem,
    )


def _fetch(ledger: Ledger, batch: Batch, server: BatchApi, say: Say) -> list[Path]:
    """Paths of the non-empty output and error files."""
    files = []
    for kind, file_id in (("output", batch.output_file_id), ("errors", batch.error_file_id)):
        if file_id is None:
            continue
        target = ledger.folder / f"{kind}-{batch.number:04d}.jsonl"
        if not target.is_file():
            server.download(file_id, target)
        if target.stat().st_size:
            files.append(target)
    say(f"batch {batch.number}: {batch.status}, {len(files)} result file{'' if len(files) == 1 else 's'}")
    return files


@contextmanager
def _server(result: ResultFolder, asked: Wanted | None = None, *, base_url: str | None = None) -> Iterator[BatchApi]:
    # With `asked` the run definition's first base_url counts, otherwise that of an earlier batch.
    if asked is not None:
        judge, settings = asked.spec.judge, settings_of(asked.spec, asked.folder)
    else:
        manifest = read_manifest(result.manifest)
        judge, keys = str(manifest["judge"]), manifest.get("asked", {})
        settings = Settings(
            (base_url,) if base_url else (),
            headers=keys.get("headers") or {},
            api_key_env=keys.get("api_key_env"),
            trusted=on_this_machine([base_url] if base_url else [], result.path),
        )
    with batch_api_of(judge, settings, result) as server:
        yield server


def _check_cost(asked: Wanted, parts: list[Part]) -> None:
    """Raise SpecError where the cost estimated from file sizes exceeds a limit, or where the batch price is not
    known."""
    limits = [
        (asked.spec.max_cost, "max_cost"),
        (None if asked.purse is None else asked.purse.left, "what is left of max_cost"),
    ]
    set_limits = [(most, limit_name) for most, limit_name in limits if most is not None]
    if not set_limits or not parts:
        return
    price = load_prices(asked.spec.judge, asked.spec.base_url, asked.spec.engine)
    if price is None or price.batch is None:
        raise SpecError(
            f"max_cost is set and no batch price is known for {asked.spec.judge}: it could not be kept",
            hint=f"{how_to_price(asked.spec.judge)} with `batch`, or leave max_cost out",
        )
    prompt = sum(part.bytes for part in parts) // _CHARACTERS_PER_TOKEN
    answers = sum(part.repeats for part in parts) * (asked.spec.generation.max_tokens or _ANSWER_TOKENS)
    cost = price.batch.cost(prompt, answers)
    most, limit_name = min(set_limits)
    if cost > most:
        raise SpecError(
            f"these batches would cost about {dollars(cost)}, more than {limit_name} {dollars(most)}; nothing was sent",
            hint=Advice("take fewer stories with {limit}, or raise max_cost", limit="N"),
        )
    if asked.purse is not None:
        asked.purse.left -= cost


def _route(requests: Path) -> str:
    """URL path that the first request names; "" where the file's format has none."""
    try:
        with requests.open("rb") as stream:
            return str(orjson.loads(stream.readline()).get("url", ""))
    except (OSError, orjson.JSONDecodeError, AttributeError) as error:
        raise RunFolderError(f"{requests} cannot be read ({error})", hint="restore it from a copy") from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}", hint="restore it from a copy") from error
