"""Back-end for any model that scores stories, whose scores become ratings and verdicts. The Eval-Prompt is not read."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from judge.backends.engine_keys import check_keys
from judge.backends.protocol import Backend, Capabilities, Settings
from judge.backends.surface.model import Term, refuse_unrated, several, value_text
from judge.backends.trained.model import Head, SequenceClassifier, TrainedModel, load
from judge.base.errors import BackendError, DataError
from judge.base.files import cache_folder
from judge.base.records import Criterion, Query, Request, Response, Scale, Story
from judge.inputs.text_features import for_regression, own_features

# Scores stories with a linear model of surface features and, if the model uses one, of an embedding.

# Stories whose numbers are kept: criteria and pairs ask about the same one again and again.
_KEPT = 64


class LinearScorer:
    """Scores stories by a linear model on features and embedding, which are computed once per story."""

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
        """Facts for the manifest, after a check that the embedding model is the one of the training."""
        if self._model.embedding is None:
            return {}
        from judge.inputs.embedding import model_key

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
        """The intercept plus the contributions of all terms."""
        features, vector = await self._numbers(story)
        return head.intercept + sum(parts(head.surface, features).values()) + along(head.embedding, vector)

    def explain(self, story: Story, head: Head, other: Story | None) -> str:
        """Sentence on the three surface features with the largest effect on the score or, with `other`, on `story`
        minus `other`."""
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
        from judge.inputs.embedding import embed

        vector = embed([text], self._embed, cache_folder() / "embeddings.sqlite").vectors[0]
        return [float(value) for value in vector]


def _features() -> dict[str, float]:
    return for_regression(own_features("A story.", ""))


def parts(terms: tuple[Term, ...], features: Mapping[str, float]) -> dict[str, float]:
    """Amount that each surface feature adds to a story's score."""
    return {term.feature: term.part(features[term.feature]) for term in terms}


def along(terms: tuple[Term, ...], vector: list[float]) -> float:
    """What the embedding adds to a story's score; 0 for a model without its terms."""
    if terms and len(terms) != len(vector):
        raise BackendError(f"{len(terms)} weights for {len(vector)} dimensions", kind="model", retryable=False)
    return sum(term.part(value) for term, value in zip(terms, vector, strict=True)) if terms else 0.0


_PAIR = 2
# Digits of a rating: the last ones of a sum of floats differ between machines.
_DIGITS = 6


class Scorer(Protocol):
    """A model that scores stories with a head (the fitted parameters for one criterion)."""

    async def probe(self) -> Mapping[str, Any]:
        """Loads what is needed for scoring; facts for the manifest."""
        ...

    async def score(self, story: Story, head: Head) -> float:
        """Score of a story; higher is better."""
        ...

    def explain(self, story: Story, head: Head, other: Story | None) -> str:
        """A sentence on what moved the score most or, with `other`, `story` minus `other`; "" without anything to
        report."""
        ...

    async def close(self) -> None:
        """Free the memory of the model."""
        ...


class ScoringBackend:
    """A judge that computes ratings and comparisons from scores. All repeats are equal."""

    def __init__(self, model: TrainedModel, scorer: Scorer, *, label: str = "trained evaluator") -> None:
        self.capabilities = Capabilities(structured=frozenset({"choice", "json"}))
        self._model, self._scorer, self._label = model, scorer, label
        self._name = f"{model.name}@{model.hash} ({label})"

    async def probe(self) -> Mapping[str, Any]:
        """Loads the weights; facts about the model for the manifest."""
        return {**self._model.facts, "label": self._label, **await self._scorer.probe()}

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:
        """One answer per repeat, all equal. Raises BackendError for what cannot be answered, e.g. log-probabilities or
        no text."""
        query = refuse_unrated(query, f"a {self._label}")
        for story in (query.story, *([] if query.other is None else [query.other])):
            if not story.text.strip():
                raise BackendError(f"story {story.id!r} has no text to score", kind="request", retryable=False)
        if query.other is not None:
            text = await self._compared(query, query.other)
        else:
            ratings = []
            for criterion in query.criteria or (query.criterion,):
                value, why = await self._rated(query, criterion)
                ratings.append((criterion.name, value, why))
            if query.criteria:
                text = several(query, ratings)
            else:
                _, value, why = ratings[0]
                name = "answer" if isinstance(value, str) and query.structured == "none" else "rating"
                text = value_text(query, name, self._chosen(query, value), why)
        return [Response(text=text, finish_reason="stop", model=self._name)] * len(repeats)

    async def close(self) -> None:
        """Free the memory of the model. Safe to call twice."""
        await self._scorer.close()

    async def _rated(self, query: Query, criterion: Criterion) -> tuple[str | float, str | None]:
        head = self._model.choose(criterion.name, "rating")
        share = self._sound(head.rating(await self._score(query.story, head)))
        rating = on_scale(share, criterion.scale)
        value = criterion.scale.labels[round(rating)] if criterion.scale.labels else rating
        return value, self._explanation(query, criterion, head, None)

    async def _score(self, story: Story, head: Head) -> float:
        return self._sound(await self._scorer.score(story, head))

    def _sound(self, value: float) -> float:
        # Weights that are invalid or too large.
        if not math.isfinite(value):
            raise BackendError(
                f"{self._model.name} scores {value:g}, which rates nothing", kind="model", retryable=False
            )
        return value

    def _chosen(self, query: Query, value: str | float) -> str | float:
        # Some queries allow only the scale's points.
        if query.structured == "choice" and not isinstance(value, str):
            return min(query.criterion.scale.points(), key=lambda point: abs(point - value))
        return value

    async def _compared(self, query: Query, other: Story) -> str:
        # If no tie is allowed, equal scores prefer the first story.
        head = self._model.choose(query.criterion.name, "preference")
        first, second = await self._score(query.story, head), await self._score(other, head)
        odds = self._sound(head.log_odds(first, second))
        even = len(query.choices) > _PAIR and abs(odds) <= head.band
        word = query.choices[2 if even else int(odds < 0)]
        return value_text(query, "verdict", word, self._explanation(query, query.criterion, head, other))

    def _explanation(self, query: Query, criterion: Criterion, head: Head, other: Story | None) -> str | None:
        if not query.asks_explanation:
            return None
        sentences = [f"A {self._label}, which does not read the Eval-Prompt."]
        moved = self._scorer.explain(query.story, head, other)
        sentences += [moved] if moved else []
        if head.criterion.casefold() != criterion.name.casefold().strip():
            sentences.append(f"It was not trained for {criterion.name}; what it knows of {head.criterion} was used.")
        return " ".join(sentences)


def on_scale(share: float, scale: Scale) -> float:
    """Rating on a scale from a share between 0 (lowest point) and 1 (highest point)."""
    return float(f"{scale.min + share * (scale.max - scale.min):.{_DIGITS}g}")


# Back-end `reward/MODEL`: published reward models (classifiers with one output), which do not read the Eval-Prompt.

# Scorer of stories with a published reward model: a sequence classifier with one output, which is used for every
# criterion.

KEYS = {"dtype", "device", "max_model_len", "tokenizer"}
# Stories whose reward is kept: it is the same for every criterion, and each of them asks.
_REWARD_KEPT = 256


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
            if len(self._known) > _REWARD_KEPT:
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
