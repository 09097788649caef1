"""Client for Anthropic's Message Batches, based on aiohttp."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from judge.asking.run_folder import ResultFolder
from judge.backends import Settings
from judge.backends.anthropic import connect, refused, route_of, url_of
from judge.backends.openai.credentials import Credentials
from judge.backends.openai.errors import connection_error, read_body
from judge.base.credentials.providers import ANTHROPIC
from judge.base.errors import BackendError, RunFolderError
from judge.base.files import write_whole
from judge.base.foreign import json_value
from judge.exchange.batch.ledger import FOLDER, read_ledger
from judge.exchange.batch.provider_api import BatchClient, Remote

_PAGE = 100
_ROUTE = "/messages/batches"

# Seconds by which the provider's clock may be behind this machine's.
_SKEW = 300.0


class AnthropicBatches(BatchClient):
    """Anthropic's batch API for one account, for use in a `with` block. Requests raise `BackendError`. A request file
    in the result folder is identified by its own name, because no files are uploaded."""

    def __init__(self, settings: Settings, result: ResultFolder, *, timeout: float = 600.0) -> None:
        super().__init__()
        self.url = url_of(settings)
        self._result = result
        self._timeout = timeout
        self._credentials = Credentials((self.url,), settings, ANTHROPIC)
        self._credentials.require()

    def upload(self, name: str, content: Path) -> str:  # noqa: ARG002  files have no name there: there are none
        """Name of the request file, which serves as its id: a batch of this provider contains its requests."""
        return content.name

    def find_file(self, name: str, size: int) -> str | None:  # noqa: ARG002  as above
        """Always None: this provider stores no request files."""
        return None

    def create(self, file_id: str, route: str, metadata: dict[str, str]) -> Remote:  # noqa: ARG002  it has one route
        """Start the batch of the request file named `file_id`."""
        # If the reply was lost, the provider's batches are searched for this one before another is started.
        tries = 0

        def once() -> dict[str, Any]:
            nonlocal tries
            tries += 1
            if tries > 1 and (batch := self._find(file_id)) is not None:
                return batch
            lines = self._requests(file_id).splitlines()
            return self._asked("POST", _ROUTE, b'{"requests":[' + b",".join(lines) + b"]}")

        return _remote(self._patiently(once))

    def find_batch(self, metadata: dict[str, str]) -> Remote | None:
        """The batch of the request file numbered in `metadata` (key `judge_part`); None if there is none."""
        batch = self._patiently(lambda: self._find(f"requests-{int(metadata['judge_part']):04d}.jsonl"))
        return None if batch is None else _remote(batch)

    def retrieve(self, batch_id: str) -> Remote:
        return _remote(self._patiently(lambda: self._asked("GET", f"{_ROUTE}/{batch_id}")))

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
            page = self._asked("GET", f"{_ROUTE}?limit={_PAGE}{after}")
            for batch in page["data"]:
                if datetime.fromisoformat(batch["created_at"]).timestamp() < since:
                    return
                yield batch
            if not page.get("has_more"):
                return
            after = f"&after_id={page['last_id']}"

    def _asked(self, method: str, route: str, body: bytes | None = None) -> dict[str, Any]:
        content = self._sent(method, route, body)
        try:
            answer = json_value(content)
        except orjson.JSONDecodeError as error:
            raise BackendError(f"{self.url}: the answer is not JSON", kind="garbage", retryable=True) from error
        if not isinstance(answer, dict):
            raise BackendError(f"{self.url}: the answer is no object", kind="garbage", retryable=True)
        return answer

    def _sent(self, method: str, route: str, body: bytes | None = None) -> bytes:
        try:
            status, headers, content = asyncio.run(self._exchange(method, route, body))
        except TimeoutError:
            raise BackendError(f"{self.url}: no answer in time", kind="timeout", retryable=True) from None
        except aiohttp.ClientError as error:
            raise connection_error(error, self.url) from error
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

    async def _exchange(self, method: str, route: str, body: bytes | None) -> tuple[int, Mapping[str, str], bytes]:
        async with (
            connect(self.url, self._credentials, self._timeout) as client,
            client.request(method, route_of(self.url, route), data=body) as reply,
        ):
            return reply.status, reply.headers, self._credentials.clean(await read_body(reply))


def _names(lines: bytes) -> Iterator[str]:
    """The custom_ids in the lines of a request file or of a result file."""
    return (str(json_value(line)["custom_id"]) for line in lines.splitlines() if line.strip())


def _remote(batch: dict[str, Any]) -> Remote:
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
