"""Results of a trial on one sheet: ratings, preferences in either order, and the control's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from judge.answers.parsing import parser
from judge.answers.parsing.stored_answers import read_response, read_verdict
from judge.asking.execution.sending.runner import Run, split_calls, works
from judge.asking.execution.sending.stopping import Account, Budget
from judge.asking.execution.session import charged, settings_of
from judge.asking.plan import Price, load_prices
from judge.asking.run_definition.spec import RunSpec
from judge.backends import Backend, open_backend
from judge.base.errors import BackendError
from judge.base.files import writing
from judge.base.records import Criterion, Judgment, Query, Request, Response, Story, Verdict
from judge.lab.trial.questions import Questions

# Sending of a trial's queries to the judge, with the retries, limits and budget of a run. Answers are kept in memory.


@dataclass(frozen=True, slots=True)
class Answered:
    """Outcome of one query; without a `response`, `error` is the reason, and `read` has a status. `read` holds a
    judgment per criterion, or a verdict. `cost` is in dollars; None = unknown."""

    query: Query
    response: Response | None
    read: tuple[Judgment, ...] | Verdict
    cost: float | None = None
    error: str | None = None


# Called with each answer as it comes.
Hear = Callable[[Answered], None]


class Trial:
    """One trial with all its queries; `answers` holds outcomes by query key, and `hear` is called with each."""

    def __init__(self, questions: Questions, hear: Hear | None = None, budget: Budget | None = None) -> None:
        self.questions = questions
        self.answers: dict[str, Answered] = {}
        self.cause: BackendError | None = None
        self._hear = hear
        self._budget = budget
        self._run: Run | None = None
        self._stopped: str | None = None

    async def ask(self, backend: Backend) -> list[Answered]:
        """Send all queries to an open back-end; outcomes are in order, also of queries not sent."""
        spec = self.questions.spec
        price = load_prices(spec.judge, spec.base_url, spec.engine)
        keeper = _Memory(price, self._keep)
        budgets = [budget for budget in (self._budget,) if budget is not None]
        self._run = Run(
            backend,
            keeper,
            concurrency=spec.concurrency,
            max_attempts=spec.max_attempts,
            price=price,
            account=Account(budgets),
        )
        if self._stopped is None:
            groups = iter([list(part.queries) for part in self.questions.parts])
            outcomes = await self._run.ask(split_calls(works(groups, 1, None), backend))
            self.cause = outcomes.cause
            self._stopped = outcomes.stopped
        self.give_up(self._stopped or "it was not asked")
        return [self.answers[query.key] for query in self.questions.queries]

    @property
    def retries(self) -> int:
        """Number of requests that failed and were sent again."""
        return 0 if self._run is None else self._run.outcomes.retries

    def stop(self, why: str) -> None:
        """Send no more queries and do not wait for open ones; `why` is recorded for unanswered ones."""
        self._stopped = why
        if self._run is not None:
            self._run.stop(why)
            self._run.abandon()

    def give_up(self, why: str) -> None:
        """Record every open query as unanswered, with the reason `why`."""
        for query in self.questions.queries:
            if query.key not in self.answers:
                self._keep(_unanswered(query, why))

    def _keep(self, answered: Answered) -> None:
        self.answers[answered.query.key] = answered
        if self._hear is not None:
            self._hear(answered)


def budget_of(spec: RunSpec) -> Budget | None:
    """Largest cost; None without a limit, or for a free judge."""
    return None if spec.max_cost is None or not charged(spec) else Budget(spec.max_cost)


async def ask_once(questions: Questions) -> list[Answered]:
    """Send all queries by a back-end opened for it. Raises BackendError where an error prevented all answers."""
    spec = questions.spec
    backend = open_backend(spec.judge, settings_of(spec, None))
    trial = Trial(questions, budget=budget_of(spec))
    try:
        await backend.probe()
        answers = await trial.ask(backend)
    finally:
        await backend.close()
    if trial.cause is not None and all(answer.response is None for answer in answers):
        raise trial.cause
    return answers


class _Memory:
    """In place of a run's journal."""

    def __init__(self, price: Price | None, keep: Hear) -> None:
        self._price = price
        self._keep = keep
        self._parser = parser("ours")

    def start(self) -> None:
        """Do nothing: answers kept in memory need no preparation."""

    async def room(self) -> None:
        """Do nothing: memory always has room for another answer, so there is no need to wait."""

    def answered(self, query: Request, repeat: int, response: Response, *, started: float, seconds: float) -> None:
        del repeat, started, seconds
        if not isinstance(query, Query):
            return
        read: tuple[Judgment, ...] | Verdict
        read = read_verdict(response, query) if query.choices else read_response(self._parser, response, query)
        cost = response.cost
        if cost is None and self._price is not None and response.prompt_tokens is not None:
            cost = self._price.of(response)
        self._keep(Answered(query, response, read, cost))

    def failed(
        self, query: Request, repeat: int, error: BackendError, *, started: float, seconds: float, final: bool
    ) -> None:
        del repeat, started, seconds
        if final and isinstance(query, Query):
            self._keep(_unanswered(query, str(error), filtered=error.kind == "filtered"))

    async def finish(self, ended: str) -> None:
        """Do nothing: answers kept in memory are not written to disk."""


