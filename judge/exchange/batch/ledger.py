"""`batches.json` in a result folder: the batches sent to a provider, and the state of each. It is written before and
after each remote step, to tell after an interruption which step may have been completed. The folder `batches/` beside
it holds each batch's request file and, once collected, its results."""

from __future__ import annotations

import random
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import orjson

from judge.asking.execution.sending.stopping import decide
from judge.asking.run_folder import ResultFolder, read_manifest, write_manifest
from judge.base.errors import BackendError, RunFolderError
from judge.exchange.batch.results import parse_id

# Interface of a provider's batch API, with request files, batches and the state of each batch.


@dataclass(frozen=True, slots=True)
class Remote:
    """A batch as the provider describes it; `total`, `done` and `failed` count requests (None = not stated)."""

    id: str
    status: str
    total: int | None
    done: int | None
    failed: int | None
    output_file_id: str | None
    error_file_id: str | None
    problem: str | None


T = TypeVar("T")

# Of one request to a batch API: growing pauses outlast a short outage, and the command can be repeated.
_ATTEMPTS = 6


class BatchApi(ABC):
    """A provider's batch API for one account, for use in a `with` block. Requests raise `BackendError`; one that may be
    repeated is sent again with growing pauses."""

    url: str

    def __init__(self) -> None:
        self._rng = random.Random()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:  # noqa: B027  not every client has something to close
        """Does nothing: no connection stays open between requests."""

    @abstractmethod
    def upload(self, name: str, content: Path) -> str:
        """Id of the uploaded request file."""

    @abstractmethod
    def find_file(self, name: str, size: int) -> str | None:
        """Id of an uploaded file with this name and size; None if there is none."""

    @abstractmethod
    def create(self, file_id: str, route: str, metadata: dict[str, str]) -> Remote:
        """Start a batch of the uploaded file `file_id`; `metadata` identifies it. `route` is the API path that the
        lines of the file name; "" if they name none."""

    @abstractmethod
    def find_batch(self, metadata: dict[str, str]) -> Remote | None:
        """The batch started with this metadata; None if there is none."""

    @abstractmethod
    def retrieve(self, batch_id: str) -> Remote:
        """Current state of a batch at the provider."""

    @abstractmethod
    def download(self, file_id: str, target: Path) -> None:
        """Write a file of results, given by its id, to `target`. A failed download leaves no partial file."""

    def _patiently(self, once: Callable[[], T]) -> T:
        attempts = 0
        while True:
            try:
                return once()
            except BackendError as error:
                attempts += 1
                delay = decide(error, attempts, _ATTEMPTS, self._rng) if error.retryable else None
                if delay is None or attempts >= _ATTEMPTS:
                    raise
                time.sleep(delay)

    def _created(self, start: Callable[[], T], find: Callable[[], T | None]) -> T:
        """A batch that `start` creates, which costs money: after a lost reply the provider's batches are searched for
        it before another is started."""
        tries = 0

        def once() -> T:
            nonlocal tries
            tries += 1
            if tries > 1 and (running := find()) is not None:
                return running
            return start()

        return self._patiently(once)


LEDGER, FOLDER = "batches.json", "batches"

# Our own step. `uploading` and `creating` mean: asked for, and perhaps done, when the program ended.
State = Literal["written", "uploading", "uploaded", "creating", "created", "collected"]

# The provider's statuses after which nothing more comes.
ENDED = ("completed", "failed", "expired", "cancelled")


@dataclass(slots=True)
class Batch:
    """One batch of requests; `state` is the step that this program has reached, `status` the provider's last report."""

    number: int
    lines: int
    repeats: int
    state: State = "written"
    base_url: str = ""
    file_id: str | None = None
    batch_id: str | None = None
    status: str | None = None
    done: int | None = None
    failed: int | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    problem: str | None = None
    submitted: float | None = None

    @property
    def in_flight(self) -> bool:
        """Whether the batch reserves its repeats: neither collected, nor rejected as a whole by the provider."""
        return self.state != "collected" and self.status != "failed"


@dataclass(slots=True)
class Ledger:
    """All batches that a result folder sent or prepared, in order; `run_id` tells them from others of the account."""

    result: ResultFolder
    run_id: str = field(default_factory=lambda: secrets.token_hex(8))
    batches: list[Batch] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """Folder of request files and result files."""
        return self.result.path / FOLDER

    def requests(self, batch: Batch) -> Path:
        return self.folder / f"requests-{batch.number:04d}.jsonl"

    def remote_name(self, batch: Batch) -> str:
        """The request file's name at the provider, unique to this result folder."""
        return f"judge-{self.run_id}-{batch.number:04d}.jsonl"

    def save(self) -> None:
        """Write `batches.json`. If writing fails, the earlier file is kept."""
        batches = [asdict(batch) for batch in self.batches]
        write_manifest(self.result.path / LEDGER, {"format": 1, "run_id": self.run_id, "batches": batches})

    def in_flight(self) -> dict[str, set[int]]:
        """Repeats in batches in flight, by query key."""
        repeats_by_query: dict[str, set[int]] = {}
        for batch in self.batches:
            for name in _custom_ids(self.requests(batch)) if batch.in_flight else ():
                if (batch_id := parse_id(name)) is not None:
                    repeats_by_query.setdefault(batch_id.query_key, set()).update(batch_id.repeats)
        return repeats_by_query


def read_ledger(result: ResultFolder) -> Ledger:
    """The ledger of a result folder, empty if no batch was sent."""
    path = result.path / LEDGER
    data = read_manifest(path)
    if not data:
        return Ledger(result)
    names = {each.name for each in fields(Batch)}
    try:
        batches = [Batch(**{key: value for key, value in each.items() if key in names}) for each in data["batches"]]
        return Ledger(result, str(data["run_id"]), batches)
    except (KeyError, TypeError, AttributeError) as error:
        raise RunFolderError(f"{path} is not a list of batches ({error})", hint="restore it from a copy") from error


def in_flight_note(result: ResultFolder) -> str | None:
    """Text with the numbers of repeats and batches in flight; None if there are none."""
    waiting = [batch for batch in read_ledger(result).batches if batch.in_flight]
    if not waiting:
        return None
    repeats = sum(batch.repeats for batch in waiting)
    return f"{repeats} repeats in {len(waiting)} batch{'es' if len(waiting) > 1 else ''}"


def _custom_ids(file: Path) -> Iterator[Any]:
    try:
        with file.open("rb") as stream:
            for line in stream:
                data = orjson.loads(line)
                yield data["key"] if "request" in data else data["custom_id"]
    except (OSError, orjson.JSONDecodeError, KeyError) as error:
        raise RunFolderError(
            f"{file} cannot be read, and tells what is in a batch that is not collected ({error})",
            hint="restore it from a copy, or collect the batch first: judge run RUN --batch collect",
        ) from error
