"""Gemini's requests and answers by themselves: forms, blocks, counts, and which header carries the key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from judge.answers.parsing.answer_tokens import read_tokens
from judge.backends import Settings, open_backend
from judge.backends.gemini import GEMINI, gemini_backend
from judge.backends.openai.credentials import Credentials
from judge.base.credentials.providers import PROVIDERS
from judge.base.credentials.trust import UntrustedHostError
from judge.base.errors import BackendError, SpecError
from judge.base.records import Generation, Message, Response
from tests.backends.openai.test_backend import query

URL = "https://generativelanguage.googleapis.com/v1beta"
USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 30, "cachedContentTokenCount": 64}


def answer(text: str | None = "Rating: 4", reason: str | None = "STOP", **more: Any) -> dict[str, Any]:
    content = {"content": {"role": "model", "parts": [{"text": text}]}} if text is not None else {}
    return {"index": 0, **content, **({"finishReason": reason} if reason else {}), **more}


def read(*candidates: dict[str, Any], **more: Any) -> tuple[list[Response], int]:
    return GEMINI.read(orjson.dumps({"candidates": list(candidates), "usageMetadata": USAGE, **more}), URL)


def failed(*candidates: dict[str, Any], **more: Any) -> BackendError:
    with pytest.raises(BackendError) as caught:
        read(*candidates, **more)
    return caught.value


def test_nothing_is_sent_that_was_not_said() -> None:
    backend = gemini_backend("gemini-2.5-flash", Settings((URL,)))
    said = [{"role": "user", "parts": [{"text": "Rate it.\n\nRating:"}]}]
    asked = query(messages=(Message("user", "Rate it.\n\nRating:"),))
    assert backend.payload(asked, [0]) == {"contents": said}
    turns = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    assert [one["role"] for one in backend.payload(query(messages=turns), [0])["contents"]] == ["user", "model", "user"]
    config = backend.payload(query(generation=Generation(seed=5)), [2, 3])["generationConfig"]
    assert config == {"seed": 7, "candidateCount": 2}


@pytest.mark.parametrize("key", ["top_k", "topK"])
def test_keys_of_engine_go_where_the_api_has_them(key: str) -> None:
    engine = {key: 5, "thinkingConfig": {"thinkingBudget": 0}, "service_tier": "flex", "max_model_len": 4096}
    body = gemini_backend("m", Settings((URL,), engine=engine)).payload(query(), [0])
    assert body["generationConfig"] == {"topK": 5, "thinkingConfig": {"thinkingBudget": 0}}
    assert body["serviceTier"] == "flex"


def test_tokens_of_thinking_are_tokens_of_the_answer() -> None:
    ((first,), given) = read(answer(), modelVersion="gemini-2.5-flash")
    assert given == 1
    assert (first.prompt_tokens, first.completion_tokens, first.reasoning_tokens, first.cached_tokens) == (
        100,
        40,
        30,
        64,
    )
    assert first.model == "gemini-2.5-flash"
    # Where all was thinking, candidatesTokenCount is left out; without usageMetadata nothing is known.
    ((cut,), _) = read(answer(None, "MAX_TOKENS"), usageMetadata={"promptTokenCount": 9, "thoughtsTokenCount": 30})
    assert (cut.text, cut.finish_reason, cut.completion_tokens) == ("", "length", 30)
    ((silent,), _) = read(answer(), usageMetadata=None)
    assert (silent.prompt_tokens, silent.completion_tokens, silent.reasoning_tokens) == (None, None, None)


def test_thoughts_are_no_part_of_the_text() -> None:
    parts = [
        {"text": "Is it 2? ", "thought": True},
        {"text": "Rating: "},
        {"text": "No, 4.", "thought": True},
        {"text": "4"},
    ]
    ((one,), _) = read({"content": {"parts": parts}, "finishReason": "STOP"})
    assert (one.text, one.reasoning) == ("Rating: 4", "Is it 2? No, 4.")


@pytest.mark.parametrize(
    ("reason", "kind", "retryable"),
    [
        *(
            (reason, "filtered", False)
            for reason in ("SAFETY", "RECITATION", "SPII", "BLOCKLIST", "PROHIBITED_CONTENT")
        ),
        *((reason, "filtered", False) for reason in ("LANGUAGE", "ESCALATION")),
        *(
            (reason, "server", True)
            for reason in ("OTHER", "MALFORMED_RESPONSE", "FINISH_REASON_UNSPECIFIED", "NEW", None)
        ),
        ("PUP_LIMITED_DISABLED", "auth", False),
    ],
)
def test_a_candidate_without_an_answer_is_never_an_empty_one(reason: str | None, kind: str, retryable: bool) -> None:
    error = failed(answer(None, reason, finishMessage="why"))
    assert (error.kind, error.retryable) == (kind, retryable)
    assert str(reason or "the server gives no reason") in str(error)
    assert "why" in str(error)


def test_of_several_candidates_those_are_kept_that_are_answers() -> None:
    kept, given = read(answer("4", index=2), answer(None, "SAFETY", index=0), answer("3", index=1))
    assert ([one.text for one in kept], given) == (["3", "4"], 3)
    assert [one.prompt_tokens for one in kept] == [100, None]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"promptFeedback": {"blockReason": "OTHER"}}, "filtered"),
        ({"promptFeedback": {"blockReason": "SAFETY"}, "candidates": []}, "filtered"),
        ({"candidates": []}, "server"),
        ({"usageMetadata": USAGE}, "server"),
        ({}, "garbage"),
        ([], "garbage"),
        ("hello", "garbage"),
        ({"candidates": "x"}, "garbage"),
        ({"candidates": [{"finishReason": "STOP", "content": "x"}]}, "garbage"),
        ({"choices": [{"message": {"content": "4"}}]}, "garbage"),
        ({"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}, "overload"),
    ],
)
def test_bodies_without_an_answer(body: Any, kind: str) -> None:
    with pytest.raises(BackendError) as caught:
        GEMINI.read(orjson.dumps(body), URL)
    assert caught.value.kind == kind


def test_log_probabilities_are_read_as_those_of_chat_answers_are() -> None:
    chosen = [{"token": "4", "logProbability": -0.5}, {"token": "!", "logProbability": -1.5}]
    tops = [{"candidates": [{"token": "4", "logProbability": -0.5}, {"token": "5", "logProbability": -1.0}]}]
    ((one,), _) = read(answer("4!", logprobsResult={"chosenCandidates": chosen, "topCandidates": tops}))
    assert [token.text for token in read_tokens(one.logprobs)] == ["4", "!"]
    assert one.logprobs["content"][0]["top_logprobs"] == [
        {"token": "4", "logprob": -0.5},
        {"token": "5", "logprob": -1.0},
    ]
    # No number is made up where one is missing.
    ((other,), _) = read(answer("4", logprobsResult={"chosenCandidates": [{"token": "4"}]}))
    assert other.logprobs is None


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key of whoever tests."""
    for name in [*(v for p in PROVIDERS for v in p.variables), "OPENAI_BASE_URL", "JUDGE_TRUSTED_HOSTS"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path))


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
@pytest.mark.parametrize("url", [URL, "http://127.0.0.1:8000/v1beta"])
def test_the_key_goes_in_its_own_header(monkeypatch: pytest.MonkeyPatch, variable: str, url: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-this-one-0123456789")
    monkeypatch.setenv(variable, "AIza-0123456789")
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", "http://127.0.0.1:8000")
    found = Credentials((url,), Settings((url,)), GEMINI.protocol).headers(url)
    assert dict(found) == {"x-goog-api-key": "AIza-0123456789"}


@pytest.mark.usefixtures("no_keys")
def test_the_key_goes_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-0123456789")
    for url in ("https://gateway.example/v1beta", URL.replace("https", "http")):
        with pytest.raises(UntrustedHostError, match="GEMINI_API_KEY"):
            open_backend("gemini/gemini-2.5-flash", Settings((url,)))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings((URL,), api="completions"), "no `api: completions`"),
        (Settings((URL,), api="responses"), "`api: responses` is OpenAI's"),
        (Settings((f"{URL}/openai/",)), "OpenAI-compatible endpoint"),
    ],
)
def test_what_cannot_be_asked_is_said_at_once(settings: Settings, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        open_backend("gemini/gemini-2.5-flash", settings)
