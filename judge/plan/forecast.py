"""What a run would take: calls, tokens, money, time. Never passes an estimate off as a measurement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from judge.plan.prices import Price
from judge.plan.queries import Plan
from judge.records import Story

_CHARACTERS_PER_TOKEN = 4.0
"""A usual ratio for English; only used until a pilot has measured the model's own."""

_ANSWER_TOKENS = 150
"""Guess for an answer with an explanation where max_tokens is not said; a bare rating takes a few."""

_SAMPLE = 50


@dataclass(frozen=True, slots=True)
class Measured:
    """What a pilot measured: mean tokens of a call's prompt and of an answer, answers per second, share parsed."""

    prompt_tokens: float | None
    completion_tokens: float | None
    answers_per_second: float | None
    parsed: float | None
    answers: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """Totals for the whole plan. None = not known; `batch_cost` is the cost through the provider's batch API."""

    stories: int
    queries: int
    answers: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float | None
    basis: str
    batch_cost: float | None = None


def forecast(
    plan: Plan,
    stories: Iterator[Story],
    story_count: int,
    *,
    price: Price | None,
    one_call: bool,
    measured: Measured | None = None,
) -> Forecast:
    """Totals for `story_count` stories, from up to 50 rendered ones or from a pilot.

    `one_call`: all repeats of a query go out in one request, so its prompt is read (and paid) once.
    """
    queries = story_count * plan.queries_per_story
    answers = queries * plan.spec.repeats
    calls = queries if one_call else answers
    if measured is not None and measured.prompt_tokens is not None and measured.completion_tokens is not None:
        prompt, completion = measured.prompt_tokens * calls, measured.completion_tokens * answers
        basis = f"tokens as measured over {measured.answers} answers of the pilot"
    else:
        prompt = _prompt_tokens(plan, stories) * calls
        completion = _completion_tokens(plan) * answers
        basis = "tokens estimated (4 characters each; the length of answers is a guess); --pilot N measures them"
    seconds = None
    if measured is not None and measured.answers_per_second:
        seconds = answers / measured.answers_per_second
    cost = None if price is None else price.cost(round(prompt), round(completion))
    batch = None if cost is None or price is None or price.batch is None else cost * price.batch
    return Forecast(story_count, queries, answers, round(prompt), round(completion), cost, seconds, basis, batch)


def _prompt_tokens(plan: Plan, stories: Iterator[Story]) -> float:
    """Mean tokens of a rendered query over the first stories."""
    characters, count = 0, 0
    for story in islice(stories, _SAMPLE):
        for prompt in plan.eval_prompts:
            for criterion in plan.criteria:
                messages = prompt.render(story, criterion, published=plan.criteria_set.published)
                characters += sum(len(message.content) for message in messages)
                count += 1
    return characters / count / _CHARACTERS_PER_TOKEN if count else 0.0


def _completion_tokens(plan: Plan) -> float:
    """Mean tokens of an answer over the Eval-Prompts: a guess, bounded by max_tokens."""
    guesses = [_ANSWER_TOKENS if prompt.asks_explanation else 5 for prompt in plan.eval_prompts]
    limit = plan.spec.generation.max_tokens
    return sum(min(g, limit) if limit else g for g in guesses) / len(guesses)
