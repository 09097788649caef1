"""Numbers of story-prompts, repeats, Eval-Prompts and people that each aim of a plan requires on one criterion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from judge.analysis.inputs.rated_design import EVAL_PROMPT, JUDGE, REPEAT, STORY, STORY_PROMPT, SYSTEM
from judge.analysis.options.planning_options import PlanOptions
from judge.analysis.planning.figures import Figures
from judge.analysis.planning.result import Answer, Question
from judge.analysis.reliability.d_study import MOST, in_words, order_of_systems, plural
from judge.base.errors import OptionError
from judge.stats.agreement.d_study import d_study, number_needed, smallest
from judge.stats.agreement.replacement_power import Differences, Moments, needed, power, story_prompts
from judge.stats.agreement.variance_components import VarianceComponents
from judge.stats.correlation.attenuation import number_for, spearman_brown
from judge.stats.estimation import power as detectable
from judge.stats.estimation.sample_size import Number, for_difference, for_half_width, half_width

NONE = Number(None, None, None)
_NO_PEOPLE = "people's ratings of one story are no more alike than those of different stories"


class _Reply(NamedTuple):
    """An answer to a planning question, before its question and criterion are added; see `Answer` for the fields."""

    unit: str
    number: Number
    has: float | None = None
    now: float | None = None
    design: str = ""
    reason: str | None = None
    null: float | None = None
    limit: float | None = None


def answers(figures: Figures, options: PlanOptions, *, ranges: bool = True) -> Iterator[Answer]:
    """Yield the answers to every planning question on one criterion.

    An answer is the number of story-prompts, ratings or people that an aim requires. Without `ranges`, ranges that need
    resampling are not computed.
    """
    asked: Mapping[Question, Callable[[], _Reply]] = {
        "half-width": lambda: _half_width(figures, options),
        "difference": lambda: _difference(figures, options),
        "order of systems": lambda: _systems(figures, options),
        "order of stories": lambda: _stories(figures, options),
        "people": lambda: _people(figures, options),
        "replacement": lambda: _replacement(figures, options, ranges=ranges),
    }
    for question, reply in asked.items():
        given = reply()
        each = figures.stories_each if given.unit == plural(STORY_PROMPT) else None
        yield Answer(
            figures.name,
            question,
            figures.criterion,
            given.unit,
            given.number,
            each,
            given.has,
            given.now,
            given.design,
            given.reason,
            given.null,
            given.limit,
        )


def _half_width(figures: Figures, options: PlanOptions) -> _Reply:
    unit = plural(STORY_PROMPT)
    if figures.tau_spread is None:
        return _Reply(unit, NONE, reason=figures.reasons.get("tau"))
    now = half_width(figures.tau_spread, figures.story_prompts)
    return _Reply(unit, for_half_width(figures.tau_spread, options.half_width), figures.story_prompts, now)


def _difference(figures: Figures, options: PlanOptions) -> _Reply:
    unit, scatter = plural(STORY_PROMPT), figures.difference_spread
    if scatter is None:
        return _Reply(unit, NONE, reason=figures.reasons.get("difference"))
    number = for_difference(scatter, options.difference, power=options.power)
    error, df = scatter.value / np.sqrt(figures.story_prompts), figures.story_prompts - 1
    now = detectable.minimum_detectable_effect(float(error), power=options.power, df=df)
    return _Reply(unit, number, figures.story_prompts, now)


def _systems(figures: Figures, options: PlanOptions) -> _Reply:
    unit = plural(STORY_PROMPT)
    if figures.components is None:
        return _Reply(unit, NONE, reason=figures.reasons.get("components"))
    order = order_of_systems(figures.components, options.reliability, design(figures.components, options))
    if order is None:
        return _Reply(unit, NONE, reason="one system has no order")
    return _Reply(order.unit, order.number, order.has, order.now, order.design, limit=order.limit)


def _stories(figures: Figures, options: PlanOptions) -> _Reply:
    components, unit = figures.components, "answers"
    if components is None:
        return _Reply(unit, NONE, reason=figures.reasons.get("components"))
    objects = tuple(name for name in (SYSTEM, STORY_PROMPT, STORY) if name in components.levels)
    run = {name: float(count) for name, count in components.levels.items() if name not in objects}
    if not run:
        return _Reply(unit, NONE, reason="with one answer to each query the spread of answers cannot be estimated")
    free = {name: MOST[name] for name in run if name != JUDGE}
    kept = {name: 1.0 for name in run if name == JUDGE}
    now = d_study(components, objects, run).relative.value
    if not free:
        return _Reply(unit, NONE, reason="one Eval-Prompt and one answer to each query")
    best = smallest(components, objects, options.reliability, free=free, kept=kept)
    if best.calls is None:
        any_of = f"any number of {' and '.join(plural(name) for name in free)}"
        words = f"{in_words(kept)} and {any_of}" if kept else any_of
        return _Reply(unit, NONE, float(np.prod(list(run.values()))), now, words, limit=best.limit)
    chosen = {name: count for name, count in best.levels.items() if name in free}
    widest = max(free, key=lambda name: chosen[name])
    fixed = {**kept, **{name: count for name, count in chosen.items() if name != widest}}
    ends = number_needed(components, objects, options.reliability, widest, fixed, most=MOST[widest])
    times = float(np.prod(list(fixed.values())))
    low, high = (None if end is None else round(end * times) for end in (ends.low, ends.high))
    return _Reply(unit, Number(best.calls, low, high), float(np.prod(list(run.values()))), now, in_words(chosen))


def _people(figures: Figures, options: PlanOptions) -> _Reply:
    unit, icc = "people", figures.icc
    if icc.value is None:
        return _Reply(unit, NONE, reason=icc.reason)
    now = float(spearman_brown(icc.value, figures.raters)) if icc.value > 0 else None
    value = number_for(icc.value, options.reliability)
    reason = None if value is not None else f"{_NO_PEOPLE} (ICC {icc.value:.2f})"
    low, high = (None if end is None else number_for(end, options.reliability) for end in (icc.high, icc.low))
    return _Reply(unit, Number(value, low, high), figures.raters, now, reason=reason)


def _replacement(figures: Figures, options: PlanOptions, *, ranges: bool) -> _Reply:
    unit = plural(STORY_PROMPT)
    if not figures.tests:
        return _Reply(unit, NONE, reason=figures.reasons.get("test"))
    moments = [test if isinstance(test, Moments) else test.moments() for test in figures.tests]
    numbers = [needed(test, options.epsilon, options.power, seed=options.seed) for test in moments]
    order = sorted(range(len(numbers)), key=lambda i: np.inf if numbers[i] is None else float(numbers[i] or 0))
    # The middle judge cell; of an even number the one that needs more.
    middle = order[len(order) // 2]
    chosen, value = figures.tests[middle], numbers[middle]
    number = Number(value, value, value)
    if ranges and isinstance(chosen, Differences):
        number = story_prompts(chosen, options.epsilon, power_wanted=options.power, seed=options.seed)
    now = power(moments[middle], figures.story_prompts, options.epsilon, seed=options.seed)
    people = moments[middle].mean.size
    better = float(moments[middle].mean.min())
    reason = None
    if number.value is None:
        reason = f"it does not pass with any number: a person lies closer to the others by {better:.2f} or more"
    null = None
    if figures.null is not None and number.value is not None:
        knows_nothing = figures.null if isinstance(figures.null, Moments) else figures.null.moments()
        null = power(knows_nothing, number.value, options.epsilon, seed=options.seed)
    return _Reply(unit, number, figures.story_prompts, now, f"{people} people", reason, null)


def design(components: VarianceComponents, options: PlanOptions) -> dict[str, float]:
    """Map from facet (e.g. repeat or Eval-Prompt) to the number of its levels to plan with.

    The numbers are those of the options, else the pilot's; there is always one judge. Raises OptionError for a facet
    whose variance the pilot cannot estimate.
    """
    levels = {name: float(count) for name, count in components.levels.items()}
    if JUDGE in levels:
        levels[JUDGE] = 1.0
    for field, facet, asked in (("prompts", EVAL_PROMPT, options.prompts), ("repeats", REPEAT, options.repeats)):
        if asked is None:
            continue
        if facet not in levels:
            complaint = f"cannot be planned: these ratings have one {facet} and say nothing about others"
            raise OptionError(field, asked, complaint)
        levels[facet] = float(asked)
    return levels
