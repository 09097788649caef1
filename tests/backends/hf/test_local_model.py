"""What is wrong with weights, in sentences. The messages are worded after those of the engines, shortened."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.backends.hf.local_model import chat_template, check_folder, loading_error, template_hash, too_long
from judge.base.errors import BackendError


def test_a_path_without_a_model_is_told(tmp_path: Path) -> None:
    check_folder("organisation/model-on-the-hub")
    file = tmp_path / "file"
    file.write_text("")
    folder = tmp_path / "folder"
    folder.mkdir()
    for wrong, said in ((tmp_path / "none", "not a folder"), (file, "not a folder"), (folder, "no config.json")):
        with pytest.raises(BackendError, match=said) as caught:
            check_folder(str(wrong))
        assert (caught.value.kind, caught.value.retryable) == ("model", False)
    (folder / "config.json").write_text("{}")
    with pytest.raises(BackendError, match="no weights"):
        check_folder(str(folder))
    (folder / "model.safetensors").write_bytes(b"")
    check_folder(str(folder))


# Worded after the exceptions of vLLM 0.32, transformers 5.19, huggingface_hub 1.x and torch 2.13, shortened.
@pytest.mark.parametrize(
    ("words", "kind", "said", "hint"),
    [
        (
            "You are trying to access a gated repo. Make sure to have access to it at https://huggingface.co/x/y",
            "auth",
            "gated",
            "HF_TOKEN",
        ),
        (
            "no/model is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'",
            "model",
            "no such model",
            "ORGANISATION/MODEL",
        ),
        (
            "We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them",
            "model",
            "cannot be reached",
            "hf download",
        ),
        ("Failed to infer device type, please set the environment variable", "capability", "no GPU", "hf/MODEL"),
        ("CUDA out of memory. Tried to allocate 2.00 GiB", "capability", "memory", "engine.max_model_len"),
        (
            "No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
            "capability",
            "memory",
            "engine.gpu_memory_utilization",
        ),
        (
            "User-specified max_model_len (1048576) is greater than the derived max_model_len (4096)",
            "capability",
            "longer than the model's context",
            "max_model_len",
        ),
    ],
)
def test_what_stops_an_engine_is_one_sentence(words: str, kind: str, said: str, hint: str) -> None:
    direct = loading_error("vllm/m", RuntimeError(words))
    # The engine's own process writes the cause; the parent's exception only says that it failed.
    by_log = loading_error("vllm/m", RuntimeError("Engine core initialization failed."), f"ERROR ValueError: {words}\n")
    for error in (direct, by_log):
        assert (error.kind, error.retryable) == (kind, False)
        assert said in str(error)
        assert hint in (error.hint or "")


def test_what_is_not_known_is_quoted() -> None:
    error = loading_error("vllm/m", RuntimeError("failed"), "INFO x\n(EngineCore) KeyError: 'rope'\nmore\n")
    assert "KeyError: 'rope'" in str(error)
    assert "ValueError: odd" in str(loading_error("hf/m", ValueError("odd")))


def test_the_template_in_force(tmp_path: Path) -> None:
    class Tokenizer:
        chat_template = "own"

    assert chat_template(Tokenizer(), {}) == "own"
    file = tmp_path / "template.jinja"
    file.write_text("from a file")
    assert chat_template(Tokenizer(), {"chat_template": str(file)}) == "from a file"
    assert template_hash(None) is None
    # sha256sum (GNU coreutils 9.1) of the three bytes "own".
    assert template_hash("own") == "5b3975651c3cab92"


def test_a_query_that_does_not_fit_says_by_how_much() -> None:
    error = too_long("hf/m", 900, 200, 1024)
    assert "900 tokens with an answer of 200 exceeds the context length of 1024" in str(error)
    assert error.kind == "context"