def _unanswered(query: Query, why: str, *, filtered: bool = False) -> Answered:
    if query.choices:
        return Answered(query, None, Verdict("filtered" if filtered else "not_answered"), error=why)
    judgment = Judgment("filtered" if filtered else "not_answered")
    return Answered(query, None, (judgment,) * max(1, len(query.criteria)), error=why)


# What two orders come to: a story, a tie, another answer in each order; nothing where one was not read, or not yet.
Preferred = Literal["own", "other", "tie", "depends", "unknown", "waiting"]

PREFERRED: dict[str, str] = {
    "own": "your story",
    "other": "the second story",
    "tie": "a tie",
    "depends": "changes with the order",
    "unknown": "not known",
    "waiting": "waiting",
}


@dataclass(frozen=True, slots=True)
class Rated:
    """Rating on one criterion with one Eval-Prompt, and the control's; None while there is no answer. `error` is why
    there will be none, and `answer` the full text."""

    criterion: Criterion
    eval_prompt: str
    judgment: Judgment | None
    control: Judgment | None
    error: str | None = None
    answer: str | None = None
    """The whole answer, for what was not read of it."""

    @property
    def scale(self) -> str:
        """The scale as text: a range such as `1-5`, or labels."""
        return scale_words(self.criterion)


@dataclass(frozen=True, slots=True)
class Compared:
    """Preference on one criterion with one Eval-Prompt, and the control's; None while there is no answer. In each pair,
    the first value is for the user's own story shown first."""

    criterion: Criterion
    eval_prompt: str
    orders: tuple[Verdict | None, Verdict | None]
    control: tuple[Verdict | None, Verdict | None]
    errors: tuple[str | None, str | None] = (None, None)
    answers: tuple[str | None, str | None] = (None, None)

    @property
    def preferred(self) -> Preferred:
        """The judge's preference over both orders."""
        return of_both(self.orders)

    @property
    def by_control(self) -> Preferred:
        """The control's preference over both orders."""
        return of_both(self.control)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Results so far; `answered` counts queries with an answer or an error among `asked`. `cost` is in dollars, None =
    unknown."""

    judge: str
    story: Story
    other: Story | None
    rated: tuple[Rated, ...]
    compared: tuple[Compared, ...]
    answered: int
    asked: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    control: bool

    @property
    def statuses(self) -> Counter[str]:
        """Numbers of ratings and verdicts by status."""
        read = [row.judgment for row in self.rated] + [verdict for row in self.compared for verdict in row.orders]
        return Counter(verdict.status for verdict in read if verdict is not None)

    @property
    def preferences(self) -> Counter[Preferred]:
        """Numbers of comparisons by preference."""
        return Counter(row.preferred for row in self.compared)


def sheet(asked: Questions, answers: Mapping[str, Answered], control: Mapping[str, Answered] | None) -> Sheet:
    """Sheet of a trial so far; `control` has the control's outcomes, None where it is the judge."""
    judgments, verdicts = _by_criterion(control or {}, asked.story.id)
    rated: list[Rated] = []
    compared: dict[tuple[str, str], list[Query]] = {}
    for query in asked.queries:
        if query.choices:
            compared.setdefault((query.eval_prompt, query.criterion.name), []).append(query)
            continue
        answered = answers.get(query.key)
        read = answered.read if answered is not None and not isinstance(answered.read, Verdict) else None
        for index, criterion in enumerate(query.criteria or (query.criterion,)):
            judgment = None if read is None else read[index]
            beside = judgments.get(criterion.name)
            error = None if answered is None else answered.error
            rated.append(Rated(criterion, query.eval_prompt, judgment, beside, error, _text(answered)))
    rows = [_compared(pair, answers, verdicts) for pair in compared.values()]
    responses = [answer.response for answer in answers.values() if answer.response is not None]
    costs = [answer.cost for answer in answers.values() if answer.response is not None]
    return Sheet(
        asked.spec.judge,
        asked.story,
        asked.other,
        tuple(rated),
        tuple(rows),
        len(answers),
        len(asked.queries),
        sum(answer.prompt_tokens or 0 for answer in responses),
        sum(answer.completion_tokens or 0 for answer in responses),
        sum(answer for answer in costs if answer is not None) if costs and None not in costs else None,
        control is not None,
    )


