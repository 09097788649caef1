"""Scorer `vllm/<model>`: log-probabilities of given texts, equal to those of a vLLM server. The engine is the
back-end's, started with an option that allows whole distributions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from judge.backends.openai.scorer import from_entries
from judge.backends.protocol import ScorerFacts, Settings, TokenLogprobs
from judge.backends.scorer_prefixes import no_room, one_each
from judge.backends.vllm.backend import VLLMBackend


def open_scorer(model: str, settings: Settings) -> VLLMScorer:
    """The scorer, whose engine starts on first use. Raises SpecError for an unknown key in `settings.engine`."""
    return VLLMScorer(model, settings)


class VLLMScorer:
    """Log-probabilities of texts by a vLLM engine of its own, with `settings.concurrency` requests at a time."""

    def __init__(self, model: str, settings: Settings) -> None:
        # The whole distribution has to be allowed when the engine starts; it costs nothing where it is not asked for.
        engine = {**settings.engine, "max_logprobs": -1}
        self._backend = VLLMBackend(model, replace(settings, engine=engine))
        self._settings = settings
        self._facts: ScorerFacts | None = None

    async def facts(self) -> ScorerFacts:
        """Starts the engine; facts that identify the model."""
        if self._facts is None:
            reported: Mapping[str, Any] = await self._backend.probe()
            self._facts = ScorerFacts(
                str(reported["model"]),
                reported.get("model_revision") or self._settings.revision,
                vocabulary=len(self._backend.tokenizer),
                context=int(reported["max_model_len"]),
                dtype=str(reported["dtype"]),
                version=f"vLLM {reported['version']}",
            )
        return self._facts

    async def token_logprobs(
        self, texts: Sequence[str], *, full_distribution: bool = False, prefix: str | Sequence[str] | None = None
    ) -> list[TokenLogprobs]:
        """Log-probabilities of each text's tokens, by a request each. `full_distribution` adds mean and variance of log
        p over the vocabulary. `prefix` is one for all, or a list."""
        facts = await self.facts()
        tokenizer = self._backend.tokenizer
        prefixes = one_each(prefix, len(texts))
        before = {each: tokenizer.encode(each) if each is not None else [] for each in set(prefixes)}
        # One token is left for the answer, which the engine cannot do without.
        room = {each: (facts.context or 1 << 60) - 1 - len(ids) for each, ids in before.items()}
        for each, left in room.items():
            if left < 1:
                raise no_room(f"vllm/{facts.model}", len(before[each]), facts.context or 0)
        slots = asyncio.Semaphore(self._settings.concurrency)

        async def logprobs_of(text: str, after: str | None) -> TokenLogprobs:
            async with slots:
                ids = tokenizer.encode(text, add_special_tokens=after is None)
                kept = [int(token) for token in ids[: room[after]]]
                if not kept:
                    return TokenLogprobs((), (), ())
                rows = await self._backend.prompt_logprobs([*before[after], *kept], full=full_distribution)
                cut = len(ids) > room[after]
                return from_entries(kept, rows[len(before[after]) :], full_distribution, truncated=cut)

        return list(await asyncio.gather(*map(logprobs_of, texts, prefixes)))

    async def close(self) -> None:
        await self._backend.close()
