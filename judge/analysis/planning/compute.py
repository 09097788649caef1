"""Computes a plan from a pilot or from a study's variances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judge.analysis.options.planning_options import PlanOptions
from judge.analysis.options.signature import signature_parts
from judge.analysis.planning.answers import answers
from judge.analysis.planning.figures import Pilot, pilots
from judge.analysis.planning.price_of_validity import levers
from judge.analysis.planning.result import Answer, Planned
from judge.analysis.planning.studies import EVERY, study
from judge.analysis.planning.usage import usage_of
from judge.base.errors import DataError
from judge.stats.estimation.sample_size import RANGE, Number
from judge.version import __version__

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

_FEW = 20
"""Story-prompts below which a pilot's figures are said to be hardly known."""


def plan(table: RatingsTable, options: PlanOptions | None = None) -> Planned:
    """Plan of a study from the ratings of a pilot: the numbers that each aim requires, and the gain from further
    ratings.

    Raises DataError if no story was rated by both a judge and people.
    """
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
    notes = [note for fact in table.facts for note in fact.notes]
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
        notes=tuple(dict.fromkeys(notes)),
    )


def plan_like(options: PlanOptions | None = None) -> Planned:
    """Plan of a study from the variances of a published study: the numbers that each aim requires.

    The variances come with the program.
    """
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
    """Yield for each planning question the median answer over all judges and criteria.

    If there are several criteria, the median answer over judges for each criterion follows.
    """
    for question in dict.fromkeys(answer.question for answer in each):
        own = [answer for answer in each if answer.question == question]
        yield _middle(own, EVERY)
        names = list(dict.fromkeys(answer.criterion for answer in own))
        if len(names) > 1:
            yield from (_middle([answer for answer in own if answer.criterion == name], name) for name in names)


def _middle(some: Sequence[Answer], criterion: str) -> Answer:
    """Answer with the median of several answers' numbers (e.g. of story-prompts), and their range of 10 to 90 %.

    Where no number reaches the aim, it counts as ∞.
    """
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
            f"{pilot.matrix.dataset}: {cells} judges with an Eval-Prompt each: tau and its differences as they scatter "
            "on average, replacement for the middle one"
        )