def by_key(answers: Iterable[Answered]) -> dict[str, Answered]:
    return {answer.query.key: answer for answer in answers}


def of_both(orders: tuple[Verdict | None, Verdict | None]) -> Preferred:
    """Preference over two orders, the user's own story shown first and second. If the verdicts differ, including a tie
    in one order only, it depends on the order. "unknown" without a preference, "waiting" without a verdict."""
    first, second = in_order(orders[0], own_first=True), in_order(orders[1], own_first=False)
    if "unknown" in (first, second):
        return "unknown"
    if "waiting" in (first, second):
        return "waiting"
    return first if first == second else "depends"


def in_order(verdict: Verdict | None, *, own_first: bool) -> Preferred:
    """Preference in one verdict, where `own_first` says that the user's own story was shown first; "unknown" without a
    preference, "waiting" without a verdict."""
    if verdict is None:
        return "waiting"
    if verdict.preference is None:
        return "unknown"
    if verdict.preference == "tie":
        return "tie"
    return "own" if (verdict.preference == "first") == own_first else "other"


def scale_words(criterion: Criterion) -> str:
    """The points of a scale: a range such as `1-5`, or the labels."""
    scale = criterion.scale
    return " / ".join(scale.labels) if scale.labels else f"{scale.min:g}-{scale.max:g}"


# (criterion, whether your story was shown first) -> verdict.
_Both = dict[tuple[str, bool], Verdict]


def _by_criterion(answers: Mapping[str, Answered], own: str) -> tuple[dict[str, Judgment], _Both]:
    judgments: dict[str, Judgment] = {}
    verdicts: _Both = {}
    for answer in answers.values():
        if isinstance(answer.read, Verdict):
            verdicts[answer.query.criterion.name, answer.query.story.id == own] = answer.read
        else:
            criteria = answer.query.criteria or (answer.query.criterion,)
            judgments |= {criterion.name: read for criterion, read in zip(criteria, answer.read, strict=True)}
    return judgments, verdicts


def _compared(pair: list[Query], answers: Mapping[str, Answered], control: _Both) -> Compared:
    answers_of_pair = [answers.get(query.key) for query in pair]
    first, second = (
        answer.read if answer is not None and isinstance(answer.read, Verdict) else None for answer in answers_of_pair
    )
    why = [None if answer is None else answer.error for answer in answers_of_pair]
    name = pair[0].criterion.name
    beside = control.get((name, True)), control.get((name, False))
    texts = _text(answers_of_pair[0]), _text(answers_of_pair[1])
    return Compared(pair[0].criterion, pair[0].eval_prompt, (first, second), beside, (why[0], why[1]), texts)


def _text(answered: Answered | None) -> str | None:
    return None if answered is None or answered.response is None else answered.response.text


# Answers of a trial as plain data, appended to a file on request.


_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens")


def record(answered: Answered, judge: str) -> dict[str, Any]:
    """One answer as plain data: request, answer, parsed content, tokens and cost; None for what did not come."""
    query, response = answered.query, answered.response
    return {
        "judge": judge,
        "eval_prompt": query.eval_prompt,
        "criterion": ", ".join(criterion.name for criterion in query.criteria) or query.criterion.name,
        "messages": [{"role": m.role, "content": m.content} for m in query.messages],
        **{name: getattr(response, name, None) for name in ("text", "finish_reason", "reasoning")},
        **_taken(query, answered.read),
        **{name: getattr(response, name, None) for name in _TOKENS},
        "cost": answered.cost,
        **({} if answered.error is None else {"error": answered.error}),
    }


def append(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Append records to a JSON Lines file. Raises SpecError where it cannot be written."""
    with writing(path), path.open("ab") as stream:
        for entry in records:
            stream.write(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE))


def _taken(query: Query, read: Sequence[Judgment] | Verdict) -> dict[str, Any]:
    """Rating, ratings per criterion, or preference with the stories in the order shown."""
    if isinstance(read, Verdict):
        other = "" if query.other is None else query.other.id
        return {"first": query.story.id, "second": other, "preference": read.preference, **_about(read)}
    if not query.criteria:
        return {"rating": read[0].rating, **_about(read[0])}
    each = zip(query.criteria, read, strict=True)
    return {"judgments": [{"criterion": criterion.name, "rating": j.rating, **_about(j)} for criterion, j in each]}


def _about(judged: Judgment | Verdict) -> dict[str, Any]:
    return {"status": judged.status, "flags": list(judged.flags), "explanation": judged.explanation}
