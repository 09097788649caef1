"""The bigrams of tests/contamination as a stand-in for models with weights: each text with the context before it."""

from __future__ import annotations

from collections.abc import Sequence

from judge.backends.protocol import Settings, TokenLogprobs
from tests.contamination.bigrams import BigramScorer


class Bigrams(BigramScorer):
    """As many contexts as texts, or one for all."""

    async def token_logprobs(
        self, texts: Sequence[str], *, full_distribution: bool = False, prefix: str | Sequence[str] | None = None
    ) -> list[TokenLogprobs]:
        """As the protocol says."""
        before = [prefix] * len(texts) if prefix is None or isinstance(prefix, str) else prefix
        return [
            self._one(text, full_distribution, (one or "").encode()) for text, one in zip(texts, before, strict=True)
        ]


def open_scorer(model: str, settings: Settings) -> Bigrams:
    """The stand-in, whatever the name."""
    return Bigrams(model, int(settings.engine.get("max_model_len", 4096)))
