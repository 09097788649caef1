"""Answers of stages as arrays: ratings by each Eval-Prompt beside people's, on one axis of stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np

from judge.analysis.inputs.candidates import match
from judge.base.arrays import Codes, Floats
from judge.base.errors import SpecError
from judge.base.records import Scale
from judge.lab.improve.material import Proposal
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import read
from judge.stats.estimation.prompt_gain import Part, mean_tau


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Ratings by one Eval-Prompt or candidate, and numbers of repeats asked and rated, (c, n) each; NaN = none."""

    ratings: Floats
    asked: Codes
    rated: Codes

    def at(self, places: Sequence[int]) -> Asked:
        """The same of the stories at these places, in this order."""
        return Asked(self.ratings[:, places], self.asked[:, places], self.rated[:, places])


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Ratings of n stories on c criteria. `people` is (c, n), NaN = none; `by` holds the judge's answers by Eval-Prompt
    and candidate; `group` (n,) numbers story-prompts and `system` (n,) systems; `words` (n,) are NaN where not
    known."""

    criteria: tuple[str, ...]
    stories: tuple[str, ...]
    people: Floats
    by: Mapping[str, Asked]
    group: Codes
    system: Codes
    systems: tuple[str, ...]
    words: Floats

    def ratings(self, name: str) -> Floats:
        """Ratings by an Eval-Prompt or candidate, (c, n)."""
        return self.by[name].ratings

    def score(self, name: str) -> float:
        """Mean over criteria of tau-b with people; NaN where it is undefined."""
        return mean_tau(self.ratings(name), self.people)

    def missing(self, name: str) -> float:
        """Share of requested repeats without a rating."""
        return 1 - float(self.by[name].rated.sum()) / max(1, int(self.by[name].asked.sum()))

    def beside(self, folder: Path, called: Mapping[str, str]) -> Answers:
        """With the answers in another folder about the same stories: its Eval-Prompts, and what they are `called`
        here."""
        matrix = matrix_of(folder)
        rows = _rows(matrix, self.criteria)
        place = {str(story): i for i, story in enumerate(matrix.stories["story"])}
        at = [place[story] for story in self.stories]
        return replace(self, by={**self.by, **{name: rows[there].at(at) for there, name in called.items()}})

    def mapped(self, name: str, given: Scale, own: Sequence[Scale]) -> Answers:
        """With the ratings by `name`, `given` on one scale, on each criterion's `own` scale: lowest on lowest, highest
        on highest, in between by a line."""
        slope = np.array([(scale.max - scale.min) / (given.max - given.min) for scale in own])[:, None]
        ratings = np.array([[scale.min] for scale in own]) + slope * (self.ratings(name) - given.min)
        return replace(self, by={**self.by, name: replace(self.by[name], ratings=ratings)})

    def combined(self, proposal: Proposal, weights: Floats | None = None) -> Answers:
        """With the ratings of a candidate that is made of several askings: their mean, or with `weights` (c, k). A
        story without a rating by one of them has none."""
        parts = [self.by[name] for name in proposal.of]
        stacked = np.stack([part.ratings for part in parts], axis=1)
        rows = stacked.mean(axis=1) if weights is None else np.einsum("ck,ckn->cn", weights, stacked)
        counts = (np.sum([part.asked for part in parts], axis=0), np.sum([part.rated for part in parts], axis=0))
        return replace(self, by={**self.by, proposal.name: Asked(rows, *counts)})


def matrix_of(folder: Path) -> RatingMatrix:
    """The ratings in a result folder."""
    return build(read([folder]))[0]


def _rows(matrix: RatingMatrix, criteria: Sequence[str]) -> dict[str, Asked]:
    """The answers by each Eval-Prompt of a matrix, on these criteria."""
    place = {(cell.eval_prompt, cell.criterion): i for i, cell in enumerate(matrix.cells)}
    rows = {
        name: [place[name, c] for c in criteria] for name in dict.fromkeys(cell.eval_prompt for cell in matrix.cells)
    }
    return {name: Asked(matrix.judge[at], matrix.asked[at], matrix.valid[at]) for name, at in rows.items()}


def answers_of(folder: Path, criteria: Sequence[str], groups: Mapping[str, int], systems: Sequence[str]) -> Answers:
    """Answers in a result folder. `groups` is the number of each story's story-prompt, `systems` all systems' names.

    Raises SpecError where people rated none of the criteria.
    """
    matrix = matrix_of(folder)
    partner = match(matrix)
    people = {cell.criterion: j for cell, j in zip(matrix.cells, partner.partner, strict=True) if j is not None}
    rated = [name for name in criteria if name in people]
    if not rated:
        raise SpecError(
            str(partner.reason or "people rated none of the run's criteria"), hint="judge people has them rated"
        )
    code = {name: number for number, name in enumerate(systems)}
    return Answers(
        tuple(rated),
        tuple(map(str, matrix.stories["story"])),
        matrix.people[[people[name] for name in rated]],
        _rows(matrix, rated),
        np.array([groups.get(str(story), -1) for story in matrix.stories["story"]], dtype=np.int64),
        np.array([code[matrix.systems[s]] for s in matrix.system], dtype=np.int64),
        tuple(systems),
        matrix.stories["words"].to_numpy(dtype=np.float64, na_value=np.nan),
    )


def joined(parts: Sequence[Answers]) -> Answers:
    """Answers about different stories as one, of the Eval-Prompts and candidates that all of them have."""
    return reduce(_joined, parts)


def _joined(first: Answers, other: Answers) -> Answers:
    def both(one: Asked, two: Asked) -> Asked:
        ratings = np.concatenate([one.ratings, two.ratings], axis=1)
        asked = np.concatenate([one.asked, two.asked], axis=1)
        return Asked(ratings, asked, np.concatenate([one.rated, two.rated], axis=1))

    return replace(
        first,
        stories=(*first.stories, *other.stories),
        people=np.concatenate([first.people, other.people], axis=1),
        by={name: both(rows, other.by[name]) for name, rows in first.by.items() if name in other.by},
        group=np.concatenate([first.group, other.group]),
        system=np.concatenate([first.system, other.system]),
        words=np.concatenate([first.words, other.words]),
    )


def part(answers: Answers, base: Sequence[str], other: str) -> Part:
    """The test part in which `other` is set against the mean of the askings `base`."""
    stacked = np.stack([answers.ratings(name) for name in base])
    return Part(answers.people, stacked, answers.ratings(other), answers.group, answers.system)
