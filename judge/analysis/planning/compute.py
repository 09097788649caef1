"""Computes a plan from a pilot or from a study's variances."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from judge.analysis.inputs.rated_design import EVAL_PROMPT, JUDGE, REPEAT, STORY, STORY_PROMPT, SYSTEM
from judge.analysis.options.agreement_options import PlanOptions
from judge.analysis.options.signature import signature_parts
from judge.analysis.planning.figures import EVERY, Figures, Pilot, pilots, study
from judge.analysis.planning.price_of_validity import Answer, Planned, Question, Usage, levers
from judge.analysis.reliability.d_study import MOST, in_words, order_of_systems, plural
from judge.answers.journal import JournalReader
from judge.asking.run_folder.cost import folder_cost
from judge.asking.run_folder.layout import ResultFolder
from judge.base.errors import DataError, OptionError
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement.d_study import d_study, number_needed, smallest
from judge.stats.agreement.replacement_power import Differences, Moments, needed, power, story_prompts
from judge.stats.agreement.variance_components import VarianceComponents
from judge.stats.correlation.human_ceiling import number_for, spearman_brown
from judge.stats.estimation import sample_size
from judge.stats.estimation.sample_size import RANGE, Number, for_difference, for_half_width, half_width
from judge.version import __version__

# Numbers of story-prompts, repeats, Eval-Prompts and people that each aim of a plan requires on one criterion.

NONE = Number(None, None, None)
_NO_PEOPLE = "people's ratings of one story are no more alike than those of different stories"


def answers(figures: Figures, options: PlanOptions, *, ranges: bool = True) -> Iterator[Answer]:
    """The answers to every planning question on one criterion; without `ranges`, no ranges that need resampling."""
    for answer in (_half_width, _difference, _systems, _stories, _people):
        yield answer(figures, options)
    yield _replacement(figures, options, ranges=ranges)


def _answer(
    figures: Figures,
    question: Question,
    unit: str,
    number: Number,
    has: float | None = None,
    now: float | None = None,
    design: str = "",
    reason: str | None = None,
    null: float | None = None,
    limit: float | None = None,
) -> Answer:
    each = figures.stories_each if unit == plural(STORY_PROMPT) else None
    return Answer(figures.name, question, figures.criterion, unit, number, each, has, now, design, reason, null, limit)


def _half_width(figures: Figures, options: PlanOptions) -> Answer:
    unit = plural(STORY_PROMPT)
    if figures.tau_spread is None:
        return _answer(figures, "half-width", unit, NONE, reason=figures.reasons.get("tau"))
    now = half_width(figures.tau_spread, figures.story_prompts)
    return _answer(
        figures, "half-width", unit, for_half_width(figures.tau_spread, options.half_width), figures.story_prompts, now
    )


def _difference(figures: Figures, options: PlanOptions) -> Answer:
    unit, scatter = plural(STORY_PROMPT), figures.difference_spread
    if scatter is None:
        return _answer(figures, "difference", unit, NONE, reason=figures.reasons.get("difference"))
    number = for_difference(scatter, options.difference, power=options.power)
    error, df = scatter.value / np.sqrt(figures.story_prompts), figures.story_prompts - 1
    now = sample_size.minimum_detectable_effect(float(error), power=options.power, df=df)
    return _answer(figures, "difference", unit, number, figures.story_prompts, now)


def _systems(figures: Figures, options: PlanOptions) -> Answer:
    unit = plural(STORY_PROMPT)
    if figures.components is None:
        return _answer(figures, "order of systems", unit, NONE, reason=figures.reasons.get("components"))
    order = order_of_systems(figures.components, options.reliability, design(figures.components, options))
    if order is None:
        return _answer(figures, "order of systems", unit, NONE, reason="one system has no order")
    return _answer(
        figures, "order of systems", order.unit, order.number, order.has, order.now, order.design, limit=order.limit
    )


def _stories(figures: Figures, options: PlanOptions) -> Answer:
    components, unit = figures.components, "answers"
    if components is None:
        return _answer(figures, "order of stories", unit, NONE, reason=figures.reasons.get("components"))
    objects = tuple(name for name in (SYSTEM, STORY_PROMPT, STORY) if name in components.levels)
    run = {name: float(count) for name, count in components.levels.items() if name not in objects}
    if not run:
        return _answer(
            figures,
            "order of stories",
            unit,
            NONE,
            reason="with one answer to each query the spread of answers cannot be estimated",
        )
    free = {name: MOST[name] for name in run if name != JUDGE}
    kept = {name: 1.0 for name in run if name == JUDGE}
    now = d_study(components, objects, run).relative.value
    if not free:
        return _answer(figures, "order of stories", unit, NONE, reason="one Eval-Prompt and one answer to each query")
    best = smallest(components, objects, options.reliability, free=free, kept=kept)
    if best.calls is None:
        any_of = f"any number of {' and '.join(plural(name) for name in free)}"
        words = f"{in_words(kept)} and {any_of}" if kept else any_of
        return _answer(
            figures, "order of stories", unit, NONE, float(np.prod(list(run.values()))), now, words, limit=best.limit
        )
    chosen = {name: count for name, count in best.levels.items() if name in free}
    widest = max(free, key=lambda name: chosen[name])
    fixed = {**kept, **{name: count for name, count in chosen.items() if name != widest}}
    ends = number_needed(components, objects, options.reliability, widest, fixed, most=MOST[widest])
    times = float(np.prod(list(fixed.values())))
    low, high = (None if end is None else round(end * times) for end in (ends.low, ends.high))
    return _answer(
        figures,
        "order of stories",
        unit,
        Number(best.calls, low, high),
        float(np.prod(list(run.values()))),
        now,
        in_words(chosen),
    )


def _people(figures: Figures, options: PlanOptions) -> Answer:
    unit, icc = "people", figures.icc
    if icc.value is None:
        return _answer(figures, "people", unit, NONE, reason=icc.reason)
    now = float(spearman_brown(icc.value, figures.raters)) if icc.value > 0 else None
    value = number_for(icc.value, options.reliability)
    reason = None if value is not None else f"{_NO_PEOPLE} (ICC {icc.value:.2f})"
    low, high = (None if end is None else number_for(end, options.reliability) for end in (icc.high, icc.low))
    return _answer(figures, "people", unit, Number(value, low, high), figures.raters, now, reason=reason)


def _replacement(figures: Figures, options: PlanOptions, *, ranges: bool) -> Answer:
    unit = plural(STORY_PROMPT)
    if not figures.tests:
        return _answer(figures, "replacement", unit, NONE, reason=figures.reasons.get("test"))
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
        reason = f"whatever the number, a person lies closer to the others by {better:.2f} or more"
    null = None
    if figures.null is not None and number.value is not None:
        knows_nothing = figures.null if isinstance(figures.null, Moments) else figures.null.moments()
        null = power(knows_nothing, number.value, options.epsilon, seed=options.seed)
    return _answer(figures, "replacement", unit, number, figures.story_prompts, now, f"{people} people", reason, null)


def design(components: VarianceComponents, options: PlanOptions) -> dict[str, float]:
    """Number of levels to plan with by facet (e.g. repeat): the options', else the pilot's, and one judge. Raises
    OptionError for a facet whose variance the pilot cannot estimate."""
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


# Mean cost, tokens and time of a pilot's answers, from its result folders.


def usage_of(table: RatingsTable, dataset: str, left_out: Collection[tuple[str, str]]) -> Usage:
    """Mean dollars, tokens and hours per answer over a dataset's journals, without the (run, judge) pairs of
    `left_out`; None where a journal lacks the data."""
    answers = 0
    dollars: list[float | None] = []
    tokens: list[float | None] = []
    hours: list[float | None] = []
    basis: dict[str, None] = {}
    for fact in table.facts:
        folder = ResultFolder(fact.path)
        if fact.dataset != dataset or (fact.run, fact.judge) in left_out:
            continue
        cost = folder_cost(folder)
        basis[cost.basis] = None
        if not folder.journal.is_file():
            dollars.append(None)
            continue
        with JournalReader(folder.journal) as journal:
            spent, totals, seconds = journal.spending(), journal.totals(), journal.seconds_of_work()
        answers += spent.answers - spent.reused
        dollars.append(cost.dollars)
        both = (totals.prompt_tokens, totals.completion_tokens)
        counts = [count for count in both if count is not None]
        tokens.append(float(sum(counts)) if counts else None)
        hours.append(seconds / 3600)

    def each(parts: list[float | None]) -> float | None:
        counted = [part for part in parts if part is not None]
        return sum(counted) / answers if answers and parts and len(counted) == len(parts) else None

    return Usage(each(dollars), each(tokens), each(hours), "; ".join(basis))


# Story-prompts below which a pilot's figures are said to be hardly known.
_FEW = 20


def plan(table: RatingsTable, options: PlanOptions | None = None) -> Planned:
    """The numbers that each aim requires, and the gain from further ratings, from a pilot's ratings. Raises DataError
    if no story was rated by both a judge and people."""
    options = options or PlanOptions()
    all_pilots, counted = pilots(table, options)
    some = [pilot for pilot in all_pilots if pilot.figures]
    if not some:
        raise DataError(
            "there is nothing to plan from: no judge rated a story that people rated on the same criterion",
            hint="plan from a study's variances, without a run",
        )
    all_answers = [answer for pilot in some for criterion in pilot.figures for answer in answers(criterion, options)]
    usages = [usage_of(table, pilot.matrix.dataset, pilot.left_out) for pilot in some]
    worth = [lever for pilot, usage in zip(some, usages, strict=True) for lever in levers(pilot, usage, options)]
    notes = list(table.notes)
    notes += [note for pilot in some for note in (*pilot.notes, *_pilot_notes(pilot))]
    notes += [f"dollars of an answer: {usage.basis}" for usage in usages if usage.basis]
    parts = signature_parts(counted, [pilot.matrix for pilot in some], options, intervals="10-90 %", without=("like",))
    names = ", ".join(pilot.matrix.dataset for pilot in some)
    return Planned(
        answers=tuple(all_answers),
        levers=tuple(worth),
        options=options,
        source=f"the pilot on {names}",
        pilot=True,
        signature_parts=parts,
        notes=tuple(notes),
    )


def plan_like(options: PlanOptions | None = None) -> Planned:
    """The numbers that each aim requires, from the shipped variances of a published study."""
    options = options or PlanOptions()
    published = study(options.like)
    each = [answer for figures in published.figures for answer in answers(figures, options, ranges=False)]
    parts = [f"plan:{options.like}", f"figures:{len(published.figures)}"]
    parts += [part for part in _aims(options) if part]
    return Planned(
        answers=tuple(_over_judges(each)),
        levers=(),
        options=options,
        source=published.words,
        pilot=False,
        signature_parts=(*parts, f"v{__version__}"),
        notes=(published.source, *published.notes),
    )


def _aims(options: PlanOptions) -> Iterator[str | None]:
    from judge.analysis.options.signature import FRAGMENTS

    for name in ("half_width", "difference", "reliability", "power", "epsilon", "prompts", "repeats", "seed"):
        yield FRAGMENTS[name](options)


def _over_judges(each: Sequence[Answer]) -> Iterator[Answer]:
    """Median answers over all judges and criteria, then over judges for each criterion if there are several."""
    for question in dict.fromkeys(answer.question for answer in each):
        own = [answer for answer in each if answer.question == question]
        yield _middle(own, EVERY)
        names = list(dict.fromkeys(answer.criterion for answer in own))
        if len(names) > 1:
            yield from (_middle([answer for answer in own if answer.criterion == name], name) for name in names)


def _middle(some: Sequence[Answer], criterion: str) -> Answer:
    """Median of several answers' numbers, and their range of 10 to 90 %; no number counts as ∞."""
    usable = [answer for answer in some if answer.number.value is not None or answer.has is not None]
    if not usable:
        return replace(some[0], criterion=criterion)
    numbers = np.sort([np.inf if answer.number.value is None else float(answer.number.value) for answer in usable])
    # The next higher number where the share falls between two.
    places = [int(np.ceil(share * (numbers.size - 1))) for share in (0.5, *RANGE)]
    value, low, high = (int(numbers[i]) if np.isfinite(numbers[i]) else None for i in places)
    reasons = [answer.reason for answer in usable if answer.number.value is None and answer.reason]
    nearest = min(usable, key=lambda answer: abs((answer.number.value or 1e9) - (value or 1e9)))
    null = [answer.null for answer in usable if answer.null is not None]
    now = [answer.now for answer in usable if answer.now is not None]
    return replace(
        nearest,
        criterion=criterion,
        number=Number(value, low, high),
        now=float(np.median(now)) if now else None,
        limit=None if value is not None else nearest.limit,
        null=float(np.median(null)) if null else None,
        reason=reasons[0] if value is None and reasons else None,
    )


def _pilot_notes(pilot: Pilot) -> Iterator[str]:
    few = min((figures.story_prompts for figures in pilot.figures), default=_FEW)
    if few < _FEW:
        dataset = pilot.matrix.dataset
        yield f"{dataset}: {few} story-prompts are too few to estimate well how ratings vary: use the ranges"
    cells = max((figures.cells for figures in pilot.figures), default=1)
    if cells > 1:
        yield (
            f"{pilot.matrix.dataset}: {cells} pairs of judge and Eval-Prompt: tau and its differences as they scatter "
            "on average, replacement for the middle one"
        )
