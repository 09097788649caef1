"""Clients for Gemini's batch API (files and batches) and Anthropic's Message Batches, based on aiohttp."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import orjson

from judge.asking.run_folder import ResultFolder
from judge.backends import Settings
from judge.backends.anthropic import refused, route_of, session, url_of
from judge.backends.gemini import GEMINI
from judge.backends.openai.credentials import Credentials, connect, endpoint, without_slash
from judge.backends.openai.errors import connection_error, read_body, status_error
from judge.base.credentials.providers import ANTHROPIC, Provider, addresses_of
from judge.base.errors import BackendError, RunFolderError
from judge.base.files import write_whole
from judge.base.foreign import json_value
from judge.base.redaction import redact
from judge.exchange.batch.ledger import FOLDER, BatchApi, Remote, read_ledger

T = TypeVar("T")

# Rows in a page of the provider's lists.
_PAGE = 100

# The provider's states -> those of the ledger.
_STATES = {
    "BATCH_STATE_PENDING": "validating",
    "BATCH_STATE_RUNNING": "in_progress",
    "BATCH_STATE_SUCCEEDED": "completed",
    "BATCH_STATE_FAILED": "failed",
    "BATCH_STATE_CANCELLED": "cancelled",
    "BATCH_STATE_EXPIRED": "expired",
}


class HttpBatches(BatchApi):
    """A provider's batch API over HTTP. Requests raise `BackendError`."""

    def __init__(self, url: str, settings: Settings, protocol: Provider, timeout: float) -> None:
        """`timeout` is in seconds, of one request."""
        super().__init__()
        self.url = url
        self._credentials = Credentials((url,), settings, protocol)
        self._credentials.require()
        self._timeout = timeout

    @abstractmethod
    def _connect(self) -> aiohttp.ClientSession:
        """A session that sends requests with the key; called in an event loop."""

    def _asked(self, once: Callable[[aiohttp.ClientSession], Awaitable[T]]) -> T:
        """What `once` gets from the server, in a session of its own."""

        async def within() -> T:
            async with self._connect() as client:
                return await once(client)

        try:
            return asyncio.run(within())
        except TimeoutError:
            raise BackendError(f"{self.url}: no answer in time", kind="timeout", retryable=True) from None
        except aiohttp.ClientError as error:
            raise connection_error(error, self.url) from error

    def _done(self, once: Callable[[aiohttp.ClientSession], Awaitable[T]]) -> T:
        return self._patiently(lambda: self._asked(once))


