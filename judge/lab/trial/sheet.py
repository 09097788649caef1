"""Results of a trial on one sheet: ratings by criterion, preferences with the two stories in either order, and the
ratings and preferences of the control (a surface-feature baseline).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from judge.base.records import Criterion, Judgment, Query, Story, Verdict
from judge.lab.trial.answers import Answered
from judge.lab.trial.questions import Questions

Preferred = Literal["own", "other", "tie", "depends", "unknown", "waiting"]
"""What two orders come to: a story, a tie, another answer in each order; nothing where one was not read, or not yet."""

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
    """Rating of a story on one criterion by the judge with one Eval-Prompt, and the rating by the control (a
    surface-feature baseline). A judgment is None while there is no answer; `error` is the reason why there will be
    none. `answer` is the full text of the answer.
    """

    criterion: Criterion
    eval_prompt: str
    judgment: Judgment | None
    control: Judgment | None
    error: str | None = None
    answer: str | None = None
    """The whole answer, for what was not read of it."""

    @property
    def scale(self) -> str:
        """The rating scale of the criterion as text: its range, such as `1-5`, or its labels."""
        return scale_words(self.criterion)


@dataclass(frozen=True, slots=True)
class Compared:
    """Preference between two stories on one criterion by the judge with one Eval-Prompt, and that of the control (a
    surface-feature baseline). In each pair of values, the first is for the order in which the user's own story is shown
    first, the second for the opposite order. A verdict is None while there is no answer.
    """

    criterion: Criterion
    eval_prompt: str
    orders: tuple[Verdict | None, Verdict | None]
    control: tuple[Verdict | None, Verdict | None]
    errors: tuple[str | None, str | None] = (None, None)
    answers: tuple[str | None, str | None] = (None, None)

    @property
    def preferred(self) -> Preferred:
        """The judge's preference between the two stories, combined over the two orders in which they are shown."""
        return of_both(self.orders)

    @property
    def by_control(self) -> Preferred:
        """The preference of the control (a surface-feature baseline) between the two stories, combined over the two
        orders in which they are shown.
        """
        return of_both(self.control)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Results of a trial for one story and, if there is a second story, for their comparison.

    `answered` counts the queries with an outcome (an answer or an error) among the `asked` queries. `cost` is in
    dollars, None = unknown. `control` says whether the results of the control (a surface-feature baseline) are
    included.
    """

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
        """Number of ratings and verdicts of the trial for each status, such as a refusal."""
        read = [row.judgment for row in self.rated] + [verdict for row in self.compared for verdict in row.orders]
        return Counter(verdict.status for verdict in read if verdict is not None)

    @property
    def preferences(self) -> Counter[Preferred]:
        """Number of comparisons of the trial (by criterion and Eval-Prompt) with each preference."""
        return Counter(row.preferred for row in self.compared)


def sheet(asked: Questions, answers: Mapping[str, Answered], control: Mapping[str, Answered] | None) -> Sheet:
    """Sheet with the results of a trial so far. `answers` holds the outcomes by key of the query. `control` holds those
    of the control (a surface-feature baseline); None where the judge itself is the control.
    """
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
    """Outcomes of queries as a mapping by key of the query."""
    return {answer.query.key: answer for answer in answers}


def of_both(orders: tuple[Verdict | None, Verdict | None]) -> Preferred:
    """The preference between the user's own story and another story, combined over the two orders in which they are
    shown. For the first verdict the user's own story was shown first, for the second verdict the other story.

    If the two verdicts differ, including a tie in one order only, the result is that the preference depends on the
    order. It is "unknown" where a verdict has no preference, and "waiting" where a verdict is missing.
    """
    first, second = in_order(orders[0], own_first=True), in_order(orders[1], own_first=False)
    if "unknown" in (first, second):
        return "unknown"
    if "waiting" in (first, second):
        return "waiting"
    return first if first == second else "depends"


def in_order(verdict: Verdict | None, *, own_first: bool) -> Preferred:
    """Preference in one verdict: the user's own story, the other story or a tie; "unknown" without a preference,
    "waiting" without a verdict. `own_first` says whether the user's own story was shown first.
    """
    if verdict is None:
        return "waiting"
    if verdict.preference is None:
        return "unknown"
    if verdict.preference == "tie":
        return "tie"
    return "own" if (verdict.preference == "first") == own_first else "other"


def scale_words(criterion: Criterion) -> str:
    """The points of a criterion's scale as text: a range such as `1-5`, or the labels."""
    scale = criterion.scale
    return " / ".join(scale.labels) if scale.labels else f"{scale.min:g}-{scale.max:g}"


_Both = dict[tuple[str, bool], Verdict]
"""(criterion, whether your story was shown first) -> verdict."""


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
