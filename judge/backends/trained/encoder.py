"""Scores stories with a trained cross-encoder, which reads a pair of texts: the question with the story-prompt, and the
story.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from judge.backends.engine_keys import check_keys
from judge.backends.trained.model import Encoder, Head, TrainedModel, sigmoid
from judge.backends.trained.sequence_classifier import SequenceClassifier, load
from judge.base.errors import BackendError
from judge.base.fingerprint import fingerprint_weights
from judge.base.records import Story

ENCODER_FOLDER = "encoder"
_KEYS = {"dtype", "device"}
_KEPT = 256
"""Stories whose logit is kept: comparisons ask about the same story again and again."""


def query_text(asked: str, story_prompt: str) -> str:
    """First text that the encoder reads, before the story: the question `asked` and the story-prompt. The question
    comes first because long texts are cut at the end.
    """
    return f"{asked}\n\n{story_prompt}".strip()


def on_people_scale(head: Head, logit: float) -> float:
    """Score of a story from the encoder's logit. If `head` (the fitted parameters for a criterion) was trained on
    ratings, it is the point on the scale of the human ratings; if on preferences, it is the logit itself.
    """
    return head.low + (head.high - head.low) * sigmoid(logit) if head.kind == "rating" else logit


class EncoderScorer:
    """Scores stories with a fine-tuned encoder. For each criterion, the encoder reads the story together with that
    criterion's question.
    """

    def __init__(self, model: TrainedModel, encoder: Encoder, folder: Path, engine: Mapping[str, Any]) -> None:
        check_keys(engine, _KEYS, "trained")
        self._model, self._encoder, self._engine = model, encoder, dict(engine)
        self._folder = folder / ENCODER_FOLDER
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._known: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self._cut: dict[tuple[str, str], bool] = {}
        self._loaded: SequenceClassifier | None = None

    async def probe(self) -> Mapping[str, Any]:
        """Load tokenizer and weights, and return facts about them for the manifest. Raises BackendError if the weights
        are not those that training wrote.
        """
        loaded: SequenceClassifier = await self._run(self._load)
        return loaded.facts | {
            "encoder": self._encoder.base,
            "max_model_len": self._encoder.max_length,
            "note": f"the end of a story is not read beyond {self._encoder.max_length} tokens, as in training",
        }

    async def score(self, story: Story, head: Head) -> float:
        """Score of a story: the point on the scale of the human ratings, or the logit if `head` (the fitted parameters
        for a criterion) was trained on preferences.
        """
        key = (head.asked, story.story_prompt, story.text)
        if key not in self._known:
            self._known[key] = await self._run(self._logit, *key)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return on_people_scale(head, self._known[key])

    def explain(self, story: Story, head: Head, other: Story | None) -> str:  # noqa: ARG002 - as others have it
        """A note if the end of a story was cut off, otherwise ""; an encoder gives no other explanation."""
        cut = [
            story_cut
            for story_cut in (story, other)
            if story_cut is not None and self._cut.get((story_cut.story_prompt, story_cut.text))
        ]
        limit = self._encoder.max_length
        return (
            f"It read the first part of {'these stories' if len(cut) > 1 else 'the story'} only ({limit} tokens "
            "with the story-prompt)."
            if cut
            else ""
        )

    async def close(self) -> None:
        """Free the memory of the weights."""
        self._loaded = None
        self._thread.shutdown(wait=False)

    async def _run(self, work: Any, *args: str) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    def _load(self) -> SequenceClassifier:
        if self._loaded is None:
            label = f"trained/{self._model.name}"
            if not self._folder.is_dir() or fingerprint_weights(self._folder) != self._encoder.hash:
                raise BackendError(
                    f"{self._folder} does not hold the weights that {label} was trained to",
                    kind="model",
                    retryable=False,
                    hint="train it again, or copy the folder whole",
                )
            keys = {"dtype": "float32", **self._engine}
            self._loaded = load(str(self._folder), label, keys)
        return self._loaded

    def _logit(self, asked: str, story_prompt: str, text: str) -> float:
        loaded, limit = self._load(), self._encoder.max_length
        query = query_text(asked, story_prompt)
        whole = len(loaded.tokenizer(query, text, verbose=False)["input_ids"])
        self._cut[story_prompt, text] = whole > limit
        inputs = loaded.tokenizer(query, text, return_tensors="pt", truncation=True, max_length=limit)
        return loaded.logit(inputs)
