"""Queries of a trial: about one story, and optionally about its comparison with another story."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from judge.asking.execution.session import charged
from judge.asking.plan import Plan, forecast, load_prices, make_plan
from judge.asking.plan.prices import how_to_price, reports_cost
from judge.asking.run_definition.spec import RunSpec, override, parse_run_spec
from judge.base.credentials.literal import refuse_keys
from judge.base.errors import SpecError
from judge.base.judge_name import CONTROL, JudgeName
from judge.base.printing.dollars import dollars
from judge.base.records import Comparison, Query, Story, Subject
from judge.base.wording import Advice
from judge.inputs.eval_prompts import load_eval_prompt

# The Eval-Prompts that ask for a rating, and for a preference, with reasons in a few words.
RATES, COMPARES = "ep2", "pair2"

_WHERE = "judge try"
# Where `max_attempts` is not said: somebody waits for the answer.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Asking:
    """Options of a trial: judge, criteria and Eval-Prompts.

    `only` holds names or abbreviations of criteria; None = all criteria of the set. `overrides` are settings of
    run.yaml in the form KEY=VALUE. An Eval-Prompt that asks for several criteria in one answer always asks for all
    criteria of the set.
    """

    judge: str = CONTROL
    criteria: str = "hanna"
    only: tuple[str, ...] | None = None
    eval_prompts: tuple[str, ...] = (RATES,)
    base_url: str | None = None
    overrides: tuple[str, ...] = ()

    @property
    def by_control(self) -> Asking:
        """The options with which the control (a surface-feature baseline) rates or compares the same stories on the
        same criteria. Since it does not use Eval-Prompts, there is one default Eval-Prompt for each kind (rating,
        comparison).
        """
        names = (load_eval_prompt(name).compares for name in self.eval_prompts)
        kinds = dict.fromkeys(COMPARES if compares else RATES for compares in names)
        return Asking(CONTROL, self.criteria, self.only, tuple(kinds))

    @property
    def is_control(self) -> bool:
        """Whether the judge of the trial is the control (a surface-feature baseline)."""
        return JudgeName.of(self.judge).is_control


@dataclass(frozen=True, slots=True)
class Part:
    """The queries of a trial for one Eval-Prompt, with the stories or comparisons they are about (`subjects`). Each
    Eval-Prompt has its own plan, since a plan either rates stories or compares them.
    """

    plan: Plan
    subjects: tuple[Subject, ...]
    queries: tuple[Query, ...]


@dataclass(frozen=True)
class Questions:
    """All queries of a trial about a story and, if `other` is given, about its comparison with this second story. They
    are grouped by Eval-Prompt, in the order given by the user.
    """

    parts: tuple[Part, ...]
    story: Story
    other: Story | None

    @property
    def spec(self) -> RunSpec:
        """Definition of the judge and its settings, which are common to all Eval-Prompts of the trial."""
        return self.parts[0].plan.spec

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """All queries of the trial, in the order of the Eval-Prompts."""
        return tuple(query for part in self.parts for query in part.queries)


def questions(asking: Asking, story: Story, other: Story | None = None) -> Questions:
    """The queries of a trial with the options `asking` about a story. Eval-Prompts that compare stories show it with
    the story `other`, once in each order.

    Raises SpecError where a story is empty, an Eval-Prompt is named twice, an Eval-Prompt compares two stories and only
    one is given, or two are given and no Eval-Prompt compares.
    """
    for given_story in filter(None, (story, other)):
        if not given_story.text.strip():
            raise SpecError(f"{given_story.id} is empty")
    names = asking.eval_prompts
    if len(set(names)) < len(names):
        raise SpecError(f"an Eval-Prompt is named twice: {', '.join(names)}")
    parts = tuple(_part(asking, name, story, other) for name in names)
    if other is not None and not any(part.plan.compares for part in parts):
        raise SpecError(
            f"there is a second story, and Eval-Prompt {names[0]} asks for the rating of one",
            hint="add an Eval-Prompt that compares: pair1 to pair5, or your own with compares: true",
        )
    return Questions(parts, story, other)


def _part(asking: Asking, name: str, story: Story, other: Story | None) -> Part:
    prompt = load_eval_prompt(name)
    if prompt.compares and other is None:
        raise SpecError(
            f"Eval-Prompt {name} compares two stories, and one is given",
            hint=Advice("give the second one with {against}, or take ep1 to ep5"),
        )
    only = {} if asking.only is None or prompt.criteria is not None else {"only": list(asking.only)}
    data: dict[str, Any] = {
        "name": "try",
        "dataset": "none",
        "judge": asking.judge,
        "criteria": {"set": asking.criteria, **only},
        "eval_prompts": [name],
        "max_attempts": _ATTEMPTS,
        **({"pairs": "all"} if prompt.compares else {}),
        **({"base_url": asking.base_url} if asking.base_url else {}),
    }
    for pair in asking.overrides:
        override(data, pair)
    refuse_keys(data, _WHERE)
    plan = make_plan(parse_run_spec(data, _WHERE))
    subjects: tuple[Subject, ...] = (story,)
    if prompt.compares and other is not None:
        subjects = (Comparison(story, other, "pair"), Comparison(other, story, "pair"))
    asked = [(eval_prompt, each) for eval_prompt in plan.eval_prompts for each in plan.asked_by(eval_prompt)]
    queries = tuple(plan.query(subject, eval_prompt, each) for eval_prompt, each in asked for subject in subjects)
    return Part(plan, subjects, queries)


def with_both(asking: Asking, *, compares: bool) -> Asking:
    """The options of a trial with at least one Eval-Prompt that rates a story and, if `compares`, one that compares two
    stories. Where the user named none of a kind, a default Eval-Prompt is added; without `compares`, those that compare
    are removed.
    """
    kinds = {name: load_eval_prompt(name).compares for name in asking.eval_prompts}
    rating = [name for name, compared in kinds.items() if not compared] or [RATES]
    comparing = [name for name, compared in kinds.items() if compared] or [COMPARES]
    return replace(asking, eval_prompts=tuple(rating + comparing if compares else rating))


# Estimated cost of a trial's queries, shown before they are sent.


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
