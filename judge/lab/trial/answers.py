"""Sending of a trial's queries to the judge, with the retries, limits and budget of a run. Answers are kept in
memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judge.answers.parsing import parser
from judge.answers.parsing.stored_answers import read_response
from judge.answers.parsing.stored_verdicts import read_verdict
from judge.asking.execution.sending.budget import Account, Budget
from judge.asking.execution.sending.runner import Run, split_calls, works
from judge.asking.execution.session import charged, settings_of
from judge.asking.plan import Price, load_prices
from judge.asking.run_definition.spec import RunSpec
from judge.backends import Backend, open_backend
from judge.base.errors import BackendError
from judge.base.records import Judgment, Query, Request, Response, Verdict
from judge.lab.trial.questions import Questions


@dataclass(frozen=True, slots=True)
class Answered:
    """Outcome of one query of a trial: the model's response and its parsed content `read`. Where there is no response,
    `response` is None, `error` is the reason, and `read` has a status that says so.

    `read` holds one judgment for each criterion of the query, or the verdict of a comparison. `cost` is in dollars;
    None = unknown.
    """

    query: Query
    response: Response | None
    read: tuple[Judgment, ...] | Verdict
    cost: float | None = None
    error: str | None = None


Hear = Callable[[Answered], None]
"""Called with each answer as it comes."""


class Trial:
    """One trial of a judge on one or two stories, with all its queries. `answers` holds the outcomes so far by key of
    the query. `hear` is a function that is called with each outcome.
    """

    def __init__(self, questions: Questions, hear: Hear | None = None, budget: Budget | None = None) -> None:
        self.questions = questions
        self.answers: dict[str, Answered] = {}
        self.cause: BackendError | None = None
        self._hear = hear
        self._budget = budget
        self._run: Run | None = None
        self._stopped: str | None = None

    async def ask(self, backend: Backend) -> list[Answered]:
        """Send all queries of the trial to an open back-end. Returns the outcomes in the order of the queries,
        including those of queries that were not sent.
        """
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
        """Number of requests of the trial that failed and were sent again."""
        return 0 if self._run is None else self._run.outcomes.retries

    def stop(self, why: str) -> None:
        """Stop the trial: send no more queries and do not wait for open requests. `why` is the reason recorded for
        unanswered queries.
        """
        self._stopped = why
        if self._run is not None:
            self._run.stop(why)
            self._run.abandon()

    def give_up(self, why: str) -> None:
        """Record every query that has no outcome yet as unanswered, with the reason `why`."""
        for query in self.questions.queries:
            if query.key not in self.answers:
                self._keep(_unanswered(query, why))

    def _keep(self, answered: Answered) -> None:
        self.answers[answered.query.key] = answered
        if self._hear is not None:
            self._hear(answered)


def budget_of(spec: RunSpec) -> Budget | None:
    """Budget (largest cost) of a trial; None where the judge's settings have no cost limit or the judge is free."""
    return None if spec.max_cost is None or not charged(spec) else Budget(spec.max_cost)


async def ask_once(questions: Questions) -> list[Answered]:
    """Open the judge's back-end, send all queries of a trial, close the back-end, and return the outcomes in the order
    of the queries. Raises BackendError where an error prevented all answers.
    """
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
    """Store of a trial's answers in memory, in place of a run's journal. A trial only has queries for ratings and
    verdicts, not for generated stories.
    """

    def __init__(self, price: Price | None, keep: Hear) -> None:
        self._price = price
        self._keep = keep
        self._parser = parser("ours")

    def start(self) -> None:
        """Do nothing: answers kept in memory need no preparation."""

    async def room(self) -> None:
        """Do nothing: memory always has room for another answer, so there is no need to wait."""

    def answered(self, query: Request, repeat: int, response: Response, *, started: float, seconds: float) -> None:
        """Parse the judge's answer to a query, compute its cost, and pass the outcome on to the trial."""
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
        """Pass the outcome of a failed request on to the trial, if the request will not be sent again."""
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
