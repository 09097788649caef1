"""D-study (decision study): how many repeats, judges, Eval-Prompts and story-prompts a target reliability requires.

The statistics are in `stats.agreement.d_study`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from judge.analysis.inputs.rated_design import EVAL_PROMPT, JUDGE, REPEAT, STORY, STORY_PROMPT, SYSTEM, RatedDesign
from judge.base.printing.tables import cells_of
from judge.stats.agreement.d_study import INFINITE, Coefficient, Plan, Reliability, d_study, number_needed, smallest
from judge.stats.agreement.variance_components import VarianceComponents
from judge.stats.estimation.sample_size import Number

# Levels up to which designs are searched.
MOST = {REPEAT: 100, EVAL_PROMPT: 50, JUDGE: 50, STORY_PROMPT: 10_000, STORY: 10_000}


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One design of the D-study (e.g. 3 repeats x 2 Eval-Prompts) and the reliability that it reaches. `score` is that
    of a system or of a story. `levels` are numbers by facet (e.g. repeat), infinite where no number reaches the target.
    `reached` says whether `result` reaches it in the coefficient that this plan aims at."""

    criterion: str
    score: str
    plan: str
    levels: Mapping[str, float]
    reached: str
    result: Reliability

    @property
    def calls(self) -> float:
        """Number of requests to judges for one system, or for one story: the product of all numbers."""
        return float(np.prod(list(self.levels.values())))

    @property
    def counts(self) -> dict[str, int | None]:
        """Number of each facet, and of ``calls``; None where it is infinite."""
        counts = {**self.levels, "calls": self.calls}
        return {name: int(count) if np.isfinite(count) else None for name, count in counts.items()}

    @property
    def flat(self) -> dict[str, object]:
        """The design as plain values, with each reliability coefficient and its interval."""
        relative, absolute = self.result.relative, self.result.absolute
        return {
            **cells_of(self, "criterion", "score", "plan"),
            **self.counts,
            "reached": self.reached,
            "relative": relative.value,
            "relative_low": relative.low,
            "relative_high": relative.high,
            "absolute": absolute.value,
            "absolute_low": absolute.low,
            "absolute_high": absolute.high,
            **cells_of(self.result, "se", "se_difference"),
        }


@dataclass(frozen=True, slots=True)
class OrderOfSystems:
    """Number of story-prompts (or stories of each system) needed to order the systems with the target reliability, with
    its range of 10 to 90 %, at the numbers of `design`. `has` is the number in the data and `now` the reliability that
    it gives. If no number is enough, `limit` is the reliability with infinitely many."""

    unit: str
    number: Number
    has: int
    now: float | None
    design: str
    limit: float | None

    def sentence(self, target: float) -> str:
        """The number needed to order the systems at the `target` reliability."""
        with_them = f" with {self.design}" if self.design else ""
        if self.number.value is None:
            limit = "" if self.limit is None else f": ever more come to {self.limit:.2f}"
            return f"no number of {self.unit}{with_them} orders the systems at {target:g}{limit}"
        return (
            f"{self.number.value:,} {self.unit}{with_them} order the systems at {target:g}; the 10-90 % range of this "
            f"number is {self.number.range}"
        )


def order_of_systems(components: VarianceComponents, target: float, kept: Mapping[str, float]) -> OrderOfSystems | None:
    """Number of story-prompts (or stories) that orders the systems with the `target` reliability, at the other numbers
    in `kept`. None without facets for systems and stories, or if the model does not hold."""
    facet = next((name for name in (STORY_PROMPT, STORY) if name in components.levels), None)
    if SYSTEM not in components.levels or facet is None or components.impossible:
        return None
    levels = {name: count for name, count in kept.items() if name not in (SYSTEM, facet)}
    number = number_needed(components, (SYSTEM,), target, facet, levels, most=MOST[facet])
    has = components.levels[facet]
    now = d_study(components, (SYSTEM,), {**levels, facet: has}).relative.value
    limit = None
    if number.value is None:
        limit = d_study(components, (SYSTEM,), {**levels, facet: INFINITE}).relative.value
    return OrderOfSystems(plural(facet), number, has, now, in_words(levels), limit)


def in_words(levels: Mapping[str, float]) -> str:
    """Text such as ``3 repeats x 1 judge``."""
    return " x ".join(f"{int(n)} {name if n == 1 else plural(name)}" for name, n in levels.items())


class _Asked(NamedTuple):
    """A plan: the facets that it varies, the coefficient that must reach the target, and the design."""

    plan: str
    free: Sequence[str]
    coefficient: Coefficient
    answer: Plan


def rows(criterion: str, part: RatedDesign, components: VarianceComponents, target: float) -> Iterator[PlanRow]:
    """The designs on one criterion: as run, changed in one facet to reach the target, and cheapest, for the mean score
    of a system (with two or more) and for the score of a story."""
    impossible = components.impossible
    systems = [("system", (SYSTEM,))] if SYSTEM in part.story else []
    for label, objects in [*systems, ("story", part.story)]:
        run: dict[str, float] = {name: components.levels[name] for name in components.levels if name not in objects}
        if not run:
            continue
        result = d_study(components, objects, run)
        first = PlanRow(criterion, label, "as run", run, _reached(result, target, "relative"), result)
        plans = [] if impossible else list(_plans(components, objects, run, target))
        if plans and all(each.answer.limit == 0 for each in plans):
            yield replace(first, reached="no: variance 0")
            continue
        yield first
        for plan, free, coefficient, answer in plans:
            levels = answer.levels or {**run, **dict.fromkeys(free, INFINITE)}
            result = d_study(components, objects, levels)
            reached = _reached(result, target, coefficient)
            if not answer.levels and answer.limit >= target:
                reached = f"beyond {' x '.join(str(MOST[name]) for name in free)}"
            yield PlanRow(criterion, label, plan, levels, reached, result)


def plural(name: str) -> str:
    """Plural of a facet's name, e.g. ``stories`` or ``judges``."""
    return "stories" if name == STORY else f"{name}s"


def _plans(
    components: VarianceComponents, objects: Sequence[str], run: Mapping[str, float], target: float
) -> Iterator[_Asked]:
    """Each facet alone, then fewest calls for Ep² (relative scores) and Phi (absolute), as one plan if equal."""

    def ask(plan: str, free: Sequence[str], coefficient: Coefficient) -> _Asked:
        kept = {name: count for name, count in run.items() if name not in free}
        most = {name: MOST[name] for name in free}
        answer = smallest(components, objects, target, free=most, kept=kept, coefficient=coefficient)
        return _Asked(plan, free, coefficient, answer)

    for name in run:
        yield ask(f"{plural(name)} alone", [name], "relative")
    if len(run) > 1:
        relative = ask("fewest calls (Ep²)", list(run), "relative")
        absolute = ask("fewest calls (Phi)", list(run), "absolute")
        if relative.answer == absolute.answer:
            yield absolute._replace(plan="fewest calls")
        else:
            yield from (relative, absolute)


def _reached(result: Reliability, target: float, coefficient: Coefficient) -> str:
    value = (result.relative if coefficient == "relative" else result.absolute).value
    return "undefined" if value is None else "yes" if value >= target - 1e-9 else "no"
