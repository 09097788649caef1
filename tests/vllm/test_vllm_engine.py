"""vLLM in this process: repeats, seeds, constraints, plain completions, and what is refused in a sentence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from judge.backends import Settings, open_backend
from judge.base.errors import BackendError, SpecError
from judge.base.records import Criterion, Generation, Message, Query, Response, Story
from tests.vllm.conftest import ENVIRONMENT

CRITERION = Criterion("Overall", "OV", "how good")


def query(**changes: Any) -> Query:
    fields: dict[str, Any] = {
        "key": "b2:0",
        "story": Story("s", "A prompt", "x", "A text."),
        "criterion": CRITERION,
        "eval_prompt": "ep1",
        "messages": (Message("system", "You rate."), Message("user", "Rate this story. " * 30 + "\n\nRating:")),
        "generation": Generation(temperature=1.0, max_tokens=8),
    }
    return Query(**(fields | changes))


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def engine(smollm2: Path, loop: asyncio.Runner) -> Iterator[Any]:
    patch = pytest.MonkeyPatch()
    for key, value in ENVIRONMENT.items():
        patch.setenv(key, value)
    keys = {"dtype": "float32", "max_model_len": 2048, "enforce_eager": True}
    backend = open_backend(f"vllm/{smollm2}", Settings(engine=keys, attempt_timeout=300, seed=0))
    loop.run(backend.probe())
    yield backend
    loop.run(backend.close())
    patch.undo()


@pytest.fixture
def ask(engine: Any, loop: asyncio.Runner) -> Any:
    def call(asked: Query, repeats: Sequence[int] = (0,)) -> list[Response]:
        return loop.run(engine.complete(asked, repeats))  # type: ignore[no-any-return]

    return call


def test_repeats_come_in_one_request_and_differ(ask: Any) -> None:
    found = ask(query(), [0, 1, 2])
    assert len({response.text for response in found}) == 3
    assert [response.prompt_tokens is None for response in found] == [False, True, True]
    # The tokens of all three stand on the first. Which answers end before the limit of 8 depends on the processor.
    cut = sum(response.finish_reason == "length" for response in found)
    assert {response.finish_reason for response in found} <= {"length", "stop"}
    assert max(8 * cut + (3 - cut), 9) <= found[0].completion_tokens <= 24
    again = ask(query(), [0])
    assert 0 < again[0].cached_tokens < again[0].prompt_tokens


def test_a_seed_belongs_to_a_repeat(ask: Any) -> None:
    seeded = query(generation=Generation(temperature=1.0, max_tokens=8, seed=3))
    first, again, other = (ask(seeded, [repeat])[0].text for repeat in (1, 1, 2))
    assert first == again != other


def test_constraints_hold(ask: Any) -> None:
    chosen = ask(query(structured="choice"), [0, 1, 2, 3])
    assert {response.text for response in chosen} <= set("12345")
    said = query(structured="json", asks_explanation=False, generation=Generation(temperature=1.0, max_tokens=60))
    assert all(json.loads(response.text)["rating"] in range(1, 6) for response in ask(said, [0, 1]))


def test_log_probabilities_have_the_form_of_a_chat_answer(ask: Any) -> None:
    (response,) = ask(query(scoring="logprobs"))
    content = response.logprobs["content"]
    assert len(content) == 8
    for token in content:
        assert len(token["top_logprobs"]) >= 20
        listed = {one["token"]: one["logprob"] for one in token["top_logprobs"]}
        assert listed[token["token"]] <= 0


def test_a_plain_completion_is_not_wrapped_in_a_template(ask: Any) -> None:
    chat, plain = ask(query())[0], ask(query(api="completions"))[0]
    assert plain.prompt_tokens < chat.prompt_tokens


def test_a_stop_string_ends_an_answer(ask: Any) -> None:
    long = query(generation=Generation(temperature=0.0, max_tokens=12))
    text = ask(long)[0].text
    cut = ask(query(generation=Generation(temperature=0.0, max_tokens=12, stop=(text[4:7],))))[0]
    assert (cut.text, cut.finish_reason) == (text[: text.index(text[4:7])], "stop")


def test_a_query_beyond_the_context_is_told(ask: Any) -> None:
    with pytest.raises(BackendError, match="exceeds the context length of 2048") as caught:
        ask(query(generation=Generation(max_tokens=2000)))
    assert (caught.value.kind, caught.value.retryable) == ("context", False)


def test_unknown_engine_keys_and_missing_weights_are_told(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="did you mean 'quantization'"):
        open_backend(f"vllm/{tiny}", Settings(engine={"quantisation": "fp8"}))
    with pytest.raises(BackendError, match="is not a folder of weights"):
        open_backend(f"vllm/{tmp_path}/none", Settings())
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BackendError, match="holds no weights"):
        open_backend(f"vllm/{tmp_path}", Settings())


def test_a_context_longer_than_the_models_is_told_by_its_key(tiny: Path, loop: asyncio.Runner) -> None:
    backend = open_backend(f"vllm/{tiny}", Settings(engine={"max_model_len": 1 << 20}))
    with pytest.raises(BackendError, match="longer than the model's context"):
        loop.run(backend.probe())
