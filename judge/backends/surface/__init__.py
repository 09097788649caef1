"""Back-end `surface`, the control judge: a regression on a story's surface features, not a language model."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.backends.protocol import Backend, Capabilities, Settings
from judge.backends.surface.model import (
    LABEL,
    OVERALL,
    POINTS,
    Card,
    Model,
    expected,
    model_card,
    read_card,
    refuse_unrated,
    several,
    shipped_model,
    value_text,
)
from judge.base.credentials.providers import JudgeName
from judge.base.errors import BackendError, SpecError
from judge.base.records import Criterion, Query, Request, Response, Scale, Story
from judge.inputs.text_features import for_regression, length, own_features, score_file_features
from judge.stats import near_ties

# The control judge rates and compares stories by interpretable surface features, without the Eval-Prompt.

# Explanations of the control judge: the features that contributed most to its rating.

# Rating points below which a feature is not worth a word.
MOVED = 0.02

# Feature -> words where it is above, and where it is below, its mean in fitting; how its value reads.
_WORDS: dict[str, tuple[str, str, str]] = {
    "length": ("longer than usual", "shorter than usual", "{:.0f} tokens"),
    "compression": ("short for its story-prompt", "long for its story-prompt", "story-prompt is {:.0%} of its length"),
    "coverage": ("more words taken from the story-prompt", "fewer words taken from the story-prompt", "{:.0%}"),
    "density": ("longer pieces of the story-prompt copied", "shorter pieces of the story-prompt copied", "{:.2f}"),
    "novelty-1": ("more new words", "fewer new words", "{:.0%} new to the story-prompt"),
    "novelty-2": ("more new word pairs", "fewer new word pairs", "{:.0%} new to the story-prompt"),
    "novelty-3": ("more new word triples", "fewer new word triples", "{:.0%} new to the story-prompt"),
    "repetition-1": ("more words used again", "fewer words used again", "{:.0%} of its words"),
    "repetition-2": ("more repeated word pairs", "fewer repeated word pairs", "{:.0%} of its pairs"),
    "repetition-3": ("more repeated word triples", "fewer repeated word triples", "{:.0%} of its triples"),
    "repetition-4": ("more repeated runs of four words", "fewer repeated runs of four words", "{:.0%} of its runs"),
    "vocabulary": ("a richer vocabulary", "a poorer vocabulary", "{:.0%} different words in a window"),
    "word-length": ("longer words", "shorter words", "{:.1f} letters"),
    "long-words": ("more long words", "fewer long words", "{:.0%}"),
    "packed": ("harder to compress", "easier to compress", "{:.0%} of its size"),
    "punctuation": ("more punctuation", "less punctuation", "{:.0%} of tokens"),
    "quotes": ("more quotation marks", "fewer quotation marks", "{:.1%} of tokens"),
    "commas": ("more commas", "fewer commas", "{:.1%} of tokens"),
    "function-words": ("more function words", "fewer function words", "{:.0%} of tokens"),
    "pronouns": ("more pronouns", "fewer pronouns", "{:.0%} of tokens"),
    "being": ("more forms of be and have", "fewer forms of be and have", "{:.0%} of tokens"),
    "prompt-words": ("takes up more of the story-prompt", "takes up less of the story-prompt", "{:.0%} of its words"),
    "sentences": ("more sentences", "fewer sentences", "{:.0f}"),
    "sentence-length": ("longer sentences", "shorter sentences", "{:.1f} words"),
    "sentence-spread": ("sentences of more varied length", "sentences of more even length", "sd {:.1f} words"),
    "duplicate-sentences": ("more sentences said twice", "fewer sentences said twice", "{:.0%}"),
    "sentence-overlap": (
        "neighbouring sentences share more words",
        "neighbouring sentences share fewer words",
        "{:.0%}",
    ),
    "repeats-in-sentence": ("more words said twice in a sentence", "fewer words said twice in a sentence", "{:.1%}"),
    "words-given-before": ("sentences take up more earlier words", "sentences take up fewer earlier words", "{:.0%}"),
    "stutter": ("more doubled words", "fewer doubled words", "{:.1%}"),
}


def explain(
    model: Model, criterion: str, features: Mapping[str, float], parts: Mapping[str, float], above: Mapping[str, bool]
) -> str:
    """A few sentences: what this judge is, at most three features that changed the rating most, and whether the model
    of overall quality was used. `parts` are rating points per feature; `above`: its value exceeds the training mean.
    Points have their sign, so that none can be mistaken for a rating."""
    names = list(parts)
    strongest = [names[i] for i in near_ties.descending([abs(part) for part in parts.values()])[:3]]
    moved = [_phrase(name, features[name], parts[name], above[name]) for name in strongest if abs(parts[name]) >= MOVED]
    effects = f"What moved it most: {'; '.join(moved)}." if moved else "In every feature the story is near the average."
    sentences = [f"{LABEL.capitalize()}: it counts surface features and does not read the Eval-Prompt.", effects]
    if model.criterion == OVERALL != criterion.casefold().strip():
        sentences.append(f"No model was fitted for {criterion}, so the one for overall quality was used.")
    return " ".join(sentences)


def difference(first: Mapping[str, float], second: Mapping[str, float]) -> str:
    """A few sentences on at most three features that set two ratings apart most, first minus second, in rating points.
    No story is named, so that nothing can be mistaken for a verdict."""
    apart = {name: first.get(name, 0.0) - second.get(name, 0.0) for name in {**first, **second}}
    names = list(apart)
    strongest = [names[i] for i in near_ties.descending([abs(part) for part in apart.values()])[:3]]
    moved = [f"{name} ({apart[name]:+.2f})" for name in strongest if abs(apart[name]) >= MOVED]
    effects = (
        f"What set them apart most, in rating points: {'; '.join(moved)}." if moved else "No feature sets them apart."
    )
    return (
        f"{LABEL.capitalize()}: it rates each text by surface features, does not read the Eval-Prompt, and compares "
        f"the two ratings. {effects}"
    )


def _phrase(name: str, value: float, part: float, above: bool) -> str:
    more, less, form = _WORDS[name]
    return f"{more if above else less} ({form.format(value)}, {part:+.2f})"


# Stories whose features are kept: criteria and Eval-Prompts ask about the same one again and again.
_KEPT_STORIES = 8

_PAIR = 2
# The scale it was fitted on: of two stories the ratings it would give there are compared.
_FITTED = Scale(POINTS[0], POINTS[-1], 1)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A prediction on a scale from 1 to 5. `features` are values, `parts` the rating points of each; `above`: the value
    exceeds the training mean. `probabilities` are those of the ratings 1 to 5."""

    model: Model
    features: Mapping[str, float]
    parts: Mapping[str, float]
    above: Mapping[str, bool]
    probabilities: Sequence[float]

    @property
    def rating(self) -> float:
        """Expected value of the predicted distribution over the points of the scale."""
        return expected(self.probabilities)


