"""How much of the prompts a real vLLM takes from its prefix cache: 24 queries x 3 repeats a story, in the plan's order
and in random order, beside the most that could be.

    .venv-vllm/bin/python -m tests.benchmarks.prefix

Counted by the engine itself (`vllm:prefix_cache_queries_total`, `_hits_total`), in tokens. The most that could be is
counted from the tokens of the prompts: of all whole blocks, those whose text up to their end an earlier prompt had too;
a prompt's last token is always computed. The cache holds two stories' queries for each request in flight, no more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import Figure, show
from tests.benchmarks.options import ROOT

REPEATS = 3
BAR = 0.95


@dataclass(frozen=True, slots=True)
class Counted:
    """Prompt tokens that the engine looked up in its cache, and found there."""

    queried: int
    cached: int


def most(prompts: Sequence[Sequence[int]], block: int) -> Counted:
    """Tokens asked for by all prompts, `REPEATS` times each, and the most that a cache could give."""
    seen: set[int] = set()
    queried = cached = 0
    for prompt in prompts:
        for _ in range(REPEATS):
            queried += len(prompt)
            chain = 0
            whole = [tuple(prompt[i : i + block]) for i in range(0, len(prompt) - block + 1, block)]
            for number, tokens in enumerate(whole):
                chain = hash((chain, tokens))
                # The last token has to be computed, so its block is never taken whole.
                if chain in seen and (number + 1) * block < len(prompt):
                    cached += block
                seen.add(chain)
    return Counted(queried, cached)


def group_blocks(prompts: Sequence[Sequence[int]], block: int) -> int:
    """Blocks that a prefix group needs at a time: what its prompts share, and what one of them has of its own."""
    held: dict[int, int] = {}
    for prompt in prompts:
        for end in range(block, len(prompt) + 1, block):
            chain = hash(tuple(prompt[:end]))
            held[chain] = held.get(chain, 0) + 1
    shared = sum(count > 1 for count in held.values())
    # Repeats share a prompt's whole blocks; each has a last block of its own, and one for its answer.
    own = max(len(prompt) // block for prompt in prompts) + 2 * REPEATS
    return shared + own if len(prompts) > 1 else own


def counters(url: str) -> Counted:
    """The engine's own counters since its start."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/metrics", timeout=30) as reply:
        text = reply.read().decode()
    values = [
        sum(float(v) for v in re.findall(rf"^vllm:prefix_cache_{name}_total\{{[^}}]*\}} (\S+)$", text, re.MULTILINE))
        for name in ("queries", "hits")
    ]
    return Counted(round(values[0]), round(values[1]))


def forget(url: str) -> None:
    """Empty the server's prefix cache (a route of its development mode)."""
    asked = urllib.request.Request(url.removesuffix("/v1") + "/reset_prefix_cache", method="POST")
    with urllib.request.urlopen(asked, timeout=30) as reply:
        reply.read()


def run_definition(folder: Path, model: Path, url: str, concurrency: int, stories: int) -> Path:
    """A run.yaml of HANNA's criteria by four Eval-Prompts over the first packaged stories."""
    source = ROOT / "judge" / "inputs" / "datasets" / "demo_stories.jsonl"
    lines = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    lines.sort(key=lambda line: line["story_prompt"])
    data = folder / "stories.jsonl"
    kept = [
        {key: line.get(key) for key in ("id", "story_prompt", "system", "text", "reference")}
        for line in lines[:stories]
    ]
    for line in kept:
        line["reference"] = line["reference"] or line["text"]
    data.write_text("\n".join(map(json.dumps, kept)) + "\n", encoding="utf-8")
    spec = {
        "name": "prefix",
        "dataset": str(data),
        "judge": "openai/tiny",
        "base_url": url,
        "criteria": "hanna",
        "eval_prompts": ["ep1", "ep2", "ep3", "ep4"],
        "repeats": REPEATS,
        "generation": {"temperature": 1.0, "max_tokens": 2},
        "engine": {"model": str(model)},
        "concurrency": concurrency,
        "attempt_timeout": 600.0,
    }
    path = folder / "run.yaml"
    path.write_text(json.dumps(spec), encoding="utf-8")
    return path


def planned(definition: Path) -> list[list[Any]]:
    """The plan's groups of queries, in its order."""
    from judge.asking.plan import make_plan
    from judge.asking.run_definition.spec import load_run_spec
    from judge.inputs.datasets import open_dataset

    plan = make_plan(load_run_spec(definition), folder=definition.parent)
    stories = list(open_dataset(plan.spec.dataset).stories())
    return list(plan.groups(lambda: iter(stories)))


