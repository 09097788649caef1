"""Class 8: what a server may answer: other types, huge and endless bodies, redirects, absurd numbers, two models."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.backends import Settings, open_backend
from judge.backends.openai.errors import MOST
from judge.base.errors import BackendError
from judge.base.records import Criterion, Generation, Message, Query, Story
from judge.ratings.ratings_table import read
from tests.hardening.conftest import Make

GOOD = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Rating: 4"}}
Give = Callable[[int, BaseHTTPRequestHandler], None]


class Server:
    """Answers POST number n (from 0) as `give` does, and keeps every path it was asked."""

    def __init__(self, give: Give) -> None:
        self.asked: list[tuple[str, str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.asked.append(("GET", self.path))
                send(self, {"data": [{"id": "mock"}]} if self.path.endswith("/models") else {}, 200)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                server.asked.append(("POST", self.path))
                give(sum(1 for how, _ in server.asked if how == "POST") - 1, self)

            def log_message(self, *_: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


def send(handler: BaseHTTPRequestHandler, body: Any, status: int = 200, **headers: str) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw)


@pytest.fixture
def serve() -> Iterator[Callable[[Give], Server]]:
    made: list[Server] = []

    def start(give: Give) -> Server:
        made.append(Server(give))
        return made[-1]

    yield start
    for one in made:
        one.close()


def sitting(place: Path, url: str, **changes: Any) -> Sitting:
    data = {"name": "t", "dataset": str(place / "stories.jsonl"), "judge": "openai/mock", "criteria": "overall"}
    data |= {"eval_prompts": ["ep1"], "base_url": url, "api_key_env": "none", "attempt_timeout": 3.0, "concurrency": 2}
    data |= {"max_attempts": 3, "repeats": 4, "generation": {"seed": None}}
    return Sitting(parse_run_spec(data | changes, "test"), place, ResultFolder(place / "results"), quiet=True)


def ask(url: str, timeout: float = 5.0) -> Any:
    asked = (Message("user", "?"),)
    query = Query("k", Story("s", "p", "m", "text"), Criterion("C", "C", "d"), "ep1", asked, Generation())

    async def once() -> Any:
        backend = open_backend("openai/mock", Settings((url,), api_key_env="none", attempt_timeout=timeout))
        try:
            return await backend.complete(query, [0])
        finally:
            await backend.close()

    return asyncio.run(once())


def message(**parts: Any) -> dict[str, Any]:
    return {"choices": [GOOD | {"message": {"role": "assistant", "content": "Rating: 4"} | parts}], "model": "mock"}


def choice(**parts: Any) -> dict[str, Any]:
    return {"choices": [GOOD | parts], "model": "mock"}


ODD: dict[str, Any] = {
    "content dict": message(content={"a": 1}),
    "content int": message(content=4),
    "content bool": message(content=True),
    "content list of int": message(content=[4]),
    "content list of dicts of int": message(content=[{"text": 4}]),
    "content list of lists": message(content=[["Rating: 4"]]),
    "refusal dict": message(content=None, refusal={"a": 1}),
    "refusal int": message(content=None, refusal=4),
    "refusal list": message(content=None, refusal=["no"]),
    "reasoning dict": message(reasoning={"a": 1}),
    "reasoning int": message(reasoning_content=4),
    "reasoning list": message(reasoning=["thought"]),
    "message list": choice(message=[]),
    "message text": choice(message="Rating: 4"),
    "message int": choice(message=4),
    "message gone": {"choices": [{"index": 0}]},
    "choice text": {"choices": ["Rating: 4"]},
    "choice null": {"choices": [None]},
    "choices dict": {"choices": {"a": 1}},
    "choices int": {"choices": 4},
    "choices text": {"choices": "Rating"},
    "choices empty": {"choices": []},
    "index mixed": {"choices": [GOOD, GOOD | {"index": "x"}]},
    "index null": {"choices": [GOOD, GOOD | {"index": None}]},
    "no JSON": b"Rating: 4",
    "empty": b"",
    "null": b"null",
    "number": b"4",
    "list": b"[]",
    "text": b'"Rating: 4"',
    "not UTF-8": b'{"choices": [{"message": {"content": "\xff"}}]}',
    "cut": b'{"choices": [{"message": {"content": "Rating',
    "deep": b'{"choices": ' + b"[" * 50_000,
    "deep closed": b'{"choices": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "logprobs text": choice(logprobs="x"),
    "logprobs int": choice(logprobs=4),
    "logprobs list": choice(logprobs=[1]),
    "logprobs content int": choice(logprobs={"content": 4}),
    "logprobs content ints": choice(logprobs={"content": [1, 2]}),
    "logprobs no token": choice(logprobs={"content": [{"logprob": -1}]}),
    "logprobs word": choice(logprobs={"content": [{"token": "4", "logprob": "high"}]}),
    "logprobs null": choice(logprobs={"content": [{"token": "4", "logprob": None}]}),
    "logprobs top": choice(logprobs={"content": [{"token": "4", "logprob": -1, "top_logprobs": 4}]}),
    "logprobs top words": choice(logprobs={"content": [{"token": "4", "logprob": -1, "top_logprobs": ["a"]}]}),
    "logprobs deep": choice(
        logprobs={"content": [{"token": "4", "logprob": -1, "bytes": json.loads("[" * 300 + "]" * 300)}]}
    ),
    "logprobs tokens": choice(logprobs={"tokens": 4}),
    "logprobs old top": choice(logprobs={"tokens": ["4"], "token_logprobs": [-1], "top_logprobs": [4]}),
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_answer_is_a_failed_attempt(serve: Callable[[Give], Server], what: str) -> None:
    server = serve(lambda _, handler: send(handler, ODD[what]))
    with pytest.raises(BackendError) as caught:
        ask(server.url)
    assert caught.value.retryable


@pytest.mark.parametrize("every", [2, 5])
def test_odd_answers_lose_no_good_one(serve: Callable[[Give], Server], make: Make, every: int) -> None:
    odd = list(ODD.values())

    def give(number: int, handler: BaseHTTPRequestHandler) -> None:
        body = odd[number % len(odd)] if number % every == 1 else {"choices": [GOOD], "model": "mock"}
        send(handler, body)

    asked = sitting(make(), serve(give).url, max_attempts=8)
    ended = sit(asked)
    assert (ended.outcomes.answered, ended.missing) == (12, 0)


def test_half_an_emoji_costs_no_answer(serve: Callable[[Give], Server], make: Make) -> None:
    """What JSON can spell and UTF-8 cannot hold, in the answer itself and in the JSON inside it."""
    inside = json.dumps({"rating": 2, "explanation": "So sad \ud83d"})
    texts = ["Rating: 4. Lovely \ud83d", inside]

    def give(number: int, handler: BaseHTTPRequestHandler) -> None:
        send(handler, {"choices": [GOOD | {"message": {"role": "assistant", "content": texts[number % 2]}}]})

    asked = sitting(make(), serve(give).url)
    ended = sit(asked)
    assert (ended.outcomes.answered, ended.missing) == (12, 0)
    frame = read([asked.result.path]).frame.query("source == 'judge'")
    assert (frame["status"] == "ok").all()
    assert set(zip(frame["rating"], frame["explanation"], strict=True)) == {(4, "Lovely \ufffd"), (2, "So sad \ufffd")}


STRANGE_USAGE: list[Any] = [
    {"prompt_tokens": -5, "completion_tokens": -5},
    {"prompt_tokens": 10**30},
    {"prompt_tokens": "many"},
    {"prompt_tokens": [1]},
    {"prompt_tokens": True},
    {"prompt_tokens": "nan", "cost": "nan"},
    {"cost": -1.0},
    {"cost": "inf"},
    {"cost": 1e300},
    [],
    "x",
    4,
    {"prompt_tokens_details": []},
    {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": -100},
    {"completion_tokens": 1.5, "prompt_tokens": 1.5},
]


@pytest.mark.parametrize("usage", STRANGE_USAGE, ids=range(len(STRANGE_USAGE)))
def test_absurd_usage_costs_nothing(serve: Callable[[Give], Server], usage: Any) -> None:
    body = {"choices": [GOOD], "usage": usage, "model": "mock"}
    server = serve(lambda _, handler: send(handler, body))
    (response,) = ask(server.url)
    numbers = [response.prompt_tokens, response.completion_tokens, response.cached_tokens, response.cost]
    assert response.text == "Rating: 4"
    assert all(one is None or 0 <= one < 2**53 for one in numbers)


@pytest.mark.parametrize("model", [4, {"a": 1}, ["x"], None, "m" * 10_000_000, True])
@pytest.mark.parametrize("reason", [4, {"a": 1}, ["stop"], None])
def test_an_odd_name_or_end_leaves_the_answer(serve: Callable[[Give], Server], model: Any, reason: Any) -> None:
    body = {"choices": [GOOD | {"finish_reason": reason}], "model": model}
    (response,) = ask(serve(lambda _, handler: send(handler, body)).url)
    assert response.text == "Rating: 4"
    assert len(response.model or "") <= 300
    assert response.finish_reason is None


@pytest.mark.parametrize("empty", [{}, [], None, {"content": None}, {"content": []}, {"tokens": []}, False, ""])
def test_empty_logprobs_are_none(serve: Callable[[Give], Server], empty: Any) -> None:
    (response,) = ask(serve(lambda _, handler: send(handler, choice(logprobs=empty))).url)
    assert response.logprobs is None


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("where", ["another", "same"])
def test_redirects_are_not_followed(serve: Callable[[Give], Server], status: int, where: str) -> None:
    other = serve(lambda _, handler: send(handler, {"choices": [GOOD]}))

    def give(_: int, handler: BaseHTTPRequestHandler) -> None:
        place = f"{other.url}/chat/completions" if where == "another" else "/v1/elsewhere"
        send(handler, {}, status, Location=place)

    server = serve(give)
    with pytest.raises(BackendError, match="redirects to"):
        ask(server.url)
    assert other.asked == []
    assert [path for _, path in server.asked] == ["/v1/chat/completions"]


def test_a_body_of_50_mb_is_cut(serve: Callable[[Give], Server]) -> None:
    server = serve(lambda _, handler: send(handler, message(content="x" * 50_000_000)))
    with pytest.raises(BackendError, match="longer than 32 MiB"):
        ask(server.url, 20)


def test_a_bomb_of_gzip_is_cut(serve: Callable[[Give], Server]) -> None:
    bomb = gzip.compress(b" " * (MOST * 4), 9)
    assert len(bomb) < 200_000
    server = serve(lambda _, handler: send(handler, bomb, Content_Encoding="gzip"))
    with pytest.raises(BackendError, match="longer than 32 MiB"):
        ask(server.url, 20)


def _endless(handler: BaseHTTPRequestHandler, piece: bytes, pause: float) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    try:
        for _ in range(3000):
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            handler.wfile.flush()
            time.sleep(pause)
    except OSError:
        return


def test_an_endless_body_is_cut(serve: Callable[[Give], Server]) -> None:
    server = serve(lambda _, handler: _endless(handler, b" " * 100_000, 0))
    with pytest.raises(BackendError, match="longer than 32 MiB"):
        ask(server.url, 20)


def test_a_body_in_drips_is_a_timeout(serve: Callable[[Give], Server]) -> None:
    server = serve(lambda _, handler: _endless(handler, b" ", 0.05))
    began = time.perf_counter()
    with pytest.raises(BackendError, match="no answer within 1 s"):
        ask(server.url, 1.0)
    assert time.perf_counter() - began < 5


def test_a_number_that_json_lacks_costs_no_answer(serve: Callable[[Give], Server]) -> None:
    body = b'{"choices": [{"message": {"content": "Rating: 4"}, "finish_reason": "stop"}], "x": NaN}'
    (response,) = ask(serve(lambda _, handler: send(handler, body)).url)
    assert response.text == "Rating: 4"


def test_two_models_under_one_judge_are_told(serve: Callable[[Give], Server], make: Make) -> None:
    from judge.ratings.ratings_table import read

    place = make()
    for name, repeats in (("model-a", 1), ("model-b", 2)):
        server = serve(lambda _, handler, name=name: send(handler, {"choices": [GOOD], "model": name}))  # type: ignore[misc]
        sit(sitting(place, server.url, repeats=repeats))
    notes = read([place / "results"]).facts[0].notes
    (note,) = [one for one in notes if "models answered" in one]
    assert "model-a (3), model-b (3)" in note
    manifest = orjson.loads((place / "results" / "manifest.json").read_bytes())
    assert manifest["in_force"]["models"] == {"model-a": 3, "model-b": 3}
    assert [len(one["server"]) for one in manifest["sittings"]] == [1, 1]


def test_max_cost_is_of_the_run_and_not_of_a_sitting(serve: Callable[[Give], Server], make: Make) -> None:
    body = {"choices": [GOOD], "model": "mock", "usage": {"cost": 0.01, "prompt_tokens": 1, "completion_tokens": 1}}
    place, server = make(), serve(lambda _, handler: send(handler, body))
    sit(sitting(place, server.url, repeats=1))
    for _ in range(4):
        ended = sit(sitting(place, server.url, repeats=4, max_cost=0.05, concurrency=1))
    assert "were spent before this sitting" in str(ended.outcomes.stopped)
    with JournalReader(place / "results" / "journal.sqlite") as journal:
        assert journal.spending().reported <= 0.05 + 1e-9


def test_a_key_in_what_a_server_tells_is_not_kept(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge.asking.run_folder import write_manifest

    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefgh1234567890abcdefgh")
    place = make() / "manifest.json"
    write_manifest(
        place, {"server": "nginx sk-abcdefgh1234567890abcdefgh", "models": ["sk-abcdefgh1234567890abcdefgh"]}
    )
    assert "abcdefgh1234" not in place.read_text()