class GeminiBatches(HttpBatches):
    """Gemini's batch API for one account, for use in a `with` block. Requests raise `BackendError`."""

    def __init__(self, model: str, settings: Settings) -> None:
        super().__init__(without_slash(addresses_of(settings.base_url, "gemini")[0]), settings, GEMINI.protocol, 120.0)
        self._model = model.removeprefix("models/")

    def upload(self, name: str, content: Path) -> str:
        """Id of the uploaded request file. The upload is retried, because a second copy costs nothing."""
        size = content.stat().st_size
        begin = {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(size),
            "X-Goog-Upload-Header-Content-Type": "application/jsonl",
        }
        finish = {"X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0", "Content-Length": str(size)}
        about = orjson.dumps({"file": {"displayName": name}})

        async def once(client: aiohttp.ClientSession) -> str:
            async with client.post(_beside(self.url, "upload", "/files"), data=about, headers=begin) as reply:
                await self._read(reply)
                upload_url = reply.headers.get("X-Goog-Upload-URL", "")
            async with client.post(upload_url, data=_pieces(content), headers=finish) as reply:
                return str((await self._json(reply))["file"]["name"])

        return self._done(once)

    def find_file(self, name: str, size: int) -> str | None:
        async def once(client: aiohttp.ClientSession) -> str | None:
            async for file in self._list_rows(client, "files", "files"):
                if file.get("displayName") == name and int(file.get("sizeBytes", -1)) == size:
                    return str(file["name"])
            return None

        return self._done(once)

    def create(self, file_id: str, route: str, metadata: Mapping[str, str]) -> Remote:  # noqa: ARG002  OpenAI's has routes
        """Start a batch, with a name made from `metadata`."""
        batch = {"displayName": _name(metadata), "inputConfig": {"fileName": file_id}}

        async def start(client: aiohttp.ClientSession) -> Remote:
            address = endpoint(self.url, f"/models/{self._model}:batchGenerateContent")
            async with client.post(address, data=orjson.dumps({"batch": batch})) as reply:
                return _gemini_remote(await self._json(reply))

        return self._created(
            lambda: self._asked(start), lambda: self._asked(lambda client: self._find(client, metadata))
        )

    def find_batch(self, metadata: Mapping[str, str]) -> Remote | None:
        """The batch whose name is made from this metadata; None if there is none."""
        return self._done(lambda client: self._find(client, metadata))

    def retrieve(self, batch_id: str) -> Remote:
        async def once(client: aiohttp.ClientSession) -> Remote:
            async with client.get(endpoint(self.url, f"/{batch_id}")) as reply:
                return _gemini_remote(await self._json(reply))

        return self._done(once)

    def download(self, file_id: str, target: Path) -> None:
        """Write a file of the provider to `target`. A failed download leaves no partial file."""

        async def once(client: aiohttp.ClientSession) -> bytes:
            async with client.get(_beside(self.url, "download", f"/{file_id}:download?alt=media")) as reply:
                return self._credentials.clean(await self._read(reply))

        write_whole(target, self._done(once), follow=False)

    async def _find(self, client: aiohttp.ClientSession, metadata: Mapping[str, str]) -> Remote | None:
        async for operation in self._list_rows(client, "batches", "operations"):
            if operation.get("metadata", {}).get("displayName") == _name(metadata):
                return _gemini_remote(operation)
        return None

    async def _list_rows(self, client: aiohttp.ClientSession, route: str, key: str) -> AsyncIterator[dict[str, Any]]:
        """Entries under `key` of the provider's list at `route`, page by page."""
        token: str | None = ""
        while token is not None:
            more = f"&pageToken={token}" if token else ""
            async with client.get(endpoint(self.url, f"/{route}?pageSize={_PAGE}{more}")) as reply:
                page = await self._json(reply)
            for row in page.get(key) or ():
                yield row
            token = page.get("nextPageToken")

    async def _read(self, reply: aiohttp.ClientResponse) -> bytes:
        body = await read_body(reply)
        if reply.status == 200:
            return body
        if reply.status == 404:
            words = redact(body[:200].decode("utf-8", "replace"))
            raise BackendError(
                f"{self.url}: HTTP 404: no batch API here, or no such model, batch or file: {words}",
                kind="address",
                retryable=False,
                status=404,
                hint="check base_url and the model; the list of models names those that have batches",
            )
        raise status_error(reply.status, reply.headers, body, self.url, route="/models", protocol=GEMINI.protocol)

    async def _json(self, reply: aiohttp.ClientResponse) -> dict[str, Any]:
        body = await self._read(reply)
        try:
            data = json_value(body)
        except orjson.JSONDecodeError:
            data = None
        if not isinstance(data, dict):
            raise BackendError(f"{self.url}: the answer is not JSON", kind="garbage", retryable=True)
        return data

    def _connect(self) -> aiohttp.ClientSession:
        return connect(self.url, self._credentials, self._timeout)

    def _asked(self, once: Callable[[aiohttp.ClientSession], Awaitable[T]]) -> T:
        try:
            return super()._asked(once)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            message = f"{self.url}: the answer has no {error}, which the batch API's answers have"
            raise BackendError(message, kind="garbage", retryable=True) from error


def _name(metadata: Mapping[str, str]) -> str:
    """Name of a batch at the provider, unique to this batch and result folder."""
    return "-".join(["judge", *metadata.values()])


def _beside(url: str, prefix: str, route: str) -> str:
    """`url` with `prefix` before the version, and `route` at the end: `/upload/v1beta/files` for `/v1beta`."""
    scheme, host, path, query, _ = urlsplit(url)
    before, _, version = path.rstrip("/").rpartition("/")
    return endpoint(urlunsplit((scheme, host, f"{before}/{prefix}/{version}", query, "")), route)


async def _pieces(content: Path) -> AsyncIterator[bytes]:
    with content.open("rb") as stream:
        while piece := stream.read(1 << 20):
            yield piece


def _gemini_remote(operation: Mapping[str, Any]) -> Remote:
    metadata = operation.get("metadata") or {}
    state = str(metadata.get("state") or "")
    status = _STATES.get(state, "completed" if operation.get("done") else "in_progress")
    output = metadata.get("output") or operation.get("response") or {}
    stats = metadata.get("batchStats")
    # Counts of nothing are left out.
    total, done, failed = (
        None if stats is None else int(stats.get(name, 0))
        for name in ("requestCount", "successfulRequestCount", "failedRequestCount")
    )
    problem = (operation.get("error") or {}).get("message")
    return Remote(str(operation["name"]), status, total, done, failed, output.get("responsesFile"), None, problem)


_ROUTE = "/messages/batches"

# Seconds by which the provider's clock may be behind this machine's.
_SKEW = 300.0


