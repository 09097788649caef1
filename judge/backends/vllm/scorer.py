"""Scorer `vllm/<model>`: log-probabilities of given texts from vLLM's engine in this process.

The engine is the one of the back-end `vllm/`, started with an option that allows whole distributions. The results equal
those of a vLLM server with the same model.
"""

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
    """Scorer that gives the log-probabilities of texts under the model. The engine itself starts when the scorer is
    first used. Raises SpecError for an unknown key in `settings.engine`.
    """
    return VLLMScorer(model, settings)


class VLLMScorer:
    """Scorer that gives the log-probabilities of texts under a model, which its own vLLM engine runs.
    `settings.concurrency` is the number of concurrent requests.
    """

    def __init__(self, model: str, settings: Settings) -> None:
        # The whole distribution has to be allowed when the engine starts; it costs nothing where it is not asked for.
        engine = {**settings.engine, "max_logprobs": -1}
        self._backend = VLLMBackend(model, replace(settings, engine=engine))
        self._settings = settings
        self._facts: ScorerFacts | None = None

    async def facts(self) -> ScorerFacts:
        """Start the engine and return facts that identify the model."""
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
        """Log-probabilities of the tokens of each text. One request is sent to the engine for each text, many at the
        same time. `full_distribution` adds the mean and variance of log p over the vocabulary. `prefix` is one prefix
        for all texts, or a list with one for each.
        """
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
        """Stop the scorer's vLLM engine and its processes."""
        await self._backend.close()
