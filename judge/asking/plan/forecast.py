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
    """Measurements of a pilot (the run's first queries, sent before the rest).

    Attributes
    ----------
    answers : int
        Number of answers in the pilot.
    answers_per_query, calls_per_query : float
        Mean numbers of answers and of calls per query. There are fewer calls than answers where one call
        returns several answers.
    prompt_tokens, completion_tokens : float or None
        Mean tokens of a call's prompt and of an answer; None where the server reported no tokens.
    characters : float
        Mean length of the prompts that were sent.
    tokens_per_character : float
        Additional prompt tokens per additional character of a prompt.
    cached, written : float
        Shares of the prompt tokens that were read from the provider's cache, and that were written to it.
    cost : float or None
        Mean cost of a call in dollars; None where the server reported no cost.
    cost_per_character : float
        Additional dollars of a call per additional character of its prompt.
    answers_per_second : float or None
        Speed of the pilot.
    parsed : float or None
        Share of answers with a rating.
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
    """Forecast of a run's totals: numbers of queries, answers, calls and tokens, cost and duration. None = not known.
    `seconds` is the duration, `cost` is in dollars, and `batch_cost` is the cost through the provider's batch API.
    `basis` says in words how tokens were measured or estimated.

    `subjects` is the number of stories to rate or, in a run that compares, of pairs, counted once for each order in
    which they are shown.
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
    """Forecast of the totals for `count` stories or for `count` pairs (counted once for each order in which they are
    shown).

    It uses the lengths of the prompts and, if there was one, the pilot's measurements (`measured`). `subjects` yields
    all stories or pairs, or is a list with a sample of them. `price` gives the cost; None = not known. `one_call`: all
    repeats of a query are sent in one request, so that its prompt is paid once. If the pilot sent several repeats of a
    query, the number of calls is extrapolated from the pilot instead.
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
    """Tokens of a planned call divided by the tokens of a pilot's call, if the two return different numbers of answers;
    1 where tokens are not known.
    """
    if measured.prompt_tokens is None or measured.completion_tokens is None:
        return 1.0
    before = measured.answers_per_query / measured.calls_per_query
    tokens = measured.prompt_tokens + before * measured.completion_tokens
    return 1 + (answers_per_call - before) * measured.completion_tokens / tokens if tokens else 1.0


def _calls_per_query(repeats: int, one_call: bool, measured: Measured | None) -> float:
    """Calls per query, extrapolated from the pilot if it sent several repeats of a query. Otherwise 1 if all repeats
    are sent in one call (`one_call`), and `repeats` if not.
    """
    if measured is None or measured.answers_per_query <= 1:
        return 1.0 if one_call else float(repeats)
    more = (measured.calls_per_query - 1) / (measured.answers_per_query - 1)
    return 1 + min(more, 1.0) * (repeats - 1)


def prompt_characters(plan: Plan, subjects: Iterable[Subject]) -> Iterator[float]:
    """For each story or pair as shown, the mean length in characters of the prompts about it.

    Each Eval-Prompt is rendered with one criterion only. The additional length with other criteria is measured on the
    first story or pair, because a template's text about a criterion does not depend on the story.
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
    """(Eval-Prompt, criterion) -> number of characters of the prompt about this story or pair. Several criteria in one
    query have one joint name.
    """
    return {
        (prompt.name, (asked if isinstance(asked, Criterion) else Criterion.together(asked)).name): float(
            _length(plan, subject, prompt, asked)
        )
        for prompt in plan.eval_prompts
        for asked in plan.asked_by(prompt)
    }


def _length(plan: Plan, subject: Subject, prompt: EvalPrompt, asked: Asked) -> int:
    """Number of characters of one rendered query. `asked` is its criterion, or the criteria rated in one answer."""
    messages = plan.messages(subject, prompt, asked)
    return sum(len(message.content) for message in messages)


def _completion_tokens(plan: Plan) -> float:
    """Estimated mean number of tokens per answer, over the queries about one story or pair; at most max_tokens."""
    guesses = [
        (_ANSWER_TOKENS if prompt.asks_explanation else _RATING_TOKENS)
        * (len(asked) if isinstance(asked, tuple) else 1)
        for prompt in plan.eval_prompts
        for asked in plan.asked_by(prompt)
    ]
    limit = plan.spec.generation.max_tokens
    return sum(min(g, limit) if limit else g for g in guesses) / len(guesses)