class AnthropicBatches(HttpBatches):
    """Anthropic's batch API for one account, for use in a `with` block. Requests raise `BackendError`. A request file
    in the result folder is identified by its own name, because no files are uploaded."""

    def __init__(self, settings: Settings, result: ResultFolder) -> None:
        super().__init__(url_of(settings), settings, ANTHROPIC, 600.0)
        self._result = result

    def upload(self, name: str, content: Path) -> str:  # noqa: ARG002  files have no name there: there are none
        """Name of the request file, which serves as its id: a batch of this provider contains its requests."""
        return content.name

    def find_file(self, name: str, size: int) -> str | None:  # noqa: ARG002  as above
        """Always None: this provider stores no request files."""
        return None

    def create(self, file_id: str, route: str, metadata: dict[str, str]) -> Remote:  # noqa: ARG002  it has one route
        """Start the batch of the request file named `file_id`."""

        def start() -> dict[str, Any]:
            lines = self._requests(file_id).splitlines()
            return self._json("POST", _ROUTE, b'{"requests":[' + b",".join(lines) + b"]}")

        return _message_remote(self._created(start, lambda: self._find(file_id)))

    def find_batch(self, metadata: dict[str, str]) -> Remote | None:
        """The batch of the request file numbered in `metadata` (key `judge_part`); None if there is none."""
        batch = self._patiently(lambda: self._find(f"requests-{int(metadata['judge_part']):04d}.jsonl"))
        return None if batch is None else _message_remote(batch)

    def retrieve(self, batch_id: str) -> Remote:
        return _message_remote(self._patiently(lambda: self._json("GET", f"{_ROUTE}/{batch_id}")))

    def download(self, file_id: str, target: Path) -> None:
        """Write the results of a batch, given by its id, to `target`. A failed download leaves no partial file."""
        body = self._patiently(lambda: self._sent("GET", f"{_ROUTE}/{file_id}/results"))
        write_whole(target, body, follow=False)

    def _requests(self, file_id: str) -> bytes:
        file = self._result.path / FOLDER / file_id
        try:
            return file.read_bytes()
        except OSError as error:
            raise RunFolderError(f"{file} cannot be read: {error.strerror}", hint="restore it from a copy") from error

    def _find(self, file_id: str) -> dict[str, Any] | None:
        names = set(_names(self._requests(file_id)))
        since = (self._result.path / FOLDER / file_id).stat().st_mtime - _SKEW
        # Only unrecorded batches count. An ended one must have the custom_ids of the file's requests, a running one as
        # many requests as the file.
        recorded = {batch.batch_id for batch in read_ledger(self._result).batches}
        working = []
        for batch in self._listed(since):
            if batch["id"] in recorded or sum(batch["request_counts"].values()) != len(names):
                continue
            if batch["processing_status"] != "ended":
                working.append(batch)
            elif set(_names(self._sent("GET", f"{_ROUTE}/{batch['id']}/results"))) == names:
                return batch
        if len(working) > 1:
            listed = ", ".join(batch["id"] for batch in working)
            raise BackendError(
                f"{self.url}: a reply was lost, and {listed} hold as many requests and were created since: it is not "
                f"known which of them is this run's",
                kind="request",
                retryable=False,
                hint="run the same command again once they have ended: their results tell",
            )
        return working[0] if working else None

    def _listed(self, since: float) -> Iterator[dict[str, Any]]:
        after = ""
        while True:
            page = self._json("GET", f"{_ROUTE}?limit={_PAGE}{after}")
            for batch in page["data"]:
                if datetime.fromisoformat(batch["created_at"]).timestamp() < since:
                    return
                yield batch
            if not page.get("has_more"):
                return
            after = f"&after_id={page['last_id']}"

    def _json(self, method: str, route: str, body: bytes | None = None) -> dict[str, Any]:
        content = self._sent(method, route, body)
        try:
            answer = json_value(content)
        except orjson.JSONDecodeError as error:
            raise BackendError(f"{self.url}: the answer is not JSON", kind="garbage", retryable=True) from error
        if not isinstance(answer, dict):
            raise BackendError(f"{self.url}: the answer is no object", kind="garbage", retryable=True)
        return answer

    def _sent(self, method: str, route: str, body: bytes | None = None) -> bytes:
        async def exchange(client: aiohttp.ClientSession) -> tuple[int, Mapping[str, str], bytes]:
            async with client.request(method, route_of(self.url, route), data=body) as reply:
                return reply.status, reply.headers, self._credentials.clean(await read_body(reply))

        status, headers, content = self._asked(exchange)
        if status == 200:
            return content
        refusal = refused(status, headers, content, self.url)
        if status == 404 and refusal.kind != "model":
            raise BackendError(
                str(refusal),
                kind="address",
                retryable=False,
                status=404,
                hint="Message Batches need Anthropic's own API; results are kept for 29 days",
            )
        raise refusal

    def _connect(self) -> aiohttp.ClientSession:
        return session(self.url, self._credentials, self._timeout)


def _names(lines: bytes) -> Iterator[str]:
    """The custom_ids in the lines of a request file or of a result file."""
    return (str(json_value(line)["custom_id"]) for line in lines.splitlines() if line.strip())


def _message_remote(batch: dict[str, Any]) -> Remote:
    """A batch with the statuses that OpenAI uses."""
    counts = batch["request_counts"]
    lost = {name: int(counts.get(name, 0)) for name in ("errored", "canceled", "expired")}
    status = "in_progress"
    if batch["processing_status"] == "ended":
        status = "expired" if lost["expired"] else "cancelled" if lost["canceled"] else "completed"
    results = batch["id"] if status != "in_progress" else None
    return Remote(
        batch["id"], status, sum(counts.values()), counts["succeeded"], sum(lost.values()), results, None, None
    )
