"""Files and batches as a provider keeps them: upload, create, retrieve, list, cancel, content. Never touches a socket.

Lines are answered by the same code as live requests when a batch is first looked at, so that a test needs no clock.
The settings `batch_*` say what goes wrong.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import orjson

from tests.server import answers
from tests.server.settings import Settings

Answer = Callable[[dict[str, Any], bool], tuple[int, bytes]]
"""(request, chat) -> status and body of one line."""

ENDED = ("completed", "failed", "expired", "cancelled")


@dataclass(slots=True)
class BatchStore:
    """What was uploaded and created so far, in order. `submitted` counts how often each request line was paid for."""

    settings: Settings
    answer: Answer
    files: dict[str, tuple[str, str, bytes]] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    submitted: dict[str, int] = field(default_factory=dict)

    def stats(self) -> dict[str, Any]:
        """Counts: files, batches, request lines, and the most often that one custom_id went into a batch."""
        return {
            "files": len(self.files),
            "batches": len(self.batches),
            "batch_lines": sum(self.submitted.values()),
            "batch_line_most": max(self.submitted.values(), default=0),
        }

    def reply(self, method: str, target: str, head: bytes, body: bytes) -> tuple[str, int, bytes]:
        """(what was done, status, body) for one request under /v1/files or /v1/batches."""
        path, _, query = target.partition("?")
        parts = path.removeprefix("/v1/").split("/")
        wanted = {key: values[0] for key, values in parse_qs(query).items()}
        try:
            return self._route(method, parts, wanted, head, body)
        except KeyError:
            return ("lost", *answers.error("not_found"))
        except (ValueError, TypeError, IndexError):
            return ("bad", *answers.error("invalid_json"))

    def _route(
        self, method: str, parts: list[str], wanted: dict[str, str], head: bytes, body: bytes
    ) -> tuple[str, int, bytes]:
        done: Any
        match (method, *parts):
            case ("POST", "files"):
                return "upload", 200, orjson.dumps(self._upload(head, body))
            case ("GET", "files"):
                done = self._page([self._file(key) for key in self.files], wanted)
            case ("GET", "files", key):
                done = self._file(key)
            case ("GET", "files", key, "content"):
                return "content", 200, self.files[key][2]
            case ("POST", "batches"):
                status, made = self._create(orjson.loads(body))
                return "create", status, made
            case ("GET", "batches"):
                done = self._page([self._seen(key) for key in self.batches], wanted)
            case ("GET", "batches", key):
                done = self._seen(key)
            case ("POST", "batches", key, "cancel"):
                done = self._cancel(key)
            case _:
                raise KeyError(method)
        return "look", 200, orjson.dumps(done)

    def _page(self, rows: list[dict[str, Any]], wanted: dict[str, str]) -> dict[str, Any]:
        """A page of a list, newest first, after the id in `after`."""
        rows = rows[::-1]
        ids = [row["id"] for row in rows]
        start = ids.index(wanted["after"]) + 1 if "after" in wanted else 0
        stop = start + min(int(wanted.get("limit", 20)), self.settings.batch_page)
        shown = rows[start:stop]
        return {
            "object": "list",
            "data": shown,
            "first_id": shown[0]["id"] if shown else None,
            "last_id": shown[-1]["id"] if shown else None,
            "has_more": stop < len(rows),
        }

    def _keep(self, name: str, purpose: str, content: bytes) -> str:
        key = f"file-{len(self.files) + 1:04d}"
        self.files[key] = (name, purpose, content)
        return key

    def _file(self, key: str) -> dict[str, Any]:
        name, purpose, content = self.files[key]
        return {
            "id": key,
            "object": "file",
            "bytes": len(content),
            "created_at": 1,
            "filename": name,
            "purpose": purpose,
            "status": "processed",
        }

    def _upload(self, head: bytes, body: bytes) -> dict[str, Any]:
        found = re.search(rb'(?im)^content-type: *multipart/form-data; *boundary="?([^"\r\n;]+)', head)
        if found is None:
            raise ValueError("not multipart")
        fields: dict[str, tuple[str, bytes]] = {}
        for part in body.split(b"--" + found[1])[1:-1]:
            about, _, content = part.partition(b"\r\n\r\n")
            name = re.search(rb'name="([^"]*)"', about)
            file = re.search(rb'filename="([^"]*)"', about)
            if name is not None:
                fields[name[1].decode()] = (file[1].decode() if file else "", content.removesuffix(b"\r\n"))
        return self._file(self._keep(fields["file"][0], fields["purpose"][1].decode(), fields["file"][1]))

    def _create(self, request: dict[str, Any]) -> tuple[int, bytes]:
        name, purpose, content = self.files[request["input_file_id"]]
        if purpose != "batch" or request["completion_window"] != "24h":
            return answers.error("invalid_json")
        key = f"batch_{len(self.batches) + 1:04d}"
        lines = [orjson.loads(line) for line in content.splitlines()]
        batch: dict[str, Any] = {
            "id": key,
            "object": "batch",
            "endpoint": request["endpoint"],
            "errors": None,
            "input_file_id": request["input_file_id"],
            "completion_window": "24h",
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "created_at": int(time.time()),
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            "metadata": request.get("metadata"),
        }
        self.batches[key] = batch
        ids = [line["custom_id"] for line in lines]
        if self.settings.batch_refuse or len(set(ids)) < len(ids):
            problem = self.settings.batch_refuse or f"The custom_id for this request is a duplicate ({name})."
            mistake = {"code": "invalid_request", "message": problem, "line": 1, "param": None}
            batch |= {"status": "failed", "errors": {"object": "list", "data": [mistake]}}
        else:
            for each in ids:
                self.submitted[each] = self.submitted.get(each, 0) + 1
        return 200, orjson.dumps(batch)

    def _seen(self, key: str) -> dict[str, Any]:
        """A batch as it is now; one whose time has come is worked through here."""
        batch = self.batches[key]
        if batch["status"] in ENDED or self.settings.batch_hold:
            if batch["status"] == "validating":
                batch["status"] = "in_progress"
            return batch
        self._work(batch, "expired" if self.settings.batch_expire_after is not None else "completed")
        return batch

    def _cancel(self, key: str) -> dict[str, Any]:
        batch = self.batches[key]
        if batch["status"] not in ENDED:
            self._work(batch, "cancelled")
        return batch

    def _work(self, batch: dict[str, Any], status: str) -> None:
        """Answer the lines: all, or the first few where the batch expires or is cancelled."""
        lines = self.files[batch["input_file_id"]][2].splitlines()
        most = self.settings.batch_expire_after if status != "completed" else None
        good: list[bytes] = []
        bad: list[bytes] = []
        for number, line in enumerate(lines):
            request = orjson.loads(line)
            head = {"id": f"batch_req_{batch['id']}_{number}", "custom_id": request["custom_id"]}
            if status != "completed" and number >= (most or 0):
                why = {
                    "code": f"batch_{status}",
                    "message": "This request could not be executed before the batch ended.",
                }
                bad.append(orjson.dumps({**head, "response": None, "error": why}))
                continue
            code, body = self.answer(request["body"], batch["endpoint"].endswith("/chat/completions"))
            after = self.settings.batch_fail_after
            if after is not None and number >= after:
                code, body = answers.error("server_error")
            response = {"status_code": code, "request_id": f"req_{number}", "body": orjson.loads(body)}
            (good if code == 200 else bad).append(orjson.dumps({**head, "response": response, "error": None}))
        batch["status"] = status
        batch["request_counts"] = {"total": len(lines), "completed": len(good), "failed": len(bad)}
        # Providers promise no order of results.
        for field_, rows in (("output_file_id", good[::-1]), ("error_file_id", bad)):
            if rows:
                batch[field_] = self._keep(f"{batch['id']}_{field_}.jsonl", "batch_output", b"\n".join(rows) + b"\n")
