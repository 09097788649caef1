"""Files and batches as Gemini keeps them, on loopback: upload in two steps, batches that end when first looked at.

Forms: ai.google.dev/gemini-api/docs/batch-api, ai.google.dev/api/batch-api, ai.google.dev/api/files, and the
google-genai package 3.4.0, all read in November 2026.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.conformance.refusal_forms import google

Answer = Callable[[str, dict[str, Any]], tuple[int, dict[str, str], Any]]

_GRPC = {400: 3, 404: 5, 429: 8, 500: 13, 503: 14}


class Batches:
    """What was uploaded and created. `hold` keeps batches at work; `ends` is the state that they then have; `lose` a
    step whose reply is lost once (`upload`, `create`); `paid` counts the lines that went into batches."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.files: dict[str, dict[str, Any]] = {}
        self.contents: dict[str, bytes] = {}
        self.made: dict[str, dict[str, Any]] = {}
        self.paid: dict[str, int] = {}
        self.hold = False
        self.ends = "BATCH_STATE_SUCCEEDED"
        self.lose: str | None = None
        self.failing: frozenset[int] = frozenset()

    def routes(self, app: web.Application) -> None:
        """Add the routes of files and batches."""
        app.router.add_post("/upload/v1beta/files", self._start)
        app.router.add_post("/upload/v1beta/files/{upload}", self._finish)
        app.router.add_get("/v1beta/files", self._list_files)
        app.router.add_get("/download/v1beta/files/{name}:download", self._download)
        app.router.add_get("/v1beta/batches", self._list)
        app.router.add_get("/v1beta/batches/{name}", self._get)

    async def _start(self, request: web.Request) -> web.Response:
        head = request.headers
        if (head.get("X-Goog-Upload-Protocol"), head.get("X-Goog-Upload-Command")) != ("resumable", "start"):
            return _bad("The upload protocol is resumable, and begins with start.")
        about = json.loads(await request.read())["file"]
        name = f"f{len(self.files) + 1:03d}"
        self.files[name] = {
            "name": f"files/{name}",
            "displayName": about["displayName"],
            "mimeType": head["X-Goog-Upload-Header-Content-Type"],
            "sizeBytes": head["X-Goog-Upload-Header-Content-Length"],
            "state": "PROCESSING",
        }
        return web.json_response({}, headers={"X-Goog-Upload-URL": f"{request.url.with_query(None)}/{name}"})

    async def _finish(self, request: web.Request) -> web.Response:
        if request.headers.get("X-Goog-Upload-Command") != "upload, finalize":
            return _bad("upload, finalize is missing.")
        name = request.match_info["upload"]
        content = await request.read()
        if len(content) != int(self.files[name]["sizeBytes"]) or request.headers.get("X-Goog-Upload-Offset") != "0":
            return _bad("The upload's size is not the one that was announced.")
        self.contents[name] = content
        self.files[name]["state"] = "ACTIVE"
        self._lost(request, "upload")
        return web.json_response({"file": self.files[name]}, headers={"X-Goog-Upload-Status": "final"})

    def _lost(self, request: web.Request, step: str) -> None:
        if self.lose == step:
            self.lose = None
            assert request.transport is not None
            request.transport.close()

    async def _list_files(self, request: web.Request) -> web.Response:
        return _page(request, "files", [one for one in self.files.values() if one["state"] == "ACTIVE"])

    async def _list(self, request: web.Request) -> web.Response:
        return _page(request, "operations", [self._seen(name) for name in self.made])

    async def _get(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in self.made:
            status, _, (body,) = google(404, "NOT_FOUND", f"Batch {name} was not found.")
            return web.json_response(body, status=status)
        return web.json_response(self._seen(name))

    async def _download(self, request: web.Request) -> web.Response:
        if request.query.get("alt") != "media" or request.match_info["name"] not in self.contents:
            return _bad("No such file to download.")
        return web.Response(body=self.contents[request.match_info["name"]])

    def create(self, model: str, body: dict[str, Any]) -> web.Response:
        """A batch from a file of lines with a key and a request each."""
        batch = body["batch"]
        file = batch["inputConfig"]["fileName"].removeprefix("files/")
        if set(batch) != {"displayName", "inputConfig"} or self.files[file]["mimeType"] != "application/jsonl":
            return _bad("A batch needs displayName and inputConfig, with a file of JSON Lines.")
        lines = [json.loads(line) for line in self.contents[file].splitlines()]
        if any(set(line) != {"key", "request"} for line in lines):
            return _bad("Each line needs a key and a request.")
        name = f"b{len(self.made) + 1:03d}"
        for line in lines:
            self.paid[line["key"]] = self.paid.get(line["key"], 0) + 1
        self.made[name] = {
            "name": f"batches/{name}",
            "metadata": {
                "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
                "model": f"models/{model}",
                "displayName": batch["displayName"],
                "state": "BATCH_STATE_PENDING",
                "batchStats": {"requestCount": str(len(lines)), "pendingRequestCount": str(len(lines))},
            },
            "_lines": lines,
        }
        shown = {key: value for key, value in self.made[name].items() if key != "_lines"}
        if self.lose == "create":
            self.lose = None
            return web.Response(status=502, text="<html><title>502 Bad Gateway</title></html>")
        return web.json_response(shown)

    def _seen(self, name: str) -> dict[str, Any]:
        """A batch as it is now; one that is not held is worked through here."""
        batch = self.made[name]
        told = batch["metadata"]
        if told["state"] == "BATCH_STATE_PENDING":
            told["state"] = "BATCH_STATE_RUNNING"
        elif told["state"] == "BATCH_STATE_RUNNING" and not self.hold:
            self._work(batch)
        return {key: value for key, value in batch.items() if key != "_lines"}

    def _work(self, batch: dict[str, Any]) -> None:
        told = batch["metadata"]
        told["state"], batch["done"] = self.ends, True
        if self.ends != "BATCH_STATE_SUCCEEDED":
            batch["error"] = {"code": 9, "message": f"The batch ended as {self.ends}."}
            return
        rows, good = [], 0
        for number, line in enumerate(batch["_lines"]):
            status, _, body = self.answer(told["model"].removeprefix("models/"), line["request"])
            if number in self.failing:
                status, body = 503, {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}
            if status == 200:
                good += 1
                rows.append({"key": line["key"], "response": body})
            else:
                error = {"code": _GRPC[status], "message": body["error"]["message"]}
                rows.append({"key": line["key"], "error": error})
        name = f"batch-{batch['name'].rpartition('/')[2]}"
        # The documentation promises no order of results.
        self.contents[name] = b"".join(json.dumps(row).encode() + b"\n" for row in reversed(rows))
        told["output"] = batch["response"] = {"responsesFile": f"files/{name}"}
        counts = {"requestCount": len(rows), "successfulRequestCount": good, "failedRequestCount": len(rows) - good}
        told["batchStats"] = {key: str(count) for key, count in counts.items() if count}


def _page(request: web.Request, key: str, rows: list[dict[str, Any]]) -> web.Response:
    """A page of a list: two rows, whatever is asked for, so that the next one is needed."""
    start = int(request.query.get("pageToken") or 0)
    more = {"nextPageToken": str(start + 2)} if start + 2 < len(rows) else {}
    return web.json_response({key: rows[start : start + 2], **more})


def _bad(message: str) -> web.Response:
    status, headers, (body,) = google(400, "INVALID_ARGUMENT", message)
    return web.json_response(body, status=status, headers=headers)
