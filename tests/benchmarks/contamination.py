"""Speed of scoring texts by transformers in batches against one text at a time. Prints; never asserts.

Random Llamas of two layers, vocabularies of 512 and 4,096 tokens, 200 texts of 64 tokens, then 25 of 512; on one
thread of the CPU, in CPU time, so that waiting on a busy machine does not count. Two loops stand beside it: that of
the reference implementation of Min-K% Prob (a forward pass, log-softmax over the vocabulary, one `.item()` a token),
and the same without its Python loop over tokens. Batches save what a call costs, not what a token costs: the larger
the vocabulary, the less there is to save on a CPU. All give the same log-probabilities; the largest difference stands
in the remarks. What no way of batching can be quicker than stands last: the tokenizer, the model's own forward passes
in the same batches, and the log-sum-exp over the vocabulary, with nothing around them. Needs the extra `hf`.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.figures import Figure, median, show, spread

ROUNDS = 3


def make(folder: Path, vocabulary: int) -> Path:
    """A model and a word tokenizer, written as `save_pretrained` does."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(1)
    plain = Tokenizer(models.WordLevel({f"w{i}": i for i in range(vocabulary)}, unk_token="w0"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="w0", model_max_length=1024).save_pretrained(str(folder))
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        dtype="float32",
    )
    LlamaForCausalLM(config).save_pretrained(str(folder))
    return folder


def reference_loop(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[list[float]]:
    """As the reference implementation does it."""
    import torch

    found = []
    for text in texts:
        ids = torch.tensor(tokenizer.encode(text)).unsqueeze(0)
        with torch.no_grad():
            logits = model(ids, labels=ids)[1]
        probabilities = torch.nn.functional.log_softmax(logits, dim=-1)
        chosen = ids[0][1:]
        found.append([probabilities[0, i, token].item() for i, token in enumerate(chosen)])
    return found


def lean_loop(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[list[float]]:
    """One text at a time, without a loop over its tokens."""
    import torch

    found = []
    for text in texts:
        ids = torch.tensor([tokenizer.encode(text)])
        with torch.inference_mode():
            table = torch.log_softmax(model(ids).logits[0, :-1], dim=-1)
        found.append(table.gather(-1, ids[0, 1:, None])[:, 0].tolist())
    return found


def bare_batches(model: Any, tokenizer: Any, texts: Sequence[str], rows: int) -> None:
    """What scoring in batches cannot do without: texts of one length, no padding, nothing given back."""
    import torch

    ids = torch.tensor(tokenizer(list(texts))["input_ids"])
    with torch.inference_mode():
        for part in ids.split(rows):
            logits = model(input_ids=part, use_cache=False).logits[:, :-1]
            logits.gather(-1, part[:, 1:, None])
            torch.logsumexp(logits, dim=-1)


def timed(work: Callable[[], Any]) -> tuple[list[float], Any]:
    """CPU seconds of each round after one that is not counted, and what came out."""
    out = work()
    seconds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return seconds, out


def measure(folder: Path, vocabulary: int, count: int, tokens: int, bar: str) -> list[Figure]:
    """Both loops and the batches at one length of text."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from judge.backends import Settings, open_scorer

    rng = np.random.default_rng(tokens)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, vocabulary, tokens)) for _ in range(count)]
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype="float32").eval()
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    scorer: Any = open_scorer(f"hf/{folder}", Settings())
    batched, ours = timed(lambda: asyncio.run(scorer.token_logprobs(texts)))
    lean, plain = timed(lambda: lean_loop(model, tokenizer, texts))
    slow, published = timed(lambda: reference_loop(model, tokenizer, texts))
    rows = max(1, scorer._loaded._batch_tokens // tokens)
    bare, _ = timed(lambda: bare_batches(model, tokenizer, texts, rows))
    away = max(
        float(np.abs(np.array(o.logprobs[1:]) - np.array(p)).max()) for o, p in zip(ours, published, strict=True)
    )
    lean_away = max(float(np.abs(np.array(a) - np.array(b)).max()) for a, b in zip(plain, published, strict=True))
    what = f"{count} x {tokens} tokens, vocabulary {vocabulary}"
    return [
        Figure(f"{what}, in batches", median(batched), "", "s", spread(batched)),
        Figure(f"{what}, reference loop", median(slow), "", "s", spread(slow)),
        Figure(f"{what}, lean loop", median(lean), "", "s", f"{spread(lean)}; away {lean_away:.1e}"),
        Figure("  reference loop / batches", median(slow) / median(batched), bar, "x", f"log p away {away:.1e}"),
        Figure("  lean loop / batches", median(lean) / median(batched), "", "x"),
        Figure("  reference loop / limit", median(slow) / median(bare), "", "x", f"{rows} texts a batch"),
    ]


def main() -> int:
    """Measure and print."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        show("Contamination scores", [Figure("speed of scoring", None, remark="needs pip install 'storyjudge[hf]'")])
        return 0
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        for vocabulary, count, tokens, bar in ((512, 200, 64, ">= 5"), (4096, 200, 64, ""), (4096, 25, 512, "")):
            folder = make(Path(name) / str(vocabulary), vocabulary)
            figures = measure(folder, vocabulary, count, tokens, bar)
            show("Contamination scores by transformers, one thread, CPU time", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
