"""Engine keys: which start an engine, which go with a request, and what is said of the rest. No engine is needed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from judge.backends import Settings, open_backend
from judge.backends.engine_keys import REQUEST, SPEED, START, check_keys, weights
from judge.backends.openai.backend import OpenAIBackend
from judge.backends.vllm import engine_arguments
from judge.base.errors import MissingExtraError, SpecError
from tests.backends.openai.test_backend import query

KNOWN = {"model", "revision", "dtype", "quantization", "max_model_len", "tensor_parallel_size", "enable_lora"} | {
    "max_logprobs",
    "structured_outputs_config",
    "enforce_eager",
    "hf_token",
}


def arguments(revision: str | None = None, **engine: Any) -> dict[str, Any]:
    return engine_arguments("org/model", Settings(engine=engine, revision=revision), KNOWN)


def test_a_request_holds_nothing_that_starts_a_server() -> None:
    engine = dict.fromkeys(START, "x") | {"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}}
    sent = OpenAIBackend("m", Settings(("http://127.0.0.1:9",), engine=engine)).payload(query(), [0])
    assert set(sent) == {"model", "messages", "top_k", "chat_template_kwargs"}
    assert START.isdisjoint(REQUEST)
    assert SPEED < START


def test_an_engine_gets_its_own_keys_and_the_rest_is_ours() -> None:
    found = arguments(revision="r1", dtype="float32", tensor_parallel_size=2, top_k=5, top_logprobs=40, max_model_len=9)
    assert found == {
        "model": "org/model",
        "revision": "r1",
        "dtype": "float32",
        "tensor_parallel_size": 2,
        "max_model_len": 9,
        "max_logprobs": 40,
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
    }
    assert arguments()["max_logprobs"] == 20
    assert arguments(model="/weights/here")["model"] == "/weights/here"
    adapted = arguments(lora="/adapter")
    assert adapted["enable_lora"] is True
    assert "lora" not in adapted


@pytest.mark.parametrize(
    ("key", "said"),
    [("quantisation", "'quantization'"), ("max_model_length", "'max_model_len'"), ("tensor_parallel", "tensor_par")],
)
def test_an_unknown_key_names_the_nearest(key: str, said: str) -> None:
    with pytest.raises(SpecError, match=f"vllm: engine key '{key}' is not known; did you mean .*{said}"):
        arguments(**{key: 1})


def test_a_token_is_kept_out_of_definitions() -> None:
    with pytest.raises(SpecError, match="hf_token") as caught:
        check_keys({"hf_token": "secret"}, KNOWN, "vllm")
    assert "HF_TOKEN" in (caught.value.hint or "")
    assert "secret" not in str(caught.value)


def test_the_weights_are_the_judges_name_or_said_apart() -> None:
    assert weights("m", {}) == "m"
    assert weights("m", {"model": "/w"}) == "/w"


@pytest.mark.parametrize(("judge", "package"), [("vllm/m", "vllm"), ("hf/m", "transformers")])
def test_without_the_engine_the_extra_is_named(judge: str, package: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(package) is not None:
        pytest.skip(f"{package} is installed here")
    extra = judge.partition("/")[0]
    with pytest.raises(MissingExtraError, match=rf"\[{extra}\]"):
        open_backend(judge, Settings())
