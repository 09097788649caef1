"""Queries of a trial: about one story, and optionally about its comparison with another story."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from judge.asking.execution.session import charged
from judge.asking.plan import Plan, forecast, load_prices, make_plan
from judge.asking.plan.prices import how_to_price, reports_cost
from judge.asking.run_definition.spec import RunSpec, override, parse_run_spec
from judge.base.credentials.providers import CONTROL, JudgeName
from judge.base.credentials.written_keys import refuse_keys
from judge.base.errors import DataError, SpecError
from judge.base.printing.text_layout import dollars
from judge.base.records import Comparison, Query, Story, Subject
from judge.base.wording import Advice
from judge.inputs.eval_prompts import load_eval_prompt

# Stories for a trial, read from text files up to a maximum length.

# Longer than any novel: what is larger is no story's text, and would fill the memory of templates and judges.
MOST_BYTES = 4_000_000


def read_story(file: Path, story_prompt: str = "", reference: str | None = None) -> Story:
    """A UTF-8 file as a story named by the file. Raises DataError where it cannot be read, is not UTF-8 or is too large
    for a story."""
    return Story(file.name, story_prompt, "unknown", read_text(file), reference)


def read_text(file: Path) -> str:
    """Raises DataError where it cannot be read, is not UTF-8 or is too large for a story."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from error
    if len(data) > MOST_BYTES:
        raise DataError(f"longer than {MOST_BYTES:,} bytes, which no story is", file=file)
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 (byte {error.start})", file=file) from error


# The Eval-Prompts that ask for a rating, and for a preference, with reasons in a few words.
RATES, COMPARES = "ep2", "pair2"

_WHERE = "judge try"
# Where `max_attempts` is not said: somebody waits for the answer.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Asking:
    """Options of a trial; `only` are criteria's names or abbreviations, None = all; `overrides` are KEY=VALUE. An
    Eval-Prompt that asks for several criteria in one answer always asks for all of the set."""

    judge: str = CONTROL
    criteria: str = "hanna"
    only: tuple[str, ...] | None = None
    eval_prompts: tuple[str, ...] = (RATES,)
    base_url: str | None = None
    overrides: tuple[str, ...] = ()

    @property
    def by_control(self) -> Asking:
        """The options for the control: it uses no Eval-Prompts, so there is one default for each kind."""
        names = (load_eval_prompt(name).compares for name in self.eval_prompts)
        kinds = dict.fromkeys(COMPARES if compares else RATES for compares in names)
        return Asking(CONTROL, self.criteria, self.only, tuple(kinds))

    @property
    def is_control(self) -> bool:
        """Whether the judge is the control."""
        return JudgeName.of(self.judge).is_control


@dataclass(frozen=True, slots=True)
class Part:
    """The queries for one Eval-Prompt; each has its own plan, which either rates or compares stories."""

    plan: Plan
    subjects: tuple[Subject, ...]
    queries: tuple[Query, ...]


@dataclass(frozen=True)
class Questions:
    """All queries by Eval-Prompt, in the order given; `other` is the second story."""

    parts: tuple[Part, ...]
    story: Story
    other: Story | None

    @property
    def spec(self) -> RunSpec:
        """Judge and settings, common to all Eval-Prompts."""
        return self.parts[0].plan.spec

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        return tuple(query for part in self.parts for query in part.queries)


def questions(asking: Asking, story: Story, other: Story | None = None) -> Questions:
    """The queries about a story; Eval-Prompts that compare show it with `other`, once in each order. Raises SpecError
    where a story is empty, an Eval-Prompt is named twice, an Eval-Prompt compares two stories and only one is given, or
    two are given and no Eval-Prompt compares."""
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
    """The options with at least one Eval-Prompt that rates and, if `compares`, one that compares. Defaults are added;
    without `compares`, those that compare are removed."""
    kinds = {name: load_eval_prompt(name).compares for name in asking.eval_prompts}
    rating = [name for name, compared in kinds.items() if not compared] or [RATES]
    comparing = [name for name, compared in kinds.items() if compared] or [COMPARES]
    return replace(asking, eval_prompts=tuple(rating + comparing if compares else rating))


# Estimated cost of a trial's queries, shown before they are sent.


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """Requests, estimated tokens, and dollars: 0 = free, None = unknown for the reason `unknown`."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None
    unknown: str = ""

    @property
    def words(self) -> str:
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