class SurfaceBackend:
    """The control judge: the same answer in every repeat, unless `temperature: 1` samples the predicted
    distribution."""

    def __init__(self, card: Card) -> None:
        self.capabilities = Capabilities(structured=frozenset({"choice", "json"}))
        self._card = card
        self._name = f"surface@{card.hash} ({LABEL})"
        # criteria and Eval-Prompts ask about the same story again and again, one after the other
        self._features: OrderedDict[tuple[str, str, bool], tuple[dict[str, float], dict[str, float]]] = OrderedDict()

    async def probe(self) -> Mapping[str, Any]:
        """Facts about the model, for the manifest. There is no server to check."""
        return {
            "label": LABEL,
            "model_hash": self._card.hash,
            "data": [dict(entry) for entry in self._card.data],
            "models": [model.name for model in self._card.models],
        }

    async def complete(self, request: Request, repeats: Sequence[int]) -> list[Response]:
        """One answer per repeat. Raises BackendError for what cannot be answered, e.g. log-probabilities or no
        words."""
        query = refuse_unrated(request, "the control judge")
        if query.other is not None:
            return self._compared(query, query.other, repeats)
        if query.criteria:
            return self._together(query, repeats)
        verdict = self.rate(query.story, query.criterion.name)
        explanation = self._explanation(query.criterion, verdict) if query.asks_explanation else None
        if query.generation.temperature == 1:
            return [self._response(query, _draw(verdict, query, repeat), explanation) for repeat in repeats]
        return [self._response(query, verdict.rating, explanation)] * len(repeats)

    async def close(self) -> None:
        """Does nothing, because no resources are held."""

    def _together(self, query: Query, repeats: Sequence[int]) -> list[Response]:
        # Each rating is the prediction for that criterion alone.
        each = [(criterion, self.rate(query.story, criterion.name)) for criterion in query.criteria]
        why = [self._explanation(*pair) if query.asks_explanation else None for pair in each]
        drawn = query.generation.temperature == 1
        responses = []
        for repeat in repeats:
            values = [_draw(v, query, repeat, criterion.name) if drawn else v.rating for criterion, v in each]
            answers = []
            for (criterion, _), value, reason in zip(each, values, why, strict=True):
                rating, label = _written(value, criterion.scale)
                answers.append((criterion.name, label or rating, reason))
            responses.append(Response(several(query, answers), finish_reason="stop", model=self._name))
        return responses

    def _compared(self, query: Query, other: Story, repeats: Sequence[int]) -> list[Response]:
        # Without sampling, the order in which the stories are shown has no effect, except for equal ratings.
        rated = [self.rate(story, query.criterion.name) for story in (query.story, other)]
        if query.generation.temperature == 1:
            drawn = [
                [_draw(verdict, query, repeat, str(position)) for position, verdict in enumerate(rated)]
                for repeat in repeats
            ]
            return [self._verdict(query, rated, first, second) for first, second in drawn]
        first, second = (on_scale(verdict.rating, _FITTED) for verdict in rated)
        return [self._verdict(query, rated, first, second)] * len(repeats)

    def _verdict(self, query: Query, rated: Sequence[Verdict], first: float, second: float) -> Response:
        # Where no tie is allowed, the ratings before rounding decide and, if they are equal too, the first story wins.
        if first == second and len(query.choices) == _PAIR:
            first, second = (verdict.rating for verdict in rated)
        word = query.choices[2 if first == second and len(query.choices) > _PAIR else int(second > first)]
        explanation = difference(rated[0].parts, rated[1].parts) if query.asks_explanation else None
        return Response(text=value_text(query, "verdict", word, explanation), finish_reason="stop", model=self._name)

    def rate(self, story: Story, criterion: str) -> Verdict:
        """The prediction for a story on a criterion. Raises BackendError if the story has no words."""
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

    def _explanation(self, criterion: Criterion, verdict: Verdict) -> str:
        text = explain(verdict.model, criterion.name, verdict.features, verdict.parts, verdict.above)
        scale = criterion.scale
        if scale.labels:
            text += f" It was fitted on 1-5 and mapped linearly onto the labels {', '.join(scale.labels)}."
        elif (scale.min, scale.max) != (POINTS[0], POINTS[-1]):
            text += f" It was fitted on 1-5 and mapped linearly onto {scale.min:g}-{scale.max:g}."
        return text

    def _response(self, query: Query, value: float, explanation: str | None) -> Response:
        scale = query.criterion.scale
        rating, label = _written(value, scale)
        if query.structured == "choice":
            text = label or f"{min(scale.points(), key=lambda point: abs(point - rating)):g}"
        elif query.structured == "none" and label is not None:
            text = value_text(query, "answer", label, explanation)
        else:
            text = value_text(query, "rating", label or rating, explanation)
        return Response(text=text, finish_reason="stop", model=self._name)


