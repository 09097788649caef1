"""Forecast of a run's calls, tokens, cost and time. Each number is based on a pilot or marked as an estimate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import fmean

from judge.asking.plan.prices import Price
from judge.asking.plan.queries import Plan
from judge.base.records import Asked, Criterion, Subject
from judge.base.wording import Advice, Note
from judge.inputs.eval_prompts import EvalPrompt

# A usual ratio for English; only used until a pilot has measured the model's own.
_CHARACTERS_PER_TOKEN = 4.0

# Guess for an answer with an explanation where max_tokens is not said; a bare rating takes a few.
_ANSWER_TOKENS = 150

# Of an answer without an explanation, such as "Rating: 4".
_RATING_TOKENS = 5

# Largest number, roughly, of stories or pairs whose prompts are rendered to find their lengths: of more only every
# second, third and so on is, since a mean length needs no more and a plan should take seconds.
MOST_SUBJECTS = 4_000


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of a pilot (the run's first queries, sent before the rest). None where the server reported none.

    `answers_per_query` and `calls_per_query` are means; one call can return several answers. `prompt_tokens` and
    `completion_tokens` are means of a call's prompt and of an answer, `cost` of a call in dollars, and `characters` of
    the prompts. `tokens_per_character` and `cost_per_character` (dollars) are per additional character of a prompt.
    `cached` and `written` are shares of prompt tokens from and to the provider's cache; `parsed` of answers with a
    rating."""

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
    """A run's totals, None where not known. `seconds` is the duration, `cost` is in dollars, `batch_cost` through the
    provider's batch API. `basis` says how tokens were obtained. `subjects` is stories, or pairs per order shown."""

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
    """Totals for `count` stories, or pairs per order shown, from prompt lengths and the pilot's measurements.
    `subjects` yields all, or is a list with a sample. `price` None = not known. `one_call`: a query's repeats share one
    request and one paid prompt; a pilot with several repeats decides the number of calls instead."""
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
    # The two calls may return different numbers of answers; 1 where tokens are not known.
    if measured.prompt_tokens is None or measured.completion_tokens is None:
        return 1.0
    before = measured.answers_per_query / measured.calls_per_query
    tokens = measured.prompt_tokens + before * measured.completion_tokens
    return 1 + (answers_per_call - before) * measured.completion_tokens / tokens if tokens else 1.0


def _calls_per_query(repeats: int, one_call: bool, measured: Measured | None) -> float:
    # Extrapolated from the pilot if it sent several repeats of a query.
    if measured is None or measured.answers_per_query <= 1:
        return 1.0 if one_call else float(repeats)
    more = (measured.calls_per_query - 1) / (measured.answers_per_query - 1)
    return 1 + min(more, 1.0) * (repeats - 1)


def prompt_characters(plan: Plan, subjects: Iterable[Subject]) -> Iterator[float]:
    """For each story or pair as shown, its prompts' mean length in characters. One criterion is rendered; the others'
    additional length is measured once, because a template's text about a criterion does not depend on the story."""
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
    """(Eval-Prompt, criterion) -> the prompt's characters. Several criteria in one query have one joint name."""
    return {
        (prompt.name, (asked if isinstance(asked, Criterion) else Criterion.together(asked)).name): float(
            _length(plan, subject, prompt, asked)
        )
        for prompt in plan.eval_prompts
        for asked in plan.asked_by(prompt)
    }


def _length(plan: Plan, subject: Subject, prompt: EvalPrompt, asked: Asked) -> int:
    messages = plan.messages(subject, prompt, asked)
    return sum(len(message.content) for message in messages)


def _completion_tokens(plan: Plan) -> float:
    # At most max_tokens.
    guesses = [
        (_ANSWER_TOKENS if prompt.asks_explanation else _RATING_TOKENS)
        * (len(asked) if isinstance(asked, tuple) else 1)
        for prompt in plan.eval_prompts
        for asked in plan.asked_by(prompt)
    ]
    limit = plan.spec.generation.max_tokens
    return sum(min(g, limit) if limit else g for g in guesses) / len(guesses)