def tokens_of(groups: Sequence[Sequence[Any]], model: Path) -> list[list[list[int]]]:
    """The queries' tokens, as the server makes them."""
    from transformers import AutoTokenizer

    from judge.backends.hf.local_model import chat_text

    tokenizer = AutoTokenizer.from_pretrained(str(model))
    return [
        [
            tokenizer.encode(
                chat_text(tokenizer, tokenizer.chat_template, query.messages, {}), add_special_tokens=False
            )
            for query in group
        ]
        for group in groups
    ]


async def ask(url: str, queries: Sequence[Any], concurrency: int) -> None:
    """The queries in the order given, so many at a time."""
    from judge.backends import Settings, open_backend

    backend = open_backend("openai/tiny", Settings((url,), attempt_timeout=600.0))
    left = iter(queries)

    async def worker() -> None:
        for query in left:
            await backend.complete(query, range(REPEATS))

    try:
        await asyncio.gather(*(worker() for _ in range(concurrency)))
    finally:
        await backend.close()


def less(after: Counted, before: Counted) -> Counted:
    """What was counted in between."""
    return Counted(after.queried - before.queried, after.cached - before.cached)


def main() -> int:
    """Start a server with a cache of the stated size, ask twice, print."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--stories", type=int, default=12)
    made.add_argument("--concurrency", type=int, default=2, help="requests in flight")
    made.add_argument("--block", type=int, default=32, help="tokens in a block of the engine's cache")
    given = made.parse_args()
    from tests.vllm.conftest import ENVIRONMENT, end_process, start_server
    from tests.vllm.tiny_model import make

    with tempfile.TemporaryDirectory(prefix="judge-prefix-") as name:
        folder = Path(name)
        model = make(folder / "tiny")
        run = run_definition(folder, model, "http://127.0.0.1:9/v1", given.concurrency, given.stories)
        groups = planned(run)
        prompts = tokens_of(groups, model)
        blocks = 2 * given.concurrency * max(group_blocks(group, given.block) for group in prompts)
        environment = {**os.environ, **ENVIRONMENT, "VLLM_SERVER_DEV_MODE": "1"}
        longest = max(len(one) for group in prompts for one in group)
        more = ["--block-size", str(given.block), "--num-gpu-blocks-override", str(blocks)]
        more += ["--max-model-len", str(longest + 64)]
        process, url = start_server(model, environment, folder / "server.log", *more)
        try:
            run = run_definition(folder, model, url, given.concurrency, given.stories)
            ordered = planned_order(run, url, environment)
            forget(url)
            flat = [query for group in groups for query in group]
            random.Random(7).shuffle(flat)
            before = counters(url)
            asyncio.run(ask(url, flat, given.concurrency))
            shuffled = less(counters(url), before)
        finally:
            end_process(process)
    best = most([one for group in prompts for one in group], given.block)
    report(given, best, ordered, shuffled, blocks, len(flat))
    return 0


def planned_order(run: Path, url: str, environment: dict[str, str]) -> Counted:
    """`judge run`, as it orders queries itself."""
    before = counters(url)
    subprocess.run([sys.executable, "-m", "judge", "run", str(run), "--quiet"], env=environment, check=True)
    return less(counters(url), before)


def report(
    given: argparse.Namespace, best: Counted, ordered: Counted, shuffled: Counted, blocks: int, queries: int
) -> None:
    """Print shares of the prompt tokens, and of the most that could be."""
    ceiling = best.cached / best.queried
    figures = [
        Figure("most that could be cached", ceiling, unit="of tokens", remark=f"{best.cached:,} of {best.queried:,}")
    ]
    for name, found, bar in (("judge run", ordered, f">= {BAR}"), ("random order", shuffled, "")):
        share = found.cached / found.queried
        remark = f"{found.cached:,} of {found.queried:,} prompt tokens, by the engine's counters"
        figures.append(Figure(f"{name}: cached", share, unit="of tokens", remark=remark))
        figures.append(Figure(f"{name}: of the most that could be", share / ceiling, bar))
    show(
        f"Prefix cache of vLLM: {given.stories} stories, {queries} queries x {REPEATS}, {given.concurrency} in flight, "
        f"cache of {blocks} blocks of {given.block}",
        figures,
    )


if __name__ == "__main__":
    raise SystemExit(main())
