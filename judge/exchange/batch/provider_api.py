"""Interface of a provider's batch API, with request files, batches and the state of each batch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self


@dataclass(frozen=True, slots=True)
class Remote:
    """A batch as the provider describes it. `total`, `done` and `failed` count requests (None = not stated); `problem`
    is the provider's error message, if any.
    """

    id: str
    status: str
    total: int | None
    done: int | None
    failed: int | None
    output_file_id: str | None
    error_file_id: str | None
    problem: str | None


class BatchApi(Protocol):
    """Interface to a provider's batch API for one account, for use in a `with` block. Methods that send requests raise
    `BackendError`.
    """

    url: str

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def upload(self, name: str, content: Path) -> str:
        """Upload a request file under a name; returns its id."""
        ...

    def find_file(self, name: str, size: int) -> str | None:
        """The id of an uploaded file with this name and size; None if there is none."""
        ...

    def create(self, file_id: str, route: str, metadata: dict[str, str]) -> Remote:
        """Start a batch of a request file's requests and return it as the provider describes it. `file_id` is the id of
        the uploaded file, and `metadata` identifies the batch. `route` is the API path that the lines of the file name;
        "" if they name none.
        """
        ...

    def find_batch(self, metadata: dict[str, str]) -> Remote | None:
        """The batch that was started with this metadata; None if there is none."""
        ...

    def retrieve(self, batch_id: str) -> Remote:
        """Current state of a batch at the provider."""
        ...

    def download(self, file_id: str, target: Path) -> None:
        """Write a file of batch results, given by its id at the provider, to `target`. If the download fails, no
        partial file is left.
        """
        ...
