"""Whether an analysis keeps to the plan that was registered for its run, and what it changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge.asking.execution import registration
from judge.asking.execution.registration import Registered
from judge.base.wording import written

if TYPE_CHECKING:
    from judge.questions.summary.result import EvidenceOptions
    from judge.ratings.rating_matrix import RatingMatrix
    from judge.ratings.ratings_table import RunFacts

Row = tuple[str, str]
"""A judge and an Eval-Prompt."""


@dataclass(frozen=True, slots=True)
class KeptTo:
    """A registered plan and what was done otherwise; nothing where it was kept."""

    plan: Registered
    changes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        if not self.changes:
            return f"plan.json, {self.plan.when}: kept."
        return f"plan.json, {self.plan.when}: changed since then: {'; '.join(self.changes)}."

    @property
    def record(self) -> dict[str, Any]:
        """As plain data, for a certificate's file."""
        plan = self.plan
        return {"registered": plan.registered, "answers_before": plan.answers_before, "changes": list(self.changes)}


def kept_to(
    facts: Sequence[RunFacts], matrix: RatingMatrix, about: Sequence[Row], options: EvidenceOptions
) -> KeptTo | None:
    """What the analysis of one dataset changed of the plan beside its runs; None where none of them has one. `about`
    are the rows that the verdict is of.
    """
    folders = [fact.path for fact in facts if fact.dataset == matrix.dataset]
    plans = [plan for folder in folders if (plan := registration.registered(folder)) is not None]
    if not plans:
        return None
    plan = plans[0]
    found = [*_asked(plan, facts, matrix), *_row(plan, matrix, about, facts), *_options(plan, options)]
    return KeptTo(plan, tuple(dict.fromkeys(found)))


def _asked(plan: Registered, facts: Sequence[RunFacts], matrix: RatingMatrix) -> Iterator[str]:
    for fact in facts:
        if fact.dataset == matrix.dataset:
            yield from (written(change, None) for change in registration.changes(plan, fact.path))
            planned = plan.definitions.get(fact.path.name)
            shown = {cell.criterion for cell in matrix.cells if cell.run == fact.run}
            gone = [name for name in planned["criteria"]["names"] if name not in shown] if planned else []
            if gone:
                yield f"criteria not shown: {', '.join(gone)}"


def _row(plan: Registered, matrix: RatingMatrix, about: Sequence[Row], facts: Sequence[RunFacts]) -> Iterator[str]:
    if plan.judge is None and plan.eval_prompt is None:
        shown = {(cell.judge, cell.eval_prompt) for cell in matrix.cells}
        judge_of = {fact.path.name: fact.judge for fact in facts}
        asked = {(judge_of[name], prompt) for name, prompt in registration.rows_of(plan, [f.path for f in facts])}
        if len(shown) < len(asked):
            yield f"{len(shown)} of its {len(asked)} rows shown"
        return
    for judge, prompt in about:
        if plan.judge not in (None, judge) or plan.eval_prompt not in (None, prompt):
            named = " ".join(filter(None, (plan.judge, plan.eval_prompt)))
            yield f"this row is {judge} {prompt}, the plan's is {named}"


def _options(plan: Registered, options: EvidenceOptions) -> Iterator[str]:
    if plan.margin != options.margin:
        yield f"margin {plan.margin:g} became {options.margin:g}"
    if plan.epsilon != options.epsilon:
        yield f"epsilon {plan.epsilon:g} became {options.epsilon:g}"
    if sorted(plan.drop_systems) != sorted(options.drop_systems):
        yield f"systems left out: {_names(plan.drop_systems)} became {_names(options.drop_systems)}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(sorted(names)) or "none"
