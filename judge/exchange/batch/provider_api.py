"""Interface of a provider's batch API, with request files, batches and the state of each batch."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from judge.asking.execution.sending.stopping import decide
from judge.base.errors import BackendError


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


class BatchApi(Protocol):
    """A provider's batch API for one account, for use in a `with` block. Requests raise `BackendError`."""

    url: str

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def upload(self, name: str, content: Path) -> str:
        """Id of the uploaded request file."""
        ...

    def find_file(self, name: str, size: int) -> str | None:
        """Id of an uploaded file with this name and size; None if there is none."""
        ...

    def create(self, file_id: str, route: str, metadata: dict[str, str]) -> Remote:
        """Start a batch of the uploaded file `file_id`; `metadata` identifies it. `route` is the API path that the
        lines of the file name; "" if they name none."""
        ...

    def find_batch(self, metadata: dict[str, str]) -> Remote | None:
        """The batch started with this metadata; None if there is none."""
        ...

    def retrieve(self, batch_id: str) -> Remote:
        """Current state of a batch at the provider."""
        ...

    def download(self, file_id: str, target: Path) -> None:
        """Write a file of results, given by its id, to `target`. A failed download leaves no partial file."""
        ...


T = TypeVar("T")

# Of one request to a batch API: growing pauses outlast a short outage, and the command can be repeated.
_ATTEMPTS = 6


class BatchClient:
    """What the clients of all providers share: a `with` block, and patience with a request that may be repeated."""

    def __init__(self) -> None:
        self._rng = random.Random()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Does nothing: no connection stays open between requests."""

    def _patiently(self, once: Callable[[], T]) -> T:
        attempts = 0
        while True:
            try:
                return once()
            except BackendError as error:
                attempts += 1
                delay = decide(error, attempts, _ATTEMPTS, self._rng).delay if error.retryable else None
                if delay is None or attempts >= _ATTEMPTS:
                    raise
                time.sleep(delay)
