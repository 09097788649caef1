"""Forecast of a run: calls, tokens, money and time, each measured by a pilot or marked as an estimate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import fmean

from judge.eval_prompts import EvalPrompt
from judge.plan.prices import Price
from judge.plan.queries import Plan
from judge.records import Asked, Criterion, Subject
from judge.wording import Advice, Note

_CHARACTERS_PER_TOKEN = 4.0
"""A usual ratio for English; only used until a pilot has measured the model's own."""

_ANSWER_TOKENS = 150
"""Guess for an answer with an explanation where max_tokens is not said; a bare rating takes a few."""

_RATING_TOKENS = 5
"""Of an answer without an explanation, such as "Rating: 4"."""

MOST_SUBJECTS = 4_000
"""Largest number, roughly, of stories or pairs whose prompts are rendered to find their lengths: of more only every
second, third and so on is, since a mean length needs no more and a plan should take seconds."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of a pilot.

    Attributes
    ----------
    answers : int
        How many answers it brought.
    answers_per_query, calls_per_query : float
        How many answers to a query, and in how many calls they came: fewer calls where one brings several.
    prompt_tokens, completion_tokens : float or None
        Means, of a call's prompt and of an answer; None where the server told no tokens.
    characters : float
        Mean length of the prompts that were sent.
    tokens_per_character : float
        How many tokens a prompt has more for each character that it is longer.
    cached, written : float
        Shares of the prompt tokens that came from the provider's cache, and that went into it.
    cost : float or None
        Mean dollars of a call, where the server named them.
    cost_per_character : float
        How many dollars a call costs more for each character that its prompt is longer.
    answers_per_second, parsed : float or None
        The pace, and the share of answers with a rating.
    """

    answers: int
    answers_per_query: float = 1.0
    calls_per_query: float = 1.0
    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    characters: float = 0.0
    tokens_per_character: float = 0.0
    cached: float = 0.0
    written: float = 0.0
    cost: float | None = None
    cost_per_character: float = 0.0
    answers_per_second: float | None = None
    parsed: float | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """Totals for the whole plan. None = not known; `batch_cost` is the cost through the provider's batch API.

    `subjects` are stories to rate, or pairs to compare, each of them once for each order in which it is shown.
    """

    subjects: int
    queries: int
    answers: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float | None
    basis: str
    batch_cost: float | None = None


