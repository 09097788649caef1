"""The loopback server over real sockets: what it promises to the tests that stand on it."""

from __future__ import annotations

import asyncio
import http.client
import json
import math
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.server.loopback import LoopbackServer


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with LoopbackServer(ttl=120) as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer) -> LoopbackServer:
    running.reset(settings=True)
    return running


def ask(
    server: LoopbackServer, prompt: str = "Once", *, path: str = "/chat/completions", key: str = "", **more: Any
) -> Any:
    body = {
        "model": "mock",
        **({"messages": [{"role": "user", "content": prompt}]} if "chat" in path else {"prompt": prompt}),
    }
    request = urllib.request.Request(
        server.url + path, json.dumps({**body, **more}).encode(), {"Authorization": f"Bearer {key}"} if key else {}
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def refused(server: LoopbackServer, prompt: str = "Once", **more: Any) -> tuple[int, dict[str, Any], Any]:
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(server, prompt, **more)
    with caught.value as error:
        return error.code, json.load(error)["error"], error.headers


def get(server: LoopbackServer, path: str) -> Any:
    with urllib.request.urlopen(server.root + path, timeout=10) as response:
        return json.load(response)


def text(answer: Any, index: int = 0) -> Any:
    return answer["choices"][index]["message"]["content"]


async def crowd(server: LoopbackServer, prompts: list[str]) -> list[int]:
    """Status of each prompt, all sent at once over connections of their own; 0 = the transport failed."""

    async def one(client: aiohttp.ClientSession, prompt: str) -> int:
        body = {"model": "mock", "messages": [{"role": "user", "content": prompt}]}
        try:
            async with client.post(server.url + "/chat/completions", json=body) as response:
                await response.json()
                return response.status
        except (aiohttp.ClientError, ValueError):
            return 0

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        return list(await asyncio.gather(*(one(client, prompt) for prompt in prompts)))


# -- answers -----------------------------------------------------------------------------------------------------------


def test_ratings_are_stable_and_use_the_whole_scale(server: LoopbackServer) -> None:
    first = {text(ask(server, f"story {i}")).split("\n")[0] for i in range(60)}
    assert first == {f"Rating: {k}" for k in range(1, 6)}
    assert text(ask(server, "story 7")) == text(ask(server, "story 7"))


def test_n_choices_equal_n_calls_with_following_seeds(server: LoopbackServer) -> None:
    together = ask(server, n=4, seed=10)
    assert [each["index"] for each in together["choices"]] == [0, 1, 2, 3]
    assert [text(together, i) for i in range(4)] == [text(ask(server, seed=10 + i)) for i in range(4)]
    assert together["seed"] == 10
    assert together["system_fingerprint"] == "fp_loopback"


def test_ignored_and_rejected_n(server: LoopbackServer) -> None:
    server.configure(ignore_n=True)
    assert len(ask(server, n=3)["choices"]) == 1
    server.configure(ignore_n=False, reject_n=True)
    assert refused(server, n=3)[0] == 400


@pytest.mark.parametrize(
    ("style", "content", "finish"),
    [
        ("prose", "I would rate this story a ", "stop"),
        ("json", '{"rating":', "stop"),
        ("think", "<think>", "stop"),
        ("unparseable", "What a story.", "stop"),
        ("empty", "", "stop"),
        ("truncated", "The story answers", "length"),
        ("content_filter", "", "content_filter"),
    ],
)
def test_styles_of_answer(server: LoopbackServer, style: str, content: str, finish: str) -> None:
    server.configure(style=style)
    choice = ask(server)["choices"][0]
    assert choice["message"]["content"].startswith(content)
    assert choice["finish_reason"] == finish


def test_reasoning_and_refusal_have_fields_of_their_own(server: LoopbackServer) -> None:
    server.configure(style="reasoning")
    message = ask(server)["choices"][0]["message"]
    assert "scale" in message["reasoning_content"]
    assert message["content"].startswith("Rating: ")
    server.configure(style="refusal")
    message = ask(server)["choices"][0]["message"]
    assert message["content"] is None
    assert message["refusal"].startswith("I'm sorry")


def test_shares_of_styles_by_prompt(server: LoopbackServer) -> None:
    server.configure(style={"rating": 0.5, "unparseable": 0.5})
    rated = [text(ask(server, f"story {i}")).startswith("Rating") for i in range(80)]
    assert 20 < sum(rated) < 60
    assert rated == [text(ask(server, f"story {i}")).startswith("Rating") for i in range(80)]


def test_structured_requests_are_answered_in_kind(server: LoopbackServer) -> None:
    assert json.loads(text(ask(server, response_format={"type": "json_object"})))["rating"] in range(1, 6)
    assert text(ask(server, guided_choice=["1", "2"])) in ("1", "2")
    server.configure(fixed_text="Rating: 9")
    assert text(ask(server)) == "Rating: 9"


def test_completions_route(server: LoopbackServer) -> None:
    answer = ask(server, path="/completions")
    assert answer["object"] == "text_completion"
    assert answer["choices"][0]["text"].startswith("Rating: ")


def test_usage_counts_tokens_and_cached_prefix(server: LoopbackServer) -> None:
    stem = "guidelines " * 200
    first, second = (ask(server, stem + tail)["usage"] for tail in ("one", "two"))
    assert first["prompt_tokens"] == (len(stem) + 3) // 4
    assert first["total_tokens"] == first["prompt_tokens"] + first["completion_tokens"]
    assert first["prompt_tokens_details"]["cached_tokens"] == 0
    assert second["prompt_tokens_details"]["cached_tokens"] == 256


def test_chat_logprobs_are_a_distribution_over_the_ratings(server: LoopbackServer) -> None:
    answer = ask(server, logprobs=True, top_logprobs=5)
    tokens = answer["choices"][0]["logprobs"]["content"]
    assert "".join(each["token"] for each in tokens) == text(answer)
    rating = next(each for each in tokens if each["token"].strip().isdigit())
    assert {each["token"] for each in rating["top_logprobs"]} == set("12345")
    assert math.fsum(math.exp(each["logprob"]) for each in rating["top_logprobs"]) == pytest.approx(0.99)
    assert rating["top_logprobs"][0]["token"] == rating["token"].strip()
    assert ask(server)["choices"][0]["logprobs"] is None


def test_text_logprobs_are_parallel_lists(server: LoopbackServer) -> None:
    choice = ask(server, path="/completions", logprobs=3)["choices"][0]
    found = choice["logprobs"]
    assert "".join(found["tokens"]) == choice["text"]
    assert len({len(found[name]) for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset")}) == 1
    assert [
        choice["text"][at : at + len(token)] for at, token in zip(found["text_offset"], found["tokens"], strict=True)
    ] == found["tokens"]


# -- refusals that settings ask for ------------------------------------------------------------------------------------


def test_wrong_key(server: LoopbackServer) -> None:
    server.configure(require_key="sk-right")
    status, error, _ = refused(server, key="sk-wrong")
    assert (status, error["code"]) == (401, "invalid_api_key")
    assert refused(server)[0] == 401
    assert ask(server, key="sk-right")["choices"]


def test_unknown_model_and_missing_models_route(server: LoopbackServer) -> None:
    server.configure(models=["mock", "tiny"])
    assert [each["id"] for each in get(server, "/v1/models")["data"]] == ["mock", "tiny"]
    status, error, _ = refused(server, model="huge")
    assert (status, error["code"]) == (404, "model_not_found")
    assert "huge" in error["message"]
    server.configure(models_route=False)
    with pytest.raises(urllib.error.HTTPError, match="404") as caught:
        get(server, "/v1/models")
    caught.value.close()


def test_context_quota_and_total_failure(server: LoopbackServer) -> None:
    server.configure(max_context_chars=10)
    status, error, _ = refused(server, "x" * 11)
    assert (status, error["code"]) == (400, "context_length_exceeded")
    server.configure(max_context_chars=None, quota=1)
    ask(server)
    status, error, _ = refused(server)
    assert (status, error["code"]) == (429, "insufficient_quota")
    server.configure(quota=None, fail_all={"status": 503, "kind": "overloaded"})
    assert refused(server)[0] == 503
    assert server.stats()["refused"] == 3


def test_unknown_setting_names_the_nearest(server: LoopbackServer) -> None:
    with pytest.raises(ValueError, match="did you mean 'latency_ms'"):
        server.configure(latencyms=3)
    with pytest.raises(ValueError, match="unknown style"):
        server.configure(style="poem")


def test_concurrency_limit_turns_the_surplus_away(server: LoopbackServer) -> None:
    server.configure(max_concurrency=4, latency_ms=100)
    statuses = asyncio.run(crowd(server, [f"story {i}" for i in range(12)]))
    assert sorted(statuses) == [200] * 4 + [429] * 8
    assert server.stats()["max_in_flight"] == 4


# -- faults ------------------------------------------------------------------------------------------------------------


def test_retry_after_as_seconds_date_or_not_at_all(server: LoopbackServer) -> None:
    server.configure(p429=1.0, retry_after=2)
    status, error, headers = refused(server)
    assert (status, error["code"], headers["Retry-After"]) == (429, "rate_limit_exceeded", "2")
    server.configure(retry_after_form="date", retry_after=30)
    ahead = (parsedate_to_datetime(refused(server)[2]["Retry-After"]) - datetime.now(UTC)).total_seconds()
    assert 25 < ahead <= 30
    server.configure(retry_after_form="none")
    assert refused(server)[2]["Retry-After"] is None


def test_garbage_is_200_and_not_utf8(server: LoopbackServer) -> None:
    server.configure(pgarbage=1.0)
    request = urllib.request.Request(
        server.url + "/completions", json.dumps({"model": "mock", "prompt": "Once"}).encode()
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        body = response.read()
    assert response.status == 200
    with pytest.raises(UnicodeDecodeError):
        body.decode()


def test_dropped_connection_and_short_body(server: LoopbackServer) -> None:
    server.configure(pdrop=1.0)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(server)
    server.configure(pdrop=0.0, ptruncate_body=1.0)
    with pytest.raises(http.client.IncompleteRead):
        ask(server)
    assert server.stats()["answered"] == 0


def test_hanging_request_is_counted_when_the_client_leaves(server: LoopbackServer) -> None:
    server.configure(phang=1.0, hang_s=30)
    request = urllib.request.Request(
        server.url + "/completions", json.dumps({"model": "mock", "prompt": "Once"}).encode()
    )
    with pytest.raises(TimeoutError):
        urllib.request.urlopen(request, timeout=0.1)
    stats = server.wait(disconnects=1)
    assert stats["faults"]["hang"] == 1
    assert stats["in_flight"] == 0


def test_fault_draws_repeat_with_the_seed(server: LoopbackServer) -> None:
    def kinds() -> list[int]:
        server.reset()
        return [asyncio.run(crowd(server, [f"story {i}"]))[0] for i in range(40)]

    server.configure(p429=0.2, p500=0.2, seed=5)
    first = kinds()
    assert {200, 429, 500} == set(first)
    assert kinds() == first
    server.configure(seed=6)
    assert kinds() != first


def test_first_faults_heal_and_sticky_ones_do_not(server: LoopbackServer) -> None:
    prompts = [f"story {i}" for i in range(30)]

    def rounds(mode: str) -> list[list[int]]:
        server.reset()
        server.configure(p503=0.4, fault_mode=mode)
        return [asyncio.run(crowd(server, prompts)) for _ in range(2)]

    first, then = rounds("first")
    assert 0 < first.count(503) < 30
    assert then == [200] * 30
    once, again = rounds("sticky")
    assert once == again == first


# -- counters ----------------------------------------------------------------------------------------------------------


def test_counters_tell_waste_from_work(server: LoopbackServer) -> None:
    for prompt in ("a", "a", "b"):
        ask(server, prompt, seed=1, n=2)
    ask(server, "b", seed=2)
    stats = server.stats()
    found = {name: stats[name] for name in ("requests", "unique", "unique_answered", "answered", "choices")}
    assert found == {"requests": 4, "unique": 2, "unique_answered": 2, "answered": 4, "choices": 7}
    assert stats["repeats_after_answer"] == 1
    assert stats["body_bytes"] > 4 * len('{"model":"mock","messages":[]}')
    assert stats["first_request"] <= stats["last_request"] <= stats["last_answer"]
    assert abs(stats["last_answer_unix"] - time.time()) < 5
    server.reset()
    assert server.stats()["requests"] == 0


def test_recorded_bodies_and_labelled_arrivals(server: LoopbackServer) -> None:
    server.configure(record=2, label=r"story \d+")
    for i in range(3):
        ask(server, f"story {i}")
    assert [each["messages"][0]["content"] for each in server.requests()] == ["story 0", "story 1"]
    arrivals = server.arrivals()
    assert [label for label, _, _ in arrivals] == ["story 0", "story 1", "story 2"]
    assert all(answered is not None and arrived <= answered for _, arrived, answered in arrivals)


def test_held_requests_wait_until_released(server: LoopbackServer) -> None:
    server.configure(hold=True)

    async def scene() -> list[int]:
        asking = asyncio.create_task(crowd(server, [f"story {i}" for i in range(5)]))
        stats = await asyncio.to_thread(server.wait, in_flight=5)
        assert stats["answered"] == 0
        await asyncio.to_thread(server.configure, hold=False)
        return await asking

    assert asyncio.run(scene()) == [200] * 5


# -- the wire ----------------------------------------------------------------------------------------------------------


def raw(prompt: str, *, chunked: bool = False) -> bytes:
    body = json.dumps({"model": "mock", "messages": [{"role": "user", "content": prompt}]}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
    if chunked:
        halves = (body[:20], body[20:])
        pieces = b"".join(b"%x\r\n%b\r\n" % (len(half), half) for half in halves)
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + pieces + b"0\r\n\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def replies(stream: socket.socket, count: int) -> list[Any]:
    reader, found = stream.makefile("rb"), []
    with reader:
        for _ in range(count):
            assert reader.readline().startswith(b"HTTP/1.1 200")
            size = 0
            while (line := reader.readline().lower()) != b"\r\n":
                if line.startswith(b"content-length:"):
                    size = int(line[15:])
            found.append(json.loads(reader.read(size)))
    return found


@pytest.mark.parametrize("latency_ms", [0, 5])
def test_pipelined_requests_are_answered_in_order(server: LoopbackServer, latency_ms: int) -> None:
    expected = [text(ask(server, f"story {i}")) for i in range(8)]
    server.configure(latency_ms=latency_ms, jitter_ms=latency_ms)
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as stream:
        stream.sendall(b"".join(raw(f"story {i}", chunked=i % 3 == 1) for i in range(8)))
        assert [text(each) for each in replies(stream, 8)] == expected


def test_requests_may_arrive_in_pieces(server: LoopbackServer) -> None:
    message = raw("story", chunked=True) + raw("story")
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(message), 37):
            stream.sendall(message[at : at + 37])
            time.sleep(0.001)
        first, second = replies(stream, 2)
    assert text(first) == text(second)


def test_connections_are_kept_alive(server: LoopbackServer) -> None:
    async def many() -> None:
        async with aiohttp.ClientSession() as client:
            for i in range(20):
                body = {"model": "mock", "messages": [{"role": "user", "content": f"story {i}"}]}
                async with client.post(server.url + "/chat/completions", json=body) as response:
                    await response.read()

    asyncio.run(many())
    assert server.stats()["connections"] == 1


def test_bad_bodies_and_unknown_route_are_errors(server: LoopbackServer) -> None:
    for body in (b"{", b"[]", b'{"model": "mock", "messages": []}'):
        request = urllib.request.Request(server.url + "/chat/completions", body)
        with pytest.raises(urllib.error.HTTPError, match="400") as caught:
            urllib.request.urlopen(request, timeout=10)
        caught.value.close()
    with pytest.raises(urllib.error.HTTPError, match="404") as caught:
        get(server, "/nowhere")
    caught.value.close()
    assert get(server, "/health") == {"ok": True}
    assert "version" in get(server, "/version")


# -- the process -------------------------------------------------------------------------------------------------------


def test_program_prints_its_address_and_ends_by_itself() -> None:
    program = Path(__file__).with_name("loopback.py")
    done = subprocess.run(
        [sys.executable, str(program), "--ttl", "0.2", "--set", "style=json"],
        capture_output=True,
        timeout=20,
        check=True,
    )
    ready = json.loads(done.stdout)
    assert ready["url"].startswith("http://127.0.0.1:")
    assert ready["pid"] > 0


def test_server_goes_when_its_owner_goes() -> None:
    server = LoopbackServer()
    assert server._process.stdin is not None
    server._process.stdin.close()
    assert server._process.wait(10) == 0
    server.stop()


def test_wrong_setting_at_the_start_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="exit code 1"):
        LoopbackServer(styel="json")
    assert "did you mean 'style'" in capfd.readouterr().err
