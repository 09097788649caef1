"""Speed on a graphics card: answers of transformers in batches beside one at a time, Min-K% beside its reference loop.

A random Llama of 850 million weights, made on the spot: what it says is nothing, what it takes is what such
a model takes. Wall-clock seconds after one round that is not counted. Prints; asserts only that both ways of scoring
give the same log-probabilities.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.contamination import reference_loop
from tests.benchmarks.figures import Figure, median, show, spread
from tests.vllm.tiny_model import make, texts

ROUNDS = 3
# 850 million weights.
LARGE: dict[str, Any] = {"hidden": 2048, "layers": 20, "spread": 0.02}


def timed(work: Callable[[], Any]) -> tuple[list[float], Any]:
    """Seconds of each round after one that is not counted, and what came out."""
    out = work()
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return seconds, out


def scoring(folder: Path, dtype: str) -> list[Figure]:
    """Min-K%: batches beside the loop over texts and tokens of its reference implementation."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from judge.backends import Settings, open_scorer

    stories = (texts() * 4)[:160]
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    stories = [tokenizer.decode(tokenizer(story)["input_ids"][:256]) for story in stories]
    scorer: Any = open_scorer(f"hf/{folder}", Settings(engine={"dtype": dtype}))
    batched, ours = timed(lambda: asyncio.run(scorer.token_logprobs(stories)))
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=dtype).to("cuda").eval()

    def loop() -> list[list[float]]:
        with torch.device("cuda"):
            return reference_loop(model, tokenizer, stories)

    slow, published = timed(loop)
    away = max(
        abs(a - b)
        for mine, theirs in zip(ours, published, strict=True)
        for a, b in zip(mine.logprobs[1:], theirs, strict=True)
    )
    # Half precision rounds a sum in another order otherwise.
    assert away < {"float32": 0.01, "bfloat16": 1.0}[dtype], away
    return [
        Figure(f"Min-K%, 160 texts, {dtype}, in batches", median(batched), "", "s", spread(batched)),
        Figure("the reference's loop", median(slow), "", "s", f"{spread(slow)}; log p away {away:.1e}"),
        Figure("  loop / batches", median(slow) / median(batched), ">= 5", "x"),
    ]


def answering(folder: Path) -> list[Figure]:
    """Answers of eight tokens: in batches of 64, of 256, and one at a time."""
    from judge.backends import Settings, open_backend
    from judge.base.records import Generation, Message
    from tests.vllm.test_vllm_engine import query

    stories = [text[:1500] for text in texts()[:48]]

    def ask(size: int, count: int) -> float:
        async def once() -> float:
            backend = open_backend(f"hf/{folder}", Settings(engine={"batch_size": size}, attempt_timeout=300))
            try:
                await backend.probe()
                how = Generation(temperature=1.0, max_tokens=8, seed=1)
                words = [(Message("user", f"{i}. {stories[i % 48]}"),) for i in range(count)]
                asked = [query(messages=each, generation=how, structured="none") for each in words]
                await backend.complete(asked[0], [0])
                began = time.perf_counter()
                await asyncio.gather(*(backend.complete(one, [0]) for one in asked))
                return count / (time.perf_counter() - began)
            finally:
                await backend.close()

        return asyncio.run(once())

    alone, usual, large = ask(1, 32), ask(64, 512), ask(256, 1024)
    return [
        Figure("answers a second, one at a time", alone, "", "/s"),
        Figure("in batches of 64 (the default on a card)", usual, "", "/s", f"{usual / alone:.1f} x"),
        Figure("in batches of 256", large, "", "/s", f"{large / alone:.1f} x"),
    ]


def main() -> int:
    """Measure and print."""
    import torch

    with tempfile.TemporaryDirectory() as name:
        folder = make(Path(name) / "model", **LARGE)
        figures = [*scoring(folder, "float32"), *scoring(folder, "bfloat16"), *answering(folder)]
        figures.append(Figure("memory of the card at most", torch.cuda.max_memory_allocated() / 2**30, "", "GiB"))
    show("Speed on a graphics card", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
