"""Estimated cost of a trial's queries, shown before they are sent."""

from __future__ import annotations

from dataclasses import dataclass

from judge.asking.execution.session import charged
from judge.asking.plan import forecast, load_prices
from judge.asking.plan.prices import how_to_price, reports_cost
from judge.base.judge_name import JudgeName
from judge.base.printing.dollars import dollars
from judge.lab.trial.questions import Questions


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """Expected cost of a trial: number of requests, tokens of prompts and completions (estimated from the lengths of
    texts), and dollars. 0 dollars = free; None = unknown, and then `unknown` is the reason.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None
    unknown: str = ""

    @property
    def words(self) -> str:
        """The expected cost of a trial as one line of text."""
        count = f"{self.requests} request{'' if self.requests == 1 else 's'}"
        if self.dollars == 0 and not self.prompt_tokens:
            return f"{count}, no tokens: free."
        tokens = f"{count}, about {self.prompt_tokens:,} tokens in and {self.completion_tokens:,} out"
        if self.dollars == 0:
            return f"{tokens}: free, on this machine."
        if self.dollars is None:
            return f"{tokens}: dollars not known ({self.unknown})."
        return f"{tokens}: about {dollars(self.dollars)}."


def expected_cost(questions: Questions) -> ExpectedCost:
    """Expected cost of all queries of a trial."""
    spec = questions.spec
    price = load_prices(spec.judge, spec.base_url, spec.engine)
    each = [forecast(p.plan, list(p.subjects), len(p.subjects), price=price, one_call=True) for p in questions.parts]
    requests = sum(estimate.calls for estimate in each)
    if JudgeName.of(spec.judge).is_modelless:
        return ExpectedCost(requests, 0, 0, 0.0)
    prompt, completion = (
        sum(estimate.prompt_tokens for estimate in each),
        sum(estimate.completion_tokens for estimate in each),
    )
    if not charged(spec):
        return ExpectedCost(requests, prompt, completion, 0.0)
    if price is None:
        why = "the server names it with each answer" if reports_cost(spec.base_url) else how_to_price(spec.judge)
        return ExpectedCost(requests, prompt, completion, None, why)
    return ExpectedCost(requests, prompt, completion, sum(estimate.cost or 0.0 for estimate in each))
