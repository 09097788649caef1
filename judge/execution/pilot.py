"""What the answers in a journal tell of those still to come. Never asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from statistics import fmean

from judge.journal import JournalReader
from judge.journal.calls import Called
from judge.parsing import parser
from judge.parsing.stored_answers import StoredAnswers
from judge.plan import Plan
from judge.plan.forecast import Measured, characters_by_query, prompt_characters
from judge.records import Criterion, Scale, Story
from judge.run_folder import ResultFolder

_PARSED = 2_000
"""Answers that are parsed at most."""

_SPREAD = 0.05
"""Share of their mean by which lengths must differ at least, so that their tokens tell what a character takes."""


def measure(result: ResultFolder, plan: Plan) -> Measured | None:
    """What the journal of a result folder has measured so far; None where nothing was answered there."""
    if not result.journal.is_file():
        return None
    with JournalReader(result.journal) as journal:
        found = journal.called()
        if not found:
            return None
        seconds = journal.seconds_of_work()
        parsed = _parsed(journal)
        asked = {query.story for query in found}
        stories = [story for story in journal.stories(ratings=False) if story.id in asked]
    answers = sum(query.answers for query in found)
    counted = [query for query in found if query.counted]
    lengths = dict(zip((story.id for story in stories), prompt_characters(plan, stories), strict=True))
    prompt = sum(query.prompt_tokens for query in counted)
    return Measured(
        answers,
        answers_per_query=answers / len(found),
        calls_per_query=sum(query.calls for query in found) / len(found),
        prompt_tokens=_mean(counted, _prompt_tokens),
        completion_tokens=_mean(counted, lambda q: q.completion_tokens / q.counted * q.calls / q.answers),
        characters=fmean(lengths[query.story] for query in counted) if counted else 0.0,
        tokens_per_character=_tokens_per_character(plan, counted, stories, lengths),
        cached=sum(query.cached_tokens for query in counted) / prompt if prompt else 0.0,
        written=sum(query.written_tokens for query in counted) / prompt if prompt else 0.0,
        cost_per_token=_cost_per_token(counted),
        answers_per_second=answers / seconds if seconds > 0 else None,
        parsed=parsed,
    )


def _prompt_tokens(query: Called) -> float:
    return query.prompt_tokens / query.counted


def _mean(queries: list[Called], value: Callable[[Called], float]) -> float | None:
    """The mean over Eval-Prompts and criteria, each of which counts once however many of its queries were asked."""
    means = _means(queries, value)
    return fmean(means.values()) if means else None


def _means(queries: list[Called], value: Callable[[Called], float]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for query in queries:
        found[query.eval_prompt, query.criterion].append(value(query))
    return {cell: fmean(values) for cell, values in found.items()}


def _tokens_per_character(plan: Plan, queries: list[Called], stories: list[Story], lengths: dict[str, float]) -> float:
    """How many tokens a prompt has more for each character more, by least squares over stories of several lengths.

    Where the stories are about equally long, the lengths of the Eval-Prompts tell; where those are too, a character
    takes the same share of the tokens everywhere.
    """
    if not queries:
        return 0.0
    means = _means(queries, _prompt_tokens)
    between = [
        (lengths[query.story], _prompt_tokens(query) - means[query.eval_prompt, query.criterion]) for query in queries
    ]
    if (slope := _slope(between)) is not None:
        return slope
    texts = {story.id: characters_by_query(plan, story) for story in stories}
    within = [(texts[q.story].get((q.eval_prompt, q.criterion), 0.0), _prompt_tokens(q)) for q in queries]
    if (slope := _slope(within)) is not None:
        return slope
    mean = fmean(length for length, _ in within)
    return fmean(tokens for _, tokens in within) / mean if mean else 0.0


def _slope(points: list[tuple[float, float]]) -> float | None:
    """Least-squares slope, between 0 and 1; None where the lengths hardly differ."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    middle, level = fmean(xs), fmean(ys)
    if max(xs) - min(xs) <= _SPREAD * middle:
        return None
    slope = sum((x - middle) * (y - level) for x, y in points) / sum((x - middle) ** 2 for x in xs)
    return min(max(slope, 0.0), 1.0)


def _cost_per_token(queries: list[Called]) -> float | None:
    """Dollars for a token of prompt or answer, where the server named the cost of most calls."""
    named = [query for query in queries if query.costs == query.counted]
    tokens = sum(query.prompt_tokens + query.completion_tokens for query in named)
    return sum(query.cost for query in named) / tokens if tokens and 2 * len(named) > len(queries) else None


def _parsed(journal: JournalReader) -> float | None:
    """Share of the first answers from which a rating is read."""
    definition = journal.meta()["definition"]
    criteria = [
        Criterion(r["name"], r["abbreviation"], r["definition"], Scale(*r["scale"]))
        for r in definition["criteria_records"]
    ]
    reading = StoredAnswers.of_run(parser("ours"), criteria, definition, journal.text_of)
    answered = (answer for answer in journal.answers() if answer.response is not None)
    rated = [reading.judgment(answer).rating is not None for answer in islice(answered, _PARSED)]
    return fmean(rated) if rated else None
