"""Measurements on a run's existing answers, from which its remaining answers are forecast."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from statistics import fmean

from judge.answers.journal import JournalReader
from judge.answers.journal.spending import Called
from judge.answers.parsing import parser
from judge.answers.parsing.stored_answers import StoredAnswers, StoredVerdicts
from judge.asking.plan import Plan
from judge.asking.plan.forecast import Measured, characters_by_query, prompt_characters
from judge.asking.run_folder import ResultFolder
from judge.base.records import Comparison, Criterion, Subject

# Answers that are parsed at most.
_PARSED = 2_000

# Share of their mean by which lengths must differ at least, so that their tokens tell what a character takes.
_SPREAD = 0.05


def measure(result: ResultFolder, plan: Plan) -> Measured | None:
    """Measurements from a result folder's journal; None where it has no calls."""
    if not result.journal.is_file():
        return None
    with JournalReader(result.journal) as journal:
        calls = journal.called()
        if not calls:
            return None
        seconds = journal.seconds_of_work()
        parsed = _parsed(journal)
        asked = {(query.story, query.second) for query in calls}
        subjects = [subject for subject in journal.subjects() if _name(subject) in asked]
    answers = sum(query.answers for query in calls)
    counted = [query for query in calls if query.counted]
    named = [query for query in counted if query.costs == query.counted]
    lengths = _Lengths(plan, subjects)
    prompt = sum(query.prompt_tokens for query in counted)
    return Measured(
        answers,
        answers_per_query=answers / len(calls),
        calls_per_query=sum(query.calls for query in calls) / len(calls),
        prompt_tokens=_mean(counted, _prompt_tokens),
        completion_tokens=_mean(counted, lambda q: q.completion_tokens / q.counted * q.calls / q.answers),
        characters=fmean(lengths.mean[query.story, query.second] for query in counted) if counted else 0.0,
        tokens_per_character=_per_character(counted, _prompt_tokens, lengths),
        cached=sum(query.cached_tokens for query in counted) / prompt if prompt else 0.0,
        written=sum(query.written_tokens for query in counted) / prompt if prompt else 0.0,
        # Where a few calls have no cost, the others tell for them.
        cost=_mean(named, _cost) if 2 * len(named) > len(counted) else None,
        cost_per_character=_per_character(named, _cost, lengths),
        answers_per_second=answers / seconds if seconds > 0 else None,
        parsed=parsed,
    )


# A story's id, and that of the other one where two are compared.
_Name = tuple[str, str | None]


def _name(subject: Subject) -> _Name:
    return (subject.first.id, subject.second.id) if isinstance(subject, Comparison) else (subject.id, None)


class _Lengths:
    def __init__(self, plan: Plan, subjects: list[Subject]) -> None:
        self._subjects = {_name(subject): subject for subject in subjects}
        self.mean = dict(zip(self._subjects, prompt_characters(plan, subjects), strict=True))
        self._plan = plan

    def of(self, queries: list[Called]) -> list[float]:
        # 0 where the plan no longer contains the query.
        texts = {name: characters_by_query(self._plan, subject) for name, subject in self._subjects.items()}
        return [texts[query.story, query.second].get((query.eval_prompt, query.criterion), 0.0) for query in queries]


def _prompt_tokens(query: Called) -> float:
    return query.prompt_tokens / query.counted


def _cost(query: Called) -> float:
    return query.cost / query.costs


def _mean(queries: list[Called], value: Callable[[Called], float]) -> float | None:
    # Each combination of Eval-Prompt and criterion has the same weight.
    means = _means(queries, value)
    return fmean(means.values()) if means else None


def _means(queries: list[Called], value: Callable[[Called], float]) -> dict[tuple[str, str], float]:
    values_by_cell: dict[tuple[str, str], list[float]] = defaultdict(list)
    for query in queries:
        values_by_cell[query.eval_prompt, query.criterion].append(value(query))
    return {cell: fmean(values) for cell, values in values_by_cell.items()}


def _per_character(queries: list[Called], value: Callable[[Called], float], lengths: _Lengths) -> float:
    # By least squares over the stories' lengths or, where these are about the same, the prompts'; else the ratio of
    # sums.
    if not queries:
        return 0.0
    means = _means(queries, value)
    between = [value(query) - means[query.eval_prompt, query.criterion] for query in queries]
    slope = _slope([lengths.mean[query.story, query.second] for query in queries], between)
    if slope is not None:
        return slope
    values = [value(query) for query in queries]
    within = lengths.of(queries)
    slope = _slope(within, values)
    if slope is not None:
        return slope
    return sum(values) / sum(within) if sum(within) else 0.0


def _slope(lengths: list[float], values: list[float]) -> float | None:
    # 0 if it is negative, None where the lengths hardly differ.
    middle, level = fmean(lengths), fmean(values)
    if max(lengths) - min(lengths) <= _SPREAD * middle:
        return None
    rise = sum((x - middle) * (y - level) for x, y in zip(lengths, values, strict=True))
    return max(rise / sum((x - middle) ** 2 for x in lengths), 0.0)


def _parsed(journal: JournalReader) -> float | None:
    definition = journal.meta()["definition"]
    criteria = [Criterion.of(record) for record in definition["criteria_records"]]
    answered = islice((answer for answer in journal.answers() if answer.response is not None), _PARSED)
    if journal.compares:
        verdicts = StoredVerdicts.of_run(definition, journal.comparisons(), journal.text_of)
        read = [verdicts.verdict(answer).preference is not None for answer in answered]
    else:
        reading = StoredAnswers.of_run(parser("ours"), criteria, definition, journal.text_of)
        read = [judgment.rating is not None for answer in answered for _, judgment in reading.judgments(answer)]
    return fmean(read) if read else None
