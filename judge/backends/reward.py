"""Back-end `reward/MODEL`: published reward models (classifiers with one output), which do not read the Eval-Prompt."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from judge.backends.engine_keys import check_keys
from judge.backends.protocol import Backend, Settings
from judge.backends.trained.backend import ScoringBackend
from judge.backends.trained.model import Head, TrainedModel
from judge.backends.trained.sequence_classifier import SequenceClassifier, load
from judge.base.errors import BackendError
from judge.base.records import Story

# Scorer of stories with a published reward model: a sequence classifier with one output, which is used for every
# criterion.

KEYS = {"dtype", "device", "max_model_len", "tokenizer"}
# Stories whose reward is kept: it is the same for every criterion, and each of them asks.
_KEPT = 256


class RewardScorer:
    """Scores a story by a published reward model: story-prompt and story are turns of user and assistant or, without a
    chat template, a pair of texts."""

    def __init__(self, model: str, settings: Settings) -> None:
        check_keys(settings.engine, KEYS, "reward")
        self._model, self._settings = model, settings
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reward")
        self._known: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._loaded: SequenceClassifier | None = None

    async def probe(self) -> Mapping[str, Any]:
        """Loads tokenizer and weights; facts about them for the manifest."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def score(self, story: Story, head: Head) -> float:  # noqa: ARG002 - one for every criterion
        """Reward of the story, the same for every criterion, because the model does not read it."""
        key = (story.story_prompt, story.text)
        if key not in self._known:
            run = asyncio.get_running_loop().run_in_executor
            self._known[key] = await run(self._thread, self._reward, *key)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return self._known[key]

    def explain(self, story: Story, head: Head, other: Story | None) -> str:  # noqa: ARG002 - as others have it
        """Empty: a reward model gives no explanation."""
        return ""

    async def close(self) -> None:
        self._loaded = None
        self._thread.shutdown(wait=False)

    def _load(self) -> Mapping[str, Any]:
        revision = self._settings.revision
        loaded = load(self._model, f"reward/{self._model}", self._settings.engine, revision=revision)
        self._loaded = loaded
        return {
            **loaded.facts,
            "model_revision": revision or getattr(loaded.model.config, "_commit_hash", None),
            "note": "rewards are put on the scale by a logistic curve: their order counts, their points do not",
        }

    def _reward(self, story_prompt: str, text: str) -> float:
        loaded = self._loaded
        if loaded is None:
            self._load()
            return self._reward(story_prompt, text)
        tokenizer = loaded.tokenizer
        if getattr(tokenizer, "chat_template", None):
            turns = [{"role": "user", "content": story_prompt}, {"role": "assistant", "content": text}]
            whole = tokenizer.apply_chat_template(turns, tokenize=False)
            inputs = tokenizer(whole, return_tensors="pt", add_special_tokens=False)
        elif story_prompt:
            inputs = tokenizer(story_prompt, text, return_tensors="pt")
        else:
            inputs = tokenizer(text, return_tensors="pt")
        count = int(inputs["input_ids"].shape[1])
        if count > loaded.longest:
            raise BackendError(
                f"{count} tokens, and reward/{self._model} reads {loaded.longest}",
                kind="context",
                retryable=False,
                hint="shorten the stories, or raise engine.max_model_len where the model reads more",
            )
        return loaded.logit(inputs)


# Mean and spread that leave a reward as the model gives it: nothing was fitted to people's ratings.
_LOGIT = (0.0, 1.0)


def open(model: str, settings: Settings) -> Backend:  # noqa: A001 - every back-end's loader has this name
    """The back-end; `probe` loads the weights. The difference of two rewards is the log odds that the first story is
    preferred (Bradley & Terry): the higher wins. A single reward is mapped by the logistic curve between the scale's
    ends, where only the order is meaningful."""
    head = Head("", "preference", *_LOGIT, 0.0, (), (), slope=1.0, band=0.0, line=(1.0, 0.0), quantiles=(0.0,))
    name = f"reward/{model}"
    trained = TrainedModel(name, (head,), None, (), frozenset(), settings.revision or "no revision")
    return ScoringBackend(trained, RewardScorer(model, settings), label="reward model")
