"""The control judge as a back-end: rates by readable surface features. Never reads the Eval-Prompt."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from judge.backends.protocol import Capabilities
from judge.backends.surface.explanation import explain
from judge.backends.surface.model import LABEL, POINTS, Card, Model, expected
from judge.errors import BackendError
from judge.records import Query, Response, Scale, Story
from judge.text_features import for_regression, own_features, score_file_features

_KEPT_STORIES = 8
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the control judge makes of one story for one criterion, on 1-5."""

    model: Model
    features: Mapping[str, float]
    parts: Mapping[str, float]
    above: Mapping[str, bool]
    probabilities: Sequence[float]

    @property
    def rating(self) -> float:
        """Expected value of the predictive distribution."""
        return expected(self.probabilities)


class SurfaceBackend:
    """The control judge. Repeats are equal unless `temperature: 1` asks for draws from the predictive distribution."""

    def __init__(self, card: Card) -> None:
        self.capabilities = Capabilities(structured=frozenset({"choice", "json"}))
        self._card = card
        self._name = f"surface@{card.hash} ({LABEL})"
        # criteria and Eval-Prompts ask about the same story again and again, one after the other
        self._features: OrderedDict[tuple[str, str, bool], tuple[dict[str, float], dict[str, float]]] = OrderedDict()

    async def probe(self) -> Mapping[str, Any]:
        """The model's facts, for the manifest. There is no server to check."""
        return {
            "label": LABEL,
            "model_hash": self._card.hash,
            "data": [dict(entry) for entry in self._card.data],
            "models": [model.name for model in self._card.models],
        }

    async def complete(self, query: Query, repeats: Sequence[int]) -> list[Response]:
        """One answer per repeat. BackendError where log-probabilities are asked for, or the story has no words."""
        if query.scoring == "logprobs":
            raise BackendError(
                "the control judge has no log-probabilities", kind="capability", retryable=False, hint="scoring: text"
            )
        if len(query.criterion.scale.labels) > _PAIR and not query.criterion.scale.ordered:
            raise BackendError(
                f"the control judge rates along an order, and the labels of {query.criterion.name} have none",
                kind="capability",
                retryable=False,
            )
        verdict = self.rate(query.story, query.criterion.name)
        explanation = self._explanation(query, verdict) if query.asks_explanation else None
        if query.generation.temperature == 1:
            return [self._response(query, _draw(verdict, query, repeat), explanation) for repeat in repeats]
        return [self._response(query, verdict.rating, explanation)] * len(repeats)

    async def close(self) -> None:
        """Nothing to give back."""

    def rate(self, story: Story, criterion: str) -> Verdict:
        """The verdict on a story; BackendError where it has no words."""
        plain, scaled = self._numbers(story, criterion)
        if not plain["length"]:
            raise BackendError(f"story {story.id!r} has no words to count", kind="request", retryable=False)
        model = self._card.choose(criterion, plain["length"])
        parts = model.parts(scaled)
        above = {term.feature: scaled[term.feature] > term.mean for term in model.terms}
        return Verdict(model, plain, parts, above, model.distribution(parts))

    def _numbers(self, story: Story, criterion: str) -> tuple[dict[str, float], dict[str, float]]:
        key = (story.text, story.story_prompt, self._card.reads_own(criterion))
        if key not in self._features:
            count = own_features if self._card.reads_own(criterion) else score_file_features
            plain = count(story.text, story.story_prompt)
            self._features[key] = (plain, for_regression(plain))
            if len(self._features) > 2 * _KEPT_STORIES:
                self._features.popitem(last=False)
        return self._features[key]

    def _explanation(self, query: Query, verdict: Verdict) -> str:
        text = explain(verdict.model, query.criterion.name, verdict.features, verdict.parts, verdict.above)
        scale = query.criterion.scale
        if scale.labels:
            text += f" It was fitted on 1-5 and mapped linearly onto the labels {', '.join(scale.labels)}."
        elif (scale.min, scale.max) != (POINTS[0], POINTS[-1]):
            text += f" It was fitted on 1-5 and mapped linearly onto {scale.min:g}-{scale.max:g}."
        return text

    def _response(self, query: Query, value: float, explanation: str | None) -> Response:
        scale = query.criterion.scale
        rating = on_scale(value, scale)
        label = scale.labels[round(rating)] if scale.labels else None
        if query.structured == "choice":
            text = label or f"{min(scale.points(), key=lambda point: abs(point - rating)):g}"
        elif query.structured == "json":
            reason = {} if explanation is None else {"explanation": explanation}
            text = orjson.dumps({"rating": label or rating, **reason}).decode()
        else:
            said = f"Rating: {rating:g}" if label is None else f"Answer: {label}"
            text = said + ("" if explanation is None else f"\n\nExplanation: {explanation}")
        return Response(text=text, finish_reason="stop", model=self._name)


def on_scale(value: float, scale: Scale) -> float:
    """A value on 1-5 mapped linearly onto a scale, to one decimal (to two where the scale spans less than 2)."""
    span = scale.max - scale.min
    mapped = scale.min + (value - POINTS[0]) / (POINTS[-1] - POINTS[0]) * span
    return round(mapped, 1 if span >= 2 else 2)


def _draw(verdict: Verdict, query: Query, repeat: int) -> float:
    """One point drawn from the predictive distribution; the same seed, query and repeat draw the same point."""
    rng = random.Random(f"{query.generation.seed}:{query.key}:{repeat}")
    return float(rng.choices(POINTS, weights=verdict.probabilities)[0])