def forecast(
    plan: Plan,
    subjects: Iterable[Subject],
    count: int,
    *,
    price: Price | None,
    one_call: bool,
    measured: Measured | None = None,
) -> Forecast:
    """Forecast the totals for `count` stories or shown pairs, from the lengths of their prompts and the pilot if there
    was one.

    `subjects` are all of them, or a list of some that stand for all. `one_call`: all repeats of a query are meant to go
    out in one request, so that its prompt is read (and paid) once; where the pilot's calls show another number of
    requests, theirs counts.
    """
    queries = count * plan.queries_per_subject
    answers = queries * plan.spec.repeats
    calls = round(queries * _calls_per_query(plan.spec.repeats, one_call, measured))
    given = subjects if isinstance(subjects, list) else islice(subjects, 0, None, max(1, count // MOST_SUBJECTS))
    lengths = list(prompt_characters(plan, given))
    characters = fmean(lengths) if lengths else 0.0
    pilot = measured or Measured(0)
    # A pilot takes the first stories, which may be shorter than the rest.
    longer = characters - pilot.characters if characters else 0.0
    if pilot.prompt_tokens is not None and pilot.completion_tokens is not None:
        prompt = (pilot.prompt_tokens + pilot.tokens_per_character * longer) * calls
        completion = pilot.completion_tokens * answers
        basis: str = f"tokens as measured over {pilot.answers} answers of the pilot and the lengths of all prompts"
    else:
        prompt = characters / _CHARACTERS_PER_TOKEN * calls
        completion = _completion_tokens(plan) * answers
        guess = "tokens estimated (4 characters each; the length of answers is a guess)"
        basis = Note(guess, Advice("{pilot} measures them", pilot="N"), joint="; ")
    seconds = answers / pilot.answers_per_second if pilot.answers_per_second else None
    tokens = (prompt, completion, pilot.cached * prompt, pilot.written * prompt)
    cost = None if price is None else price.cost(*tokens)
    if pilot.cost is not None:
        cost = (pilot.cost + pilot.cost_per_character * longer) * calls * _growth(pilot, answers / calls)
    batch = None if price is None or price.batch is None else price.batch.cost(*tokens)
    return Forecast(count, queries, answers, calls, round(prompt), round(completion), cost, seconds, basis, batch)


def _growth(measured: Measured, answers_per_call: float) -> float:
    """Ratio of a call's tokens to those of a pilot's call, where it is to bring more answers than that one."""
    if measured.prompt_tokens is None or measured.completion_tokens is None:
        return 1.0
    before = measured.answers_per_query / measured.calls_per_query
    tokens = measured.prompt_tokens + before * measured.completion_tokens
    return 1 + (answers_per_call - before) * measured.completion_tokens / tokens if tokens else 1.0


def _calls_per_query(repeats: int, one_call: bool, measured: Measured | None) -> float:
    """As the pilot's calls were; as they are meant to be where it asked each query once, or was not made."""
    if measured is None or measured.answers_per_query <= 1:
        return 1.0 if one_call else float(repeats)
    more = (measured.calls_per_query - 1) / (measured.answers_per_query - 1)
    return 1 + min(more, 1.0) * (repeats - 1)


def prompt_characters(plan: Plan, subjects: Iterable[Subject]) -> Iterator[float]:
    """Mean length of the prompts about each story, or pair as it is shown.

    Each Eval-Prompt is rendered for each with one criterion; how much longer it is with the others is found once,
    since what a template says of a criterion does not depend on the story.
    """
    asked = [(prompt, plan.asked_by(prompt)) for prompt in plan.eval_prompts]
    longer: list[float] | None = None
    for subject in subjects:
        lengths = [_length(plan, subject, prompt, each[0]) for prompt, each in asked]
        if longer is None:
            means = [fmean(_length(plan, subject, prompt, criterion) for criterion in each) for prompt, each in asked]
            longer = [mean - first for mean, first in zip(means, lengths, strict=True)]
        # An Eval-Prompt that asks for its criteria together has one query where others have several.
        whole = [(n + more) * len(each) for n, more, (_, each) in zip(lengths, longer, asked, strict=True)]
        yield sum(whole) / plan.queries_per_subject


def characters_by_query(plan: Plan, subject: Subject) -> dict[tuple[str, str], float]:
    """Map (Eval-Prompt, criterion) to the length of the prompt about this story or pair; several criteria in one query
    have one joint name.
    """
    return {
        (prompt.name, (asked if isinstance(asked, Criterion) else Criterion.together(asked)).name): float(
            _length(plan, subject, prompt, asked)
        )
        for prompt in plan.eval_prompts
        for asked in plan.asked_by(prompt)
    }


def _length(plan: Plan, subject: Subject, prompt: EvalPrompt, asked: Asked) -> int:
    """Characters of one rendered query."""
    messages = plan.messages(subject, prompt, asked)
    return sum(len(message.content) for message in messages)


def _completion_tokens(plan: Plan) -> float:
    """Mean tokens of an answer over the queries about a subject: a guess, bounded by max_tokens."""
    guesses = [
        (_ANSWER_TOKENS if prompt.asks_explanation else _RATING_TOKENS)
        * (len(asked) if isinstance(asked, tuple) else 1)
        for prompt in plan.eval_prompts
        for asked in plan.asked_by(prompt)
    ]
    limit = plan.spec.generation.max_tokens
    return sum(min(g, limit) if limit else g for g in guesses) / len(guesses)
