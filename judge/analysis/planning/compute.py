"""Computation of a plan from a pilot or from a study's variances."""

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
from judge.errors import DataError
from judge.stats.estimation.sample_size import RANGE, Number
from judge.version import __version__

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

_FEW = 20
"""Story-prompts below which a pilot's figures are said to be hardly known."""


def plan(table: RatingsTable, options: PlanOptions | None = None) -> Planned:
    """A plan from the ratings of a pilot.

    Raises DataError where there is no judge's rating of a story that people rated.
    """
    options = options or PlanOptions()
    found, counted = pilots(table, options)
    some = [one for one in found if one.figures]
    if not some:
        raise DataError(
            "there is nothing to plan from: no judge rated a story that people rated on the same criterion",
            hint="plan from a study's variances, without a run",
        )
    made = [answer for one in some for criterion in one.figures for answer in answers(criterion, options)]
    usages = [usage_of(table, one.matrix.dataset, one.left_out) for one in some]
    worth = [lever for one, usage in zip(some, usages, strict=True) for lever in levers(one, usage, options)]
    notes = [note for fact in table.facts for note in fact.notes]
    notes += [note for one in some for note in (*one.notes, *_said(one))]
    notes += [f"dollars of an answer: {usage.basis}" for usage in usages if usage.basis]
    parts = signature_parts(counted, [one.matrix for one in some], options, intervals="10-90 %", without=("like",))
    names = ", ".join(one.matrix.dataset for one in some)
    return Planned(
        answers=tuple(made),
        levers=tuple(worth),
        options=options,
        source=f"the pilot on {names}",
        pilot=True,
        signature_parts=parts,
        notes=tuple(dict.fromkeys(notes)),
    )


def plan_like(options: PlanOptions | None = None) -> Planned:
    """A plan from the variances of a published study whose figures ship with the program."""
    options = options or PlanOptions()
    known = study(options.like)
    each = [answer for one in known.figures for answer in answers(one, options, ranges=False)]
    parts = [f"plan:{options.like}", f"figures:{len(known.figures)}"]
    parts += [part for part in _aims(options) if part]
    return Planned(
        answers=tuple(_over_judges(each)),
        levers=(),
        options=options,
        source=known.words,
        pilot=False,
        signature_parts=(*parts, f"v{__version__}"),
        notes=(known.source, *known.notes),
    )


def _aims(options: PlanOptions) -> Iterator[str | None]:
    from judge.analysis.options.signature import FRAGMENTS

    for name in ("half_width", "difference", "reliability", "power", "epsilon", "prompts", "repeats", "seed"):
        yield FRAGMENTS[name](options)


def _over_judges(each: Sequence[Answer]) -> Iterator[Answer]:
    """For each question the middle number over all judges and criteria, then criterion by criterion over judges."""
    for question in dict.fromkeys(one.question for one in each):
        of = [one for one in each if one.question == question]
        yield _middle(of, EVERY)
        names = list(dict.fromkeys(one.criterion for one in of))
        if len(names) > 1:
            yield from (_middle([one for one in of if one.criterion == name], name) for name in names)


def _middle(some: Sequence[Answer], criterion: str) -> Answer:
    """The median of their numbers with the range of 10 to 90 % of them; a number that does not exist counts as ∞."""
    told = [one for one in some if one.number.value is not None or one.has is not None]
    if not told:
        return replace(some[0], criterion=criterion)
    numbers = np.sort([np.inf if one.number.value is None else float(one.number.value) for one in told])
    # The next higher number where the share falls between two.
    places = [int(np.ceil(share * (numbers.size - 1))) for share in (0.5, *RANGE)]
    value, low, high = (int(numbers[i]) if np.isfinite(numbers[i]) else None for i in places)
    reasons = [one.reason for one in told if one.number.value is None and one.reason]
    nearest = min(told, key=lambda one: abs((one.number.value or 1e9) - (value or 1e9)))
    null = [one.null for one in told if one.null is not None]
    now = [one.now for one in told if one.now is not None]
    return replace(
        nearest,
        criterion=criterion,
        number=Number(value, low, high),
        now=float(np.median(now)) if now else None,
        limit=None if value is not None else nearest.limit,
        null=float(np.median(null)) if null else None,
        reason=reasons[0] if value is None and reasons else None,
    )


def _said(pilot: Pilot) -> Iterator[str]:
    few = min((found.story_prompts for found in pilot.figures), default=_FEW)
    if few < _FEW:
        dataset = pilot.matrix.dataset
        yield f"{dataset}: {few} story-prompts are too few to estimate well how ratings vary: use the ranges"
    cells = max((found.cells for found in pilot.figures), default=1)
    if cells > 1:
        yield (
            f"{pilot.matrix.dataset}: {cells} judges with an Eval-Prompt each: tau and its differences as they scatter "
            "on average, replacement for the middle one"
        )
