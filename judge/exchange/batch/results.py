"""Reader of the result files that batch APIs and `vllm run-batch` write: one answer or one error per line. A file is
read once to check its lines and record their positions; answers are read again when needed, so that memory holds ids
only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from judge.backends.anthropic import STATUSES
from judge.backends.gemini import read_answer
from judge.backends.openai.backend import require_logprobs
from judge.backends.openai.errors import server_words, status_error
from judge.base.errors import BackendError, DataError, ErrorKind
from judge.base.fingerprint import TAG, digest
from judge.base.foreign import json_value, opening
from judge.base.late_pattern import late
from judge.base.records import Request, Response
from judge.base.redaction import cleaned, known_keys, redact

# The `custom_id` of a batch line: query, judge and repeats in at most 64 letters, digits, hyphens and underscores.
# `<32 hex of the query key>-<8 hex of the judge key>-r0-2_5` identifies repeats 0, 1, 2 and 5. A result can thus be
# stored without any other information. The id contains no text of a story.

# Characters: Anthropic's limit for a custom_id. One form serves every provider.
LONGEST = 64

_FORM = late(r"([0-9a-f]{32})-([0-9a-f]{8})-r(\d{1,4}(?:-\d{1,4})?(?:_\d{1,4}(?:-\d{1,4})?)*)")


@dataclass(frozen=True, slots=True)
class BatchId:
    """The parts of a `custom_id`; `judge` is the beginning of the hash in the judge key."""

    query_key: str
    judge: str
    repeats: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.query_key.removeprefix(TAG)}-{self.judge}-r{_ranges(self.repeats)}"


def judge_part(judge_key: str) -> str:
    """The characters of a judge key that a `custom_id` contains."""
    return judge_key.removeprefix(TAG)[:8]


def split_ids(query_key: str, judge: str, repeats: Sequence[int]) -> Iterator[BatchId]:
    """Ids of batch lines for these repeats of one query: several where one would be longer than 64 characters."""
    left = tuple(repeats)
    while left:
        size = len(left)
        while len(str(BatchId(query_key, judge, left[:size]))) > LONGEST:
            size -= 1
        yield BatchId(query_key, judge, left[:size])
        left = left[size:]


def parse_id(text: object) -> BatchId | None:
    """The parts of a `custom_id`; None if it does not have this program's form."""
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    repeats: list[int] = []
    for part in match[3].split("_"):
        first, _, last = part.partition("-")
        repeats.extend(range(int(first), int(last or first) + 1))
    if not repeats or sorted(set(repeats)) != repeats:
        return None
    return BatchId(TAG + match[1], match[2], tuple(repeats))


