"""The OpenAI-compatible back-end over a real socket: what it sends, what it makes of answers and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from judge.backends import Settings, open_backend
from judge.backends.dialect import joined
from judge.backends.openai.backend import OpenAIBackend
from judge.backends.openai.credentials import proxy_of
from judge.backends.refusal_body import retry_after
from judge.base.errors import BackendError, SpecError
from judge.base.records import Criterion, Generation, Message, Query, Response, Scale, Story
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
STORY = Story("s", "A prompt", "x", "A text.")


def query(**changes: Any) -> Query:
    fields: dict[str, Any] = {
        "key": "b2:0",
        "story": STORY,
        "criterion": Criterion("Overall", "OV", "how good"),
        "eval_prompt": "ep1",
        "messages": (Message("system", "You rate."), Message("user", "Rate it.\n\nRating:")),
        "generation": Generation(),
    }
    return Query(**(fields | changes))


def ask(server: LoopbackServer, asked: Query, repeats: Sequence[int] = (0,), timeout: float = 5.0) -> list[Response]:
    async def once() -> list[Response]:
        backend = open_backend("openai/mock", Settings((server.url,), attempt_timeout=timeout))
        try:
            return await backend.complete(asked, repeats)
        finally:
            await backend.close()

    return asyncio.run(once())


def refused(server: LoopbackServer, asked: Query, timeout: float = 5.0) -> BackendError:
    with pytest.raises(BackendError) as caught:
        ask(server, asked, timeout=timeout)
    return caught.value


def body(asked: Query, repeats: Sequence[int] = (0,), **settings: Any) -> dict[str, Any]:
    return OpenAIBackend("m", Settings(("http://127.0.0.1:9",), **settings)).payload(asked, repeats)


def test_only_what_was_said_is_sent() -> None:
    messages = [{"role": "system", "content": "You rate."}, {"role": "user", "content": "Rate it.\n\nRating:"}]
    assert body(query()) == {"model": "m", "messages": messages}
    said = Generation(temperature=0.0, top_p=0.9, max_tokens=7, seed=5, stop=("###",))
    assert body(query(generation=said), [2]) == {
        "model": "m",
        "messages": messages,
        "temperature": 0.0,
        "top_p": 0.9,
        "max_tokens": 7,
        "seed": 7,
        "stop": ["###"],
    }
    assert body(query(), [0, 1, 2])["n"] == 3
    assert body(query(), engine={"top_k": 5, "headers": {"X": "1"}})["top_k"] == 5
    assert "headers" not in body(query(), engine={"headers": {"X": "1"}})


def test_completions_send_one_text() -> None:
    sent = body(query(api="completions"), api="completions")
    assert sent == {"model": "m", "prompt": "You rate.\n\nRate it.\n\nRating:"}
    assert joined((Message("user", "only"),)) == "only"


def test_structured_answers_name_every_point_of_the_scale() -> None:
    assert body(query(structured="choice"))["structured_outputs"] == {"choice": ["1", "2", "3", "4", "5"]}
    half = query(structured="choice", criterion=Criterion("O", "O", "d", Scale(1, 2, 0.5)))
    assert body(half)["structured_outputs"] == {"choice": ["1", "1.5", "2"]}
    schema = body(query(structured="json", asks_explanation=True))["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["rating"] == {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    assert schema["required"] == ["rating", "explanation"]
    bare = body(query(structured="json"))["response_format"]["json_schema"]["schema"]
    assert bare["required"] == ["rating"]


def test_answers_come_with_usage_on_the_first_repeat(loopback: Start) -> None:
    first, *others = ask(loopback(), query(), [0, 1, 2])
    assert first.text.startswith("Rating: ")
    assert first.finish_reason == "stop"
    assert first.prompt_tokens is not None
    assert first.completion_tokens is not None
    assert [o.prompt_tokens for o in others] == [None, None]
    assert len(others) == 2


def test_reasoning_is_kept_apart(loopback: Start) -> None:
    (answer,) = ask(loopback(style="reasoning"), query())
    assert answer.reasoning
    assert answer.reasoning not in answer.text


@pytest.mark.parametrize(
    ("settings", "kind", "retryable"),
    [
        ({"p429": 1.0, "retry_after": 7}, "rate", True),
        ({"p500": 1.0}, "server", True),
        ({"p503": 1.0}, "overload", True),
        ({"pgarbage": 1.0}, "garbage", True),
        ({"pdrop": 1.0}, "connection", True),
        ({"ptruncate_body": 1.0}, "garbage", True),
        ({"phang": 1.0}, "timeout", True),
        ({"require_key": "k"}, "auth", False),
        ({"models": ["other"]}, "model", False),
        ({"quota": 0}, "quota", False),
        ({"max_context_chars": 5}, "context", False),
    ],
)
def test_every_fault_has_a_kind(loopback: Start, settings: dict[str, Any], kind: str, retryable: bool) -> None:
    server = loopback(**settings)
    error = refused(server, query(), timeout=0.5 if kind == "timeout" else 5.0)
    assert (error.kind, error.retryable) == (kind, retryable)
    assert server.url in str(error)
    if kind == "rate":
        assert error.retry_after == 7


def test_retry_after_may_be_a_date_and_is_never_negative() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    found = retry_after({"Retry-After": soon})
    assert found is not None
    assert 28 < found <= 30
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=30), usegmt=True)
    assert retry_after({"Retry-After": past}) == 0
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({}) is None


def test_proxies_come_from_the_environment_and_loopback_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy:3128")
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    assert proxy_of("http://server.example/v1") == "http://proxy:3128"
    assert proxy_of("http://127.0.0.1:8000/v1") is None


def test_judges_are_written_provider_slash_model() -> None:
    with pytest.raises(SpecError, match="did you mean 'openai'"):
        open_backend("opnai/gpt-4o", Settings())
    with pytest.raises(SpecError, match="names no model"):
        open_backend("openai", Settings())


def test_the_default_address_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    backend = open_backend("openai/gpt-4o", Settings())
    with pytest.raises(BackendError, match="OPENAI_API_KEY is not set"):
        asyncio.run(backend.probe())
