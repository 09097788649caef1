"""Requests a second of `judge run` beside the bare engine, on a real vLLM on the CPU and the tiny model.

    .venv-vllm/bin/python -m tests.benchmarks.engines

Over HTTP: one server, bare aiohttp and `judge run` in interleaved rounds. In process: `judge run` with `vllm/`, and in
processes of their own, AsyncLLM and LLM.generate given the same prompts as text. Start of engines is not counted: the
program's time is from its first request to its last commit, theirs from the first prompt to the last answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge.base.records import Query
from tests.benchmarks.bare_client import ask_all
from tests.benchmarks.figures import Figure, median, show, spread
from tests.benchmarks.judge_run import Run, write_run

GENERATION = {"temperature": 0.7, "max_tokens": 8}
ENGINE = {"dtype": "float32", "max_model_len": 4096, "enforce_eager": True, "max_num_seqs": 64}


def definition(folder: Path, model: Path, given: argparse.Namespace, **changes: Any) -> Run:
    """A run over `given.requests` stories, one query each."""
    changes = {"generation": GENERATION, "concurrency": given.concurrency, "attempt_timeout": 600.0, **changes}
    changes |= {"engine": {"model": str(model), **ENGINE}}
    return write_run(folder, given.requests, changes.pop("base_url", "http://127.0.0.1:9/v1"), given, **changes)


def planned(run: Run) -> list[Query]:
    """The run's queries, in the plan's order."""
    from judge.asking.plan import make_plan
    from judge.asking.run_definition.spec import load_run_spec
    from judge.inputs.datasets import open_dataset

    plan = make_plan(load_run_spec(run.definition), folder=run.definition.parent)
    stories = list(open_dataset(plan.spec.dataset).stories())
    return [query for group in plan.groups(lambda: iter(stories)) for query in group]


def texts(run: Run, model: Path) -> list[str]:
    """The run's prompts as text, through the chat template, in the plan's order."""
    from transformers import AutoTokenizer

    from judge.backends.hf.local_model import chat_text

    tokenizer = AutoTokenizer.from_pretrained(str(model))
    return [chat_text(tokenizer, tokenizer.chat_template, query.messages, {}) for query in planned(run)]


def judge_rate(run: Run, environment: dict[str, str], count: int) -> float:
    """Answers committed a second, of a whole `judge run`."""
    command = [*run.command, "run", str(run.definition), "--quiet"]
    subprocess.run(command, env=environment, check=True)
    first, last = run.span()
    if run.answers() != count:
        raise SystemExit(f"error: {run.answers()} of {count} answers")
    return count / (last - first)


def over_http(folder: Path, model: Path, given: argparse.Namespace, environment: dict[str, str]) -> list[Figure]:
    """Rounds on one server."""
    from tests.vllm.conftest import end_process, start_server

    bare: list[float] = []
    ours: list[float] = []
    process, url = start_server(model, environment, folder / "server.log", "--max-model-len", "4096")
    try:
        body = folder / "body.json"
        message = {
            "role": "user",
            "content": "story-000000 " + texts(definition(folder / "one", model, given), model)[0],
        }
        body.write_text(json.dumps({"model": "tiny", "messages": [message], **GENERATION}))
        asyncio.run(ask_all(url, body.read_bytes(), given.concurrency, given.concurrency))
        for number in range(given.rounds):
            began = time.perf_counter()
            asyncio.run(ask_all(url, body.read_bytes(), given.requests, given.concurrency))
            bare.append(given.requests / (time.perf_counter() - began))
            run = definition(folder / f"http-{number}", model, given, judge="openai/tiny", base_url=url)
            ours.append(judge_rate(run, environment, given.requests))
    finally:
        end_process(process)
    pairs = [mine / other for mine, other in zip(ours, bare, strict=True)]
    return [
        Figure("server: bare aiohttp", median(bare), unit="req/s", remark=spread(bare, 0)),
        Figure("server: judge run", median(ours), unit="req/s", remark=spread(ours, 0)),
        Figure("server: ratio", median(pairs), ">= 0.90", remark=spread(pairs)),
    ]


def in_process(folder: Path, model: Path, given: argparse.Namespace, environment: dict[str, str]) -> list[Figure]:
    """An engine for each, since one process holds one engine."""
    rates: dict[str, list[float]] = {"async": [], "judge": [], "offline": []}
    prompts = folder / "prompts.json"
    for number in range(given.rounds):
        run = definition(folder / f"process-{number}", model, given, judge="vllm/tiny")
        prompts.write_text(json.dumps(texts(run, model)))
        for name in ("async", "offline"):
            part = [sys.executable, "-m", "tests.benchmarks.engines", "--part", name, "--model", str(model)]
            part += ["--prompts", str(prompts), "--concurrency", str(given.concurrency)]
            said = subprocess.run(part, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
            rates[name].append(float(said.splitlines()[-1]))
        rates["judge"].append(judge_rate(run, environment, given.requests))
    return [
        Figure("in process: AsyncLLM bare", median(rates["async"]), unit="req/s", remark=spread(rates["async"], 0)),
        Figure("in process: LLM.generate", median(rates["offline"]), unit="req/s", remark=spread(rates["offline"], 0)),
        Figure("in process: judge run", median(rates["judge"]), unit="req/s", remark=spread(rates["judge"], 0)),
        Figure("in process: ratio to AsyncLLM", median(rates["judge"]) / median(rates["async"]), ">= 0.90"),
        Figure("in process: ratio to LLM.generate", median(rates["judge"]) / median(rates["offline"])),
    ]


async def bare_async(model: str, prompts: Sequence[str], concurrency: int) -> float:
    """Prompts a second through AsyncLLM, so many in flight, after one to warm up."""
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.sampling_params import RequestOutputKind, SamplingParams
    from vllm.v1.engine.async_llm import AsyncLLM

    engine = AsyncLLM.from_engine_args(AsyncEngineArgs(model=model, **ENGINE))
    sampling = SamplingParams(output_kind=RequestOutputKind.FINAL_ONLY, **GENERATION)
    left = iter(list(enumerate(prompts)))

    async def worker() -> None:
        for number, prompt in left:
            async for _ in engine.generate(prompt, sampling, str(number)):
                pass

    try:
        async for _ in engine.generate("warm", sampling, "warm"):
            pass
        began = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(concurrency)))
        return len(prompts) / (time.perf_counter() - began)
    finally:
        engine.shutdown()


def offline(model: str, prompts: Sequence[str]) -> float:
    """Prompts a second through LLM.generate, all given at once."""
    from vllm import LLM, SamplingParams

    engine = LLM(model=model, **ENGINE)
    sampling = SamplingParams(**GENERATION)
    engine.generate(["warm"], sampling, use_tqdm=False)
    began = time.perf_counter()
    engine.generate(list(prompts), sampling, use_tqdm=False)
    return len(prompts) / (time.perf_counter() - began)


def main() -> int:
    """Measure and print."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--requests", type=int, default=1000)
    made.add_argument("--concurrency", type=int, default=64)
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--chars", type=int, default=2200, help="length of a story")
    made.add_argument("--only", choices=["http", "process"])
    made.add_argument("--part", choices=["async", "offline"], help=argparse.SUPPRESS)
    made.add_argument("--model", help=argparse.SUPPRESS)
    made.add_argument("--prompts", type=Path, help=argparse.SUPPRESS)
    given = made.parse_args()
    if given.part:
        prompts = json.loads(given.prompts.read_text())
        bare = asyncio.run(bare_async(given.model, prompts, given.concurrency)) if given.part == "async" else None
        print(offline(given.model, prompts) if bare is None else bare)
        return 0
    from tests.vllm.conftest import ENVIRONMENT
    from tests.vllm.tiny_model import make

    given.command = [sys.executable, "-m", "judge"]
    environment = {**os.environ, **ENVIRONMENT, "VLLM_LOGGING_LEVEL": "ERROR"}
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="judge-engines-") as name:
        folder = Path(name)
        model = make(folder / "tiny")
        if given.only != "process":
            figures += over_http(folder, model, given, environment)
        if given.only != "http":
            figures += in_process(folder, model, given, environment)
    show(f"vLLM on the CPU, tiny model, {given.requests:,} requests, {given.concurrency} in flight", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
