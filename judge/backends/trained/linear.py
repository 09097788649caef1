"""Scores stories with a linear model of surface features and, if the model uses one, of an embedding."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from judge.backends.engine_keys import check_keys
from judge.backends.surface.model import Term
from judge.backends.trained.model import Head, TrainedModel
from judge.base.errors import BackendError, DataError
from judge.base.folders.cache import cache_folder
from judge.base.records import Story
from judge.inputs.text_features import for_regression, own_features

_KEPT = 64
"""Stories whose numbers are kept: criteria and pairs ask about the same one again and again."""


class LinearScorer:
    """Scores stories with a linear model: it computes the features and the embedding of a story once and adds up the
    weighted terms.
    """

    def __init__(self, model: TrainedModel, engine: Mapping[str, Any]) -> None:
        check_keys(engine, {"embed"}, "trained")
        unknown = {term.feature for head in model.heads for term in head.surface} - set(_features())
        if unknown:
            raise DataError(f"weighs features that nothing has: {', '.join(sorted(unknown)[:3])}", file=model.name)
        if model.embedding is None and any(head.embedding for head in model.heads):
            raise DataError("weighs an embedding and names none", file=model.name)
        self._model = model
        self._embed = str(engine.get("embed") or (model.embedding or {}).get("model", ""))
        self._known: OrderedDict[tuple[str, str], tuple[dict[str, float], list[float]]] = OrderedDict()

    async def probe(self) -> Mapping[str, Any]:
        """Check that the embedding model, if one is used, is the same as in training, and return facts about it for the
        manifest.
        """
        if self._model.embedding is None:
            return {}
        from judge.inputs.embedding.vectors import model_key

        key = await asyncio.to_thread(model_key, self._embed)
        if key != self._model.embedding["key"]:
            raise BackendError(
                f"{self._embed} is not the embedding model that {self._model.name} was trained with "
                f"({self._model.embedding['model']}, {self._model.embedding['key']})",
                kind="model",
                retryable=False,
                hint="engine: {embed: FOLDER} in run.yaml names the folder where it lies now",
            )
        return {"embedding": dict(self._model.embedding)}

    async def score(self, story: Story, head: Head) -> float:
        """Score of a story: the intercept plus the contributions of all terms."""
        features, vector = await self._numbers(story)
        return head.intercept + sum(parts(head.surface, features).values()) + along(head.embedding, vector)

    def explain(self, story: Story, head: Head, other: Story | None) -> str:
        """Sentence on the three surface features with the largest effect on the score, with the sign of each effect.
        With `other`, the effects are those on the difference of the two scores, `story` minus `other`.
        """
        own = parts(head.surface, self._counted(story))
        if other is not None:
            theirs = parts(head.surface, self._counted(other))
            own = {name: own[name] - theirs[name] for name in own}
        strongest = sorted(own, key=lambda name: -abs(own[name]))[:3]
        effects = "; ".join(f"{name} ({own[name]:+.2f})" for name in strongest)
        return f"What {'moved it' if other is None else 'set them apart'} most, in its own points: {effects}."

    async def close(self) -> None:
        """Does nothing, because no resources are held."""

    def _counted(self, story: Story) -> dict[str, float]:
        counted = self._known.get((story.text, story.story_prompt))
        return counted[0] if counted else for_regression(own_features(story.text, story.story_prompt))

    async def _numbers(self, story: Story) -> tuple[dict[str, float], list[float]]:
        key = (story.text, story.story_prompt)
        if key not in self._known:
            vector: list[float] = []
            if self._model.embedding is not None:
                vector = await asyncio.to_thread(self._vector, story.text)
            self._known[key] = (self._counted(story), vector)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return self._known[key]

    def _vector(self, text: str) -> list[float]:
        from judge.inputs.embedding.vectors import embed

        vector = embed([text], self._embed, cache_folder() / "embeddings.sqlite").vectors[0]
        return [float(value) for value in vector]


def _features() -> dict[str, float]:
    return for_regression(own_features("A story.", ""))


def parts(terms: tuple[Term, ...], features: Mapping[str, float]) -> dict[str, float]:
    """Amount that each surface feature adds to a story's score, by name of the feature."""
    return {term.feature: term.part(features[term.feature]) for term in terms}


def along(terms: tuple[Term, ...], vector: list[float]) -> float:
    """Contribution of the embedding `vector` to a story's score, summed over its dimensions; 0 if the model has no
    terms for an embedding.
    """
    if terms and len(terms) != len(vector):
        raise BackendError(f"{len(terms)} weights for {len(vector)} dimensions", kind="model", retryable=False)
    return sum(term.part(value) for term, value in zip(terms, vector, strict=True)) if terms else 0.0