def _ranges(repeats: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for repeat in repeats:
        if runs and repeat == runs[-1][1] + 1:
            runs[-1][1] = repeat
        else:
            runs.append([repeat, repeat])
    # `0-2_5` for (0, 1, 2, 5)
    return "_".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


# Formats of the lines of batch files for each provider: writes requests, and converts results to OpenAI's format.

# Codes of google.rpc.Status, which Gemini's lines carry -> statuses of HTTP (google/rpc/code.proto).
_LINES_CODES = {1: 499, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401}


@dataclass(frozen=True, slots=True)
class LineForm:
    """One provider's format for the lines of request and result files. `request` makes a line from (custom_id, route,
    body); `asks` are keys that only request lines have; `result` converts a line to OpenAI's format, None if it is not
    a result in this format."""

    request: Callable[[str, str, Mapping[str, Any]], dict[str, Any]]
    asks: frozenset[str]
    result: Callable[[dict[str, Any]], dict[str, Any] | None]


def as_openai(data: Any) -> Any:
    """A batch result of any provider in OpenAI's format (custom_id with response or error); other data unchanged."""
    if not isinstance(data, dict):
        return data
    return next((converted for form in _FORMS if (converted := form.result(data)) is not None), data)


def is_request(data: Any) -> bool:
    """Whether a line's object is a request in the format of any provider."""
    return isinstance(data, dict) and "response" not in data and any(data.keys() >= form.asks for form in _FORMS)


def _message_result(data: dict[str, Any]) -> dict[str, Any] | None:
    """OpenAI's form of a line with `custom_id` and `result`, as Anthropic writes it; None for others."""
    result = data.get("result")
    if not isinstance(result, dict):
        return None
    named = {"custom_id": data.get("custom_id")}
    if result.get("type") == "succeeded":
        return named | {"response": {"status_code": 200, "body": result.get("message")}}
    if result.get("type") == "errored" and isinstance(result.get("error"), dict):
        error = result["error"]
        inner = error.get("error") if isinstance(error.get("error"), dict) else error
        status = STATUSES.get(str(inner.get("type")), 500)
        return named | {"response": {"status_code": status, "body": {"error": inner}}}
    ended = {"expired": "batch_expired", "canceled": "batch_cancelled"}.get(str(result.get("type")), "")
    failure = {"code": ended, "message": f"the batch ended before this request was made ({result.get('type')})"}
    return named | {"response": None, "error": failure}


def _gemini_result(data: dict[str, Any]) -> dict[str, Any] | None:
    """OpenAI's form of a line with `key` and `response`, `error` or `status`, as Gemini writes it; None for others."""
    if "key" not in data or "custom_id" in data or "request" in data:
        return None
    named = {"custom_id": data["key"]}
    error = data.get("error") or data.get("status")
    if isinstance(error, dict):
        code = error.get("code")
        status = code if isinstance(code, int) and code >= 400 else _LINES_CODES.get(code or 0, 500)
        return named | {"response": {"status_code": status, "body": {"error": error}}}
    return named | {"response": {"status_code": 200, "body": data.get("response")}}


# OpenAI's batches, and `vllm run-batch`.
OPENAI_LINES = LineForm(
    lambda name, route, body: {"custom_id": name, "method": "POST", "url": f"/v1{route}", "body": body},
    frozenset({"custom_id", "body"}),
    lambda data: data if "custom_id" in data and "response" in data else None,
)

# Anthropic's Message Batches.
MESSAGE_LINES = LineForm(
    lambda name, _route, body: {"custom_id": name, "params": body}, frozenset({"custom_id", "params"}), _message_result
)

# Gemini's batches of a file.
GEMINI_LINES = LineForm(
    lambda name, _route, body: {"key": name, "request": body}, frozenset({"request"}), _gemini_result
)

_FORMS = (OPENAI_LINES, MESSAGE_LINES, GEMINI_LINES)


# Codes of lines that never became a request -> (kind, whether asking again can help); others count as `server`.
_CODES: dict[str, tuple[ErrorKind, bool]] = {
    "batch_expired": ("timeout", True),
    "request_timeout": ("timeout", True),
    "batch_cancelled": ("server", True),
    "content_filter": ("filtered", False),
    "insufficient_quota": ("quota", False),
    "rate_limit_exceeded": ("rate", True),
}


@dataclass(frozen=True, slots=True)
class LinePosition:
    """Position of a line: `file` is an index into `ResultFiles.files`, `offset` is in bytes, `row` counts from 1."""

    file: int
    offset: int
    row: int


@dataclass(slots=True)
class ResultFiles:
    """Positions of the lines in several batch result files. A custom_id can occur in several lines: one after the first
    answer, or a second error in the same file, is in `duplicates`. `foreign` lists custom_ids that this program did not
    write, `cut` half-written last lines."""

    files: tuple[Path, ...]
    lines: int = 0
    by_query: dict[str, list[tuple[BatchId, LinePosition]]] = field(default_factory=dict)
    duplicates: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    _seen: dict[str, tuple[int, bool]] = field(default_factory=dict)

    def read(self, location: LinePosition) -> bytes:
        """The line's bytes without its line break."""
        with self.files[location.file].open("rb") as stream:
            stream.seek(location.offset)
            return stream.readline().strip()


def find_results(files: tuple[Path, ...]) -> ResultFiles:
    """Positions of all results in checked files. Raises DataError where a line is not a batch result."""
    results = ResultFiles(files)
    for number, file in enumerate(files):
        for location, data in _lines(file, number, results):
            results.lines += 1
            name = data["custom_id"]
            batch_id = parse_id(name)
            if batch_id is None:
                results.foreign.append(str(name))
                continue
            response = data.get("response") or {}
            good = response.get("status_code", 200) == 200 and bool(response.get("body")) and not data.get("error")
            before = results._seen.get(name)
            # After an answer nothing counts; after an error, an answer does, and another file's error.
            if before is not None and (before[1] or (before[0] == number and not good)):
                results.duplicates.append(name)
                continue
            results._seen[name] = (number, good)
            results.by_query.setdefault(batch_id.query_key, []).append((batch_id, location))
    return results


def answers_in(line: bytes, query: Request) -> list[Response]:
    """The responses to `query` in a line. Raises `BackendError` where it has an error or the HTTP status of one. The
    message identifies the line by a hash of its bytes, so that an equal line gets an equal message each time."""
    where = f"batch result {digest(line, 6).hex()}"
    data = as_openai(json_value(line))
    response, error = data.get("response"), data.get("error")
    if response is None:
        raise _line_error(where, error)
    status, body = response.get("status_code", 200), response.get("body")
    if status != 200 or error:
        words = orjson.dumps(body or error)
        refused = status_error(status if status != 200 else 500, {}, words, where)
        if refused.kind == "truncated":
            return [Response("", "length")]
        raise refused
    responses = read_answer(body, cleaned(orjson.dumps(body), known_keys()), query.api, where)
    require_logprobs(responses, query, where)
    return responses


def created_at(line: bytes) -> float | None:
    """When the answer was created, in seconds since 1970; None where the line does not say it."""
    body = (as_openai(json_value(line)).get("response") or {}).get("body")
    created = body.get("created") if isinstance(body, dict) else None
    return float(created) if isinstance(created, int | float) and created > 0 else None


def _line_error(where: str, error: Any) -> BackendError:
    # The batch ended before the request was sent.
    code = str(error.get("code") or "") if isinstance(error, dict) else ""
    kind, retryable = _CODES.get(code, ("server", True))
    words = redact(server_words(orjson.dumps(error)))
    return BackendError(f"{where}: {words}", kind=kind, retryable=retryable)


def _lines(file: Path, number: int, results: ResultFiles) -> Iterator[tuple[LinePosition, dict[str, Any]]]:
    with opening(file), file.open("rb") as stream:
        offset = 0
        for row, line in enumerate(stream, 1):
            location = LinePosition(number, offset, row)
            offset += len(line)
            if not line.strip():
                continue
            data = _parsed(line, file, row)
            if data is None:
                results.cut.append(f"{file}, line {row}")
            else:
                yield location, data


def _parsed(line: bytes, file: Path, row: int) -> dict[str, Any] | None:
    """None for a last line that is incomplete."""
    try:
        data = json_value(line)
    except orjson.JSONDecodeError as error:
        if not line.endswith(b"\n") and row > 1:
            return None
        start = line[:60].decode("utf-8", "replace")
        raise DataError(
            "is not JSON", file=file, row=row, found=start, hint="give the results file of a batch (JSON Lines)"
        ) from error
    if is_request(data):
        raise DataError(
            "is a request: this is the file that was sent, not its results",
            file=file,
            row=row,
            hint="give the batch's output file (and its error file, if there is one)",
        )
    data = as_openai(data)
    response = data.get("response") if isinstance(data, dict) else None
    if (
        not isinstance(data, dict)
        or "custom_id" not in data
        or not (isinstance(response, dict) or (response is None and data.get("error")))
        or not isinstance((response or {}).get("status_code", 200), int)
    ):
        raise DataError(
            "is not a batch result (custom_id with response or error)",
            file=file,
            row=row,
            hint="give the results file of a batch API or of vllm run-batch",
        )
    return data
