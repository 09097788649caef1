"""Client for Gemini's batch API (files and batches), based on aiohttp."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import orjson

from judge.backends import Settings
from judge.backends.gemini import GEMINI
from judge.backends.openai.backend import proxy_of
from judge.backends.openai.credentials import Credentials, endpoint, without_slash
from judge.backends.openai.errors import connection_error, read_body, status_error
from judge.base.credentials.providers import addresses_of
from judge.base.errors import BackendError
from judge.base.files import write_whole
from judge.base.foreign import json_value
from judge.base.redaction import redact
from judge.exchange.batch.provider_api import BatchClient, Remote

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


class GeminiBatches(BatchClient):
    """Gemini's batch API for one account, for use in a `with` block. Requests raise `BackendError`."""

    def __init__(self, model: str, settings: Settings, *, timeout: float = 120.0) -> None:
        self.url = without_slash(addresses_of(settings.base_url, "gemini")[0])
        self._model = model.removeprefix("models/")
        self._credentials = Credentials((self.url,), settings, GEMINI.protocol)
        self._credentials.require()
        self._timeout = timeout
        super().__init__()

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
        """Start a batch, with a name made from `metadata`; after a lost reply the batches are searched for it first."""
        tries = 0
        batch = {"displayName": _name(metadata), "inputConfig": {"fileName": file_id}}

        async def once(client: aiohttp.ClientSession) -> Remote:
            nonlocal tries
            tries += 1
            if tries > 1 and (running := await self._find(client, metadata)) is not None:
                return running
            address = endpoint(self.url, f"/models/{self._model}:batchGenerateContent")
            async with client.post(address, data=orjson.dumps({"batch": batch})) as reply:
                return _remote(await self._json(reply))

        return self._done(once)

    def find_batch(self, metadata: Mapping[str, str]) -> Remote | None:
        """The batch whose name is made from this metadata; None if there is none."""
        return self._done(lambda client: self._find(client, metadata))

    def retrieve(self, batch_id: str) -> Remote:
        async def once(client: aiohttp.ClientSession) -> Remote:
            async with client.get(endpoint(self.url, f"/{batch_id}")) as reply:
                return _remote(await self._json(reply))

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
                return _remote(operation)
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
        raise status_error(
            reply.status, reply.headers, body, self.url, redact, route="/models", protocol=GEMINI.protocol
        )

    async def _json(self, reply: aiohttp.ClientResponse) -> dict[str, Any]:
        body = await self._read(reply)
        try:
            data = json_value(body)
        except orjson.JSONDecodeError:
            data = None
        if not isinstance(data, dict):
            raise BackendError(f"{self.url}: the answer is not JSON", kind="garbage", retryable=True)
        return data

    def _done(self, once: Callable[[aiohttp.ClientSession], Awaitable[T]]) -> T:
        return self._patiently(lambda: asyncio.run(self._asked(once)))

    async def _asked(self, once: Callable[[aiohttp.ClientSession], Awaitable[T]]) -> T:
        client = aiohttp.ClientSession(
            headers={"Content-Type": "application/json"},
            middlewares=(self._credentials.attach,),
            timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=10),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=proxy_of(self.url),
        )
        async with client:
            try:
                return await once(client)
            except TimeoutError:
                raise BackendError(f"{self.url}: no answer in time", kind="timeout", retryable=True) from None
            except aiohttp.ClientError as error:
                raise connection_error(error, self.url) from error
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


def _remote(operation: Mapping[str, Any]) -> Remote:
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