def _written(value: float, scale: Scale) -> tuple[float, str | None]:
    rating = on_scale(value, scale)
    return rating, scale.labels[round(rating)] if scale.labels else None


def on_scale(value: float, scale: Scale) -> float:
    """A value from 1 to 5 mapped onto a scale, to one decimal (two if its range is below 2)."""
    span = scale.max - scale.min
    mapped = scale.min + (value - POINTS[0]) / (POINTS[-1] - POINTS[0]) * span
    return round(mapped, 1 if span >= 2 else 2)


def _draw(verdict: Verdict, query: Query, repeat: int, label: str = "") -> float:
    # `label` distinguishes the two stories of a comparison, or the criteria of one query.
    rng = random.Random(f"{query.generation.seed}:{query.key}:{repeat}{label and ':' + label}")
    return float(rng.choices(POINTS, weights=verdict.probabilities)[0])


__all__ = ["SurfaceBackend", "fitted_on", "has_model", "model_card", "open"]


def open(model: str, settings: Settings) -> Backend:  # noqa: A001, ARG001 - every back-end's loader has this name
    """`surface` uses the shipped model, `surface/FILE.json` another file of the same format."""
    if model and not model.endswith(".json"):
        raise SpecError(
            f"surface has no model {model!r}",
            hint="write `surface`, or `surface/FILE.json` for a model fitted elsewhere",
        )
    return SurfaceBackend(read_card(Path(model) if model else shipped_model()))


def fitted_on(judge: str, criteria: Sequence[str], stories: Iterable[Story]) -> Iterator[bool]:
    """For each story, whether the control judge's regression for any of the criteria was fitted on its story-prompt."""
    model = JudgeName.of(judge).model
    card = read_card(Path(model) if model else shipped_model())
    for story in stories:
        tokens = length(story.text)
        yield any(card.was_fitted_on(card.choose(name, tokens), story.story_prompt) for name in criteria)


def has_model(criterion: str) -> bool:
    """Whether the shipped judge was fitted on this criterion; if not, it uses its model of overall quality."""
    return criterion.casefold().strip() in read_card(shipped_model()).by_criterion
