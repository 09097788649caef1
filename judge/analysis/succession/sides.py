"""Aligns the ratings of two judges: same story, same text, same criterion, same Eval-Prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.criterion_matching import match
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.planning_options import SuccessionOptions
from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix, build

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Ratings by the old and the new judge of their n common stories, on one criterion with one Eval-Prompt.

    Arrays have length n, except `repeats` with shape (n, k): the k single ratings of each story by the old judge.
    `people` holds mean human ratings; if it is None, `reason` says why.
    """

    dataset: str
    criterion: str
    eval_prompt: str
    stories: tuple[str, ...]
    systems: tuple[str, ...]
    story_prompt: Codes
    old: Floats
    new: Floats
    people: Floats | None
    repeats: Floats
    reason: str | None


def judge_of(table: RatingsTable, side: str) -> str:
    """Name of the only judge in a table. Raises SpecError if there is no judge, or if there are several; the error
    message calls the table `side`.
    """
    names = [str(name) for name in table.frame.loc[table.frame["source"] == "judge", "judge"].dropna().unique()]
    if len(names) != 1:
        has = f"has {len(names)} judges: {', '.join(names)}" if names else "has no judge's rating"
        field = f"{side.lower()}_judge"
        raise SpecError(f"{side} {has}", hint=Advice(f"name one: {{{field}}}") if names else None)
    return names[0]


def pairs(old: RatingsTable, new: RatingsTable, options: SuccessionOptions) -> tuple[list[Pair], list[str]]:
    """The ratings of both judges for each criterion and Eval-Prompt that they have in common, and sentences on the
    stories and criteria that were left out.

    Raises
    ------
    SpecError
        If the two tables have no dataset in common, or no criterion with the same Eval-Prompt.
    """
    before = {matrix.dataset: matrix for matrix in build(numbers(old), drop_systems=options.drop_systems)}
    after = {matrix.dataset: matrix for matrix in build(numbers(new), drop_systems=options.drop_systems)}
    shared = [name for name in before if name in after]
    if not shared:
        raise SpecError(
            f"the two judges rated no dataset in common: {', '.join(before) or 'none'}; {', '.join(after) or 'none'}",
            hint="run the new judge on the old one's stories",
        )
    all_pairs: list[Pair] = []
    notes: list[str] = []
    for name in shared:
        dataset_pairs, dataset_notes = _of_dataset(before[name], after[name], options)
        all_pairs += dataset_pairs
        notes += dataset_notes
    if not all_pairs:
        raise SpecError(
            "the two judges share no criterion with the same Eval-Prompt: "
            f"{_asked(before.values())}, and {_asked(after.values())}",
            hint="ask the new judge with the old one's Eval-Prompts",
        )
    return all_pairs, notes


def _of_dataset(before: RatingMatrix, after: RatingMatrix, options: SuccessionOptions) -> tuple[list[Pair], list[str]]:
    at, other, notes = _aligned(before, after)
    later = {(cell.criterion.casefold(), cell.eval_prompt): i for i, cell in enumerate(after.cells)}
    with_people = before if before.criteria else after
    rows = at if with_people is before else other
    partners = match(with_people, options.against)
    partner = {
        (cell.criterion.casefold(), cell.eval_prompt): j
        for cell, j in zip(with_people.cells, partners.partner, strict=True)
    }
    dataset_pairs = []
    for i, cell in enumerate(before.cells):
        key = (cell.criterion.casefold(), cell.eval_prompt)
        if key not in later:
            notes.append(f"{before.dataset}: {cell.criterion} with {cell.eval_prompt} was asked of the old judge only")
            continue
        j = partner.get(key)
        dataset_pairs.append(
            Pair(
                dataset=before.dataset,
                criterion=cell.criterion,
                eval_prompt=cell.eval_prompt,
                stories=tuple(str(before.stories["story"].iloc[k]) for k in at),
                systems=tuple(before.systems[before.system[k]] if before.system[k] >= 0 else "" for k in at),
                story_prompt=before.story_prompt[at],
                old=before.judge[i][at],
                new=after.judge[later[key]][other],
                people=None if j is None else with_people.people[j][rows],
                repeats=before.answers(i).ratings[at],
                reason=None if j is not None else str(partners.reason or "nobody rated this criterion"),
            )
        )
    return dataset_pairs, [*notes, *partners.notes]


def _aligned(before: RatingMatrix, after: RatingMatrix) -> tuple[Codes, Codes, list[str]]:
    """Indices of the common stories in `before` and in `after`, and notes on the stories left out.

    A story is left out if only one matrix has it, or if both have its text and the texts differ.
    """
    row_of = {str(story): k for k, story in enumerate(after.stories["story"])}
    at, other, differ = [], [], 0
    for k, (story, text) in enumerate(zip(before.stories["story"], before.stories["text"], strict=True)):
        there = row_of.get(str(story))
        if there is None:
            continue
        again = str(after.stories["text"].iloc[there] or "")
        if text and again and str(text) != again:
            differ += 1
            continue
        at.append(k)
        other.append(there)
    notes = []
    if differ:
        notes.append(f"{before.dataset}: {differ} stories have another text in the other run and are left out")
    alone = before.n + after.n - 2 * (len(at) + differ)
    if alone:
        notes.append(f"{before.dataset}: {alone} stories are in one of the two runs only and are left out")
    return np.array(at, dtype=np.int64), np.array(other, dtype=np.int64), notes


def _asked(matrices: Iterable[RatingMatrix]) -> str:
    cells = [cell for matrix in matrices for cell in matrix.cells]
    return ", ".join(dict.fromkeys(f"{cell.criterion} {cell.eval_prompt}" for cell in cells)) or "nothing"
