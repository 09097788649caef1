"""Client for OpenAI's batch API, the only module that imports the openai SDK. The SDK's own retries are off; requests
that are safe to repeat are retried with this program's delays. Creating a batch costs money; after a lost reply the
provider's list of batches is therefore searched before another is created."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from judge.backends import Settings
from judge.backends.openai.credentials import Credentials
from judge.backends.openai.errors import status_error
from judge.base.credentials.providers import addresses_of
from judge.base.errors import BackendError
from judge.base.files import write_whole
from judge.base.redaction import redact
from judge.exchange.batch.ledger import BatchApi, Remote

if TYPE_CHECKING:
    from openai.types import Batch as RemoteBatch

Route = Literal["/v1/chat/completions", "/v1/completions", "/v1/responses"]
T = TypeVar("T")

# Rows in a page of the provider's lists.
_PAGE = 100

# Seconds without an answer.
_TIMEOUT = 120.0


class BatchServer(BatchApi):
    """OpenAI's batch API for one account, for use in a `with` block. Requests raise `BackendError`."""

    def __init__(self, settings: Settings) -> None:
        import openai

        super().__init__()
        self.url = addresses_of(settings.base_url)[0].rstrip("/")
        self._credentials = Credentials((self.url,), settings)
        self._credentials.require()
        headers: dict[str, Any] = dict(self._credentials.headers(self.url))
        # The SDK wants a key and sends it as Authorization, unless that is given or left out.
        headers.setdefault("Authorization", openai.Omit() if headers else "Bearer none")
        self._openai = openai
        self._client = openai.OpenAI(
            api_key="none",
            base_url=self.url,
            max_retries=0,
            timeout=_TIMEOUT,
            default_headers=headers,
            # The SDK's own client would carry keys to wherever a server redirects.
            http_client=openai.DefaultHttpxClient(follow_redirects=False, timeout=_TIMEOUT),
        )

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def upload(self, name: str, content: Path) -> str:
        """Id of the uploaded request file. The upload is retried, because a second copy costs nothing."""

        def once() -> str:
            with content.open("rb") as stream:
                return self._client.files.create(file=(name, stream), purpose="batch").id

        return self._done(once)

    def find_file(self, name: str, size: int) -> str | None:
        def once() -> str | None:
            for file in self._client.files.list(purpose="batch", limit=_PAGE):
                if file.filename == name and file.bytes == size:
                    return file.id
            return None

        return self._done(once)

    def create(self, file_id: str, route: str, metadata: dict[str, str]) -> Remote:

        def start() -> RemoteBatch:
            return self._client.batches.create(
                input_file_id=file_id, endpoint=cast("Route", route), completion_window="24h", metadata=metadata
            )

        return _remote(self._created(lambda: self._worded(start), lambda: self._worded(lambda: self._find(metadata))))

    def find_batch(self, metadata: dict[str, str]) -> Remote | None:
        batch = self._done(lambda: self._find(metadata))
        return None if batch is None else _remote(batch)

    def retrieve(self, batch_id: str) -> Remote:
        return _remote(self._done(lambda: self._client.batches.retrieve(batch_id)))

    def download(self, file_id: str, target: Path) -> None:
        """Write a file of the provider to `target`. A failed download leaves no partial file."""

        def once() -> None:
            # Not streamed: what breaks off while the SDK streams comes as an error of its transport, whose name changed
            # between versions. Files are of some 200 MB at most.
            write_whole(target, self._credentials.clean(self._client.files.content(file_id).content), follow=False)

        self._done(once)

    def _find(self, metadata: dict[str, str]) -> RemoteBatch | None:
        for batch in self._client.batches.list(limit=_PAGE):
            if batch.metadata and all(batch.metadata.get(key) == value for key, value in metadata.items()):
                return batch
        return None

    def _done(self, once: Callable[[], T]) -> T:
        return self._patiently(lambda: self._worded(once))

    def _worded(self, once: Callable[[], T]) -> T:
        try:
            return once()
        except self._openai.APIError as error:
            raise self._sentence(error) from error

    def _sentence(self, error: Any) -> BackendError:
        if isinstance(error, self._openai.APIStatusError):
            reply = error.response
            if reply.status_code == 404:
                return BackendError(
                    f"{self.url}: HTTP 404: no batch API here, or no such batch or file: {redact(error.message)}",
                    kind="address",
                    retryable=False,
                    status=404,
                    hint="batches need a provider's batch API; elsewhere: judge export RUN --as batch, vllm run-batch",
                )
            return status_error(reply.status_code, reply.headers, reply.content, self.url)
        if isinstance(error, self._openai.APITimeoutError):
            return BackendError(f"{self.url}: no answer in time", kind="timeout", retryable=True)
        return BackendError(
            f"{self.url}: {redact(str(error))} ({redact(str(error.__cause__ or 'no cause told'))})",
            kind="connection",
            retryable=True,
            hint="check base_url (or OPENAI_BASE_URL) and the network, then run the same command again",
        )


def _remote(batch: RemoteBatch) -> Remote:
    counts = batch.request_counts
    mistakes = (batch.errors.data or []) if batch.errors else []
    problem = "; ".join(f"{each.message}" + (f" (line {each.line})" if each.line else "") for each in mistakes[:3])
    return Remote(
        batch.id,
        batch.status,
        counts.total if counts else None,
        counts.completed if counts else None,
        counts.failed if counts else None,
        batch.output_file_id,
        batch.error_file_id,
        problem or None,
    )
