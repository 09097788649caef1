"""`judge run --serve-command`: the line that starts a server for a run."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from judge.asking.plan import make_plan
from judge.asking.plan.serving import Serving, serving
from judge.asking.run_definition.spec import parse_run_spec
from judge.base.errors import SpecError
from judge.inputs.datasets import open_dataset

DATA: dict[str, Any] = {
    "name": "t",
    "dataset": "demo",
    "judge": "openai/org/model",
    "criteria": "hanna",
    "eval_prompts": ["ep1", "ep3"],
    "generation": {"max_tokens": 100},
}


def line(**changes: Any) -> list[str]:
    (command,) = made(**changes).commands
    return shlex.split(command)


def made(**changes: Any) -> Serving:
    plan = make_plan(parse_run_spec(DATA | changes, "test"))
    return serving(plan, open_dataset("demo").stories())


def value(words: list[str], flag: str) -> str:
    return words[words.index(flag) + 1]


def test_the_plainest_line() -> None:
    words = line()
    assert words[:3] == ["vllm", "serve", "org/model"]
    assert "--enable-prompt-tokens-details" in words
    assert value(words, "--port") == "8000"
    unsaid = (
        "--revision",
        "--max-logprobs",
        "--structured-outputs-config",
        "--dtype",
        "--served-model-name",
        "--lora-modules",
    )
    assert not set(unsaid) & set(words)


def test_the_context_holds_the_longest_query_and_its_answer() -> None:
    plan = make_plan(parse_run_spec(DATA, "test"))
    longest = max(
        sum(len(message.content) for message in plan.query(story, prompt, criterion).messages)
        for story in open_dataset("demo").stories()
        for prompt in plan.eval_prompts
        for criterion in plan.criteria
    )
    context = int(value(line(), "--max-model-len"))
    assert longest / 3 + 100 <= context < longest / 3 + 100 + 257
    assert context % 256 == 0
    assert int(value(line(generation={"max_tokens": 1100}), "--max-model-len")) >= context + 900
    assert value(line(engine={"max_model_len": 5000}), "--max-model-len") == "5000"


def test_engine_keys_become_flags() -> None:
    engine = {
        "dtype": "bfloat16",
        "quantization": "fp8",
        "tensor_parallel_size": 4,
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "hf_overrides": {"rope": 1},
        "top_k": 20,
    }
    words = line(engine=engine, revision="abc")
    assert value(words, "--dtype") == "bfloat16"
    assert value(words, "--quantization") == "fp8"
    assert value(words, "--tensor-parallel-size") == "4"
    assert value(words, "--revision") == "abc"
    assert json.loads(value(words, "--hf-overrides")) == {"rope": 1}
    assert "--enforce-eager" in words
    assert "--no-enable-prefix-caching" in words
    # A sampling key goes with each request, not to the server's start.
    assert not [word for word in words if "top-k" in word]


def test_what_a_run_asks_of_a_server_is_allowed_there() -> None:
    words = line(scoring="logprobs", structured="json", engine={"top_logprobs": 50})
    assert value(words, "--max-logprobs") == "50"
    assert json.loads(value(words, "--structured-outputs-config"))["disable_any_whitespace"] is True


def test_weights_and_adapters_answer_under_the_judges_name() -> None:
    words = line(judge="openai/tiny", engine={"model": "/w/tiny"})
    assert words[2] == "/w/tiny"
    assert value(words, "--served-model-name") == "tiny"
    adapted = line(judge="openai/tuned", engine={"model": "/w/tiny", "lora": "/w/adapter"})
    assert value(adapted, "--lora-modules") == "tuned=/w/adapter"
    assert value(adapted, "--served-model-name") != "tuned"
    assert "--enable-lora" in adapted


def test_each_server_gets_its_line() -> None:
    urls = ["http://127.0.0.1:8001/v1", "http://gpu2:8002/v1"]
    commands = [shlex.split(command) for command in made(base_url=urls).commands]
    assert [(value(words, "--host"), value(words, "--port")) for words in commands] == [
        ("127.0.0.1", "8001"),
        ("gpu2", "8002"),
    ]


def test_a_judge_that_is_no_model_has_no_line() -> None:
    with pytest.raises(SpecError, match="surface is no language model"):
        made(judge="surface")


def test_the_command_prints_only_the_line(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(json.dumps(DATA))
    ended = subprocess.run(
        [sys.executable, "-m", "judge", "run", str(path), "--serve-command", "--set", "judge=vllm/org/model"],
        capture_output=True,
        text=True,
        check=True,
    )
    (only,) = ended.stdout.splitlines()
    assert shlex.split(only)[:3] == ["vllm", "serve", "org/model"]
    assert all(note.startswith("# ") for note in ended.stderr.splitlines())
