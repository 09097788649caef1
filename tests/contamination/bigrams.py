"""A language model without weights: characters given the character before, counted in a text. A scorer for tests.

It is a model in earnest (a smoothed conditional distribution over 257 tokens: bytes, and an opening token), so that
what is computed from its log-probabilities can be checked by hand, on machines without torch.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

from judge.backends.protocol import ScorerFacts, Settings, TokenLogprobs
from judge.base.errors import BackendError

TRAINED_ON = "the cat sat on the mat and the dog sat on the log while the rain fell on the roof of the old house. " * 20
VOCABULARY = 256


def open_scorer(model: str, settings: Settings) -> BigramScorer:
    """A scorer whose name says what it has seen beside: `bigrams/small` reads half of the text."""
    return BigramScorer(model, int(settings.engine.get("max_model_len", 4096)))


class BigramScorer:
    """Bytes given the byte before, add-one smoothed."""

    def __init__(self, model: str, context: int = 4096, *, full: bool = True) -> None:
        self.model = model
        self.calls: list[int] = []
        self._context = context
        self._full = full
        text = TRAINED_ON.encode() if model != "small" else TRAINED_ON[:50].encode()
        self._counts = [[1] * VOCABULARY for _ in range(VOCABULARY)]
        for one, other in itertools.pairwise(text):
            self._counts[one][other] += 1

    async def facts(self) -> ScorerFacts:
        """Weights are the counts: they go by the model's name."""
        return ScorerFacts(self.model, None, "b2:bytes", f"b2:{self.model}", VOCABULARY, self._context, "float64", "0")

    async def token_logprobs(
        self, texts: Sequence[str], *, full_distribution: bool = False, prefix: str | None = None
    ) -> list[TokenLogprobs]:
        """As the protocol says."""
        if full_distribution and not self._full:
            raise BackendError("no whole distribution here", kind="capability", retryable=False)
        self.calls.append(len(texts))
        return [self._one(text, full_distribution, (prefix or "").encode()) for text in texts]

    async def close(self) -> None:
        """Nothing is held."""

    @functools.cache  # noqa: B019  a scorer lives as long as its test
    def _after(self, last: int) -> tuple[list[float], float, float]:
        """The distribution after a byte, and mean and variance of its log."""
        total = sum(self._counts[last])
        p = [count / total for count in self._counts[last]]
        mu = sum(q * math.log(q) for q in p)
        return p, mu, sum(q * (math.log(q) - mu) ** 2 for q in p)

    def _one(self, text: str, full: bool, before: bytes) -> TokenLogprobs:
        raw = text.encode()
        kept = raw[: self._context - len(before)]
        logprobs, mean, variance = [], [], []
        for i, byte in enumerate(kept):
            last = kept[i - 1] if i else before[-1] if before else None
            if last is None:
                row = (math.nan,) * 3
            else:
                p, mu, sigma2 = self._after(last)
                row = (math.log(p[byte]), mu, sigma2)
            for column, value in zip((logprobs, mean, variance), row, strict=True):
                column.append(value)
        return TokenLogprobs(
            tuple(kept),
            tuple(chr(byte) for byte in kept),
            tuple(logprobs),
            tuple(mean) if full else None,
            tuple(variance) if full else None,
            len(kept) < len(raw),
        )
