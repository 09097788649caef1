"""Finds the stories on which the ratings of judge and people, repeats, Eval-Prompts or judges differ most.

It does not say who is right. Ratings are standardised by rater, so that leniency is no disagreement. Each story is
listed once, with its largest difference; if all stories are requested, once for each judge, Eval-Prompt and criterion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import pandas as pd

from judge.analysis.disagreement_tables import Disagreement, Disagreements, JudgeSide, PeopleSide, RaterRating, Repeat
from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import signature_parts
from judge.analysis.options.table_options import Between, DisagreementsOptions
from judge.base.arrays import number
from judge.base.errors import SpecError
from judge.base.wording import Advice, joined
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement import disagreement
from judge.stats.agreement.disagreement import Distance


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The ratings that are compared on every story of a dataset, and their `distance`. `cells` are rows of the rating
    matrix: of a single judge, or of the judges or Eval-Prompts that are compared; then `judge` or `eval_prompt` is
    None. The human criterion `people` is compared only with a judge, else shown for information."""

    matrix: RatingMatrix
    cells: tuple[int, ...]
    people: int | None
    judge: str | None
    eval_prompt: str | None
    criterion: str
    distance: Distance


def disagreements(table: RatingsTable, options: DisagreementsOptions | None = None) -> Disagreements:
    """The stories on which ratings differ most, largest first. Raises SpecError where nothing can be compared."""
    options = options or DisagreementsOptions()
    table = numbers(table, needed=True)
    matrices = build(table, drop_systems=options.drop_systems)
    comparisons: list[Comparison] = []
    notes = list(table.notes)
    for matrix in matrices:
        partner = match(matrix)
        notes += partner.notes
        comparisons += _comparisons(matrix, partner.partner, options.between)
    usable = [comparison for comparison in comparisons if comparison.distance.reason is None]
    reasons = {comparison.distance.reason: None for comparison in comparisons if comparison.distance.reason}
    if not usable:
        why = "; ".join(str(reason) for reason in reasons) or _NOTHING[options.between]
        raise SpecError(
            f"nothing to compare between {options.between}: {why}", hint=_instead(matrices, options.between)
        )
    for reason in reasons:
        count = sum(comparison.distance.reason == reason for comparison in comparisons)
        notes.append(joined(f"{count} of {len(comparisons)} comparisons left out: ", reason))
    places = _ranked(usable, options.top)
    answers = _answers(table.frame, usable, places)
    rows = tuple(_row(rank, usable[which], story, answers) for rank, (which, story) in enumerate(places, start=1))
    if not rows:
        notes.append(f"no story differs between {options.between}")
    compared = {
        (id(comparison.matrix), s)
        for comparison in usable
        for s in np.flatnonzero(~np.isnan(comparison.distance.standardised))
    }
    return Disagreements(
        rows,
        len(compared),
        tuple(matrix.dataset for matrix in matrices),
        options,
        labels=table.labels,
        signature_parts=signature_parts(table, matrices, options),
        notes=tuple(notes),
    )


_NOTHING = {
    "people": "people rated none of the judge's criteria",
    "repeats": "no judge was asked",
    "eval-prompts": "each judge was asked with one Eval-Prompt",
    "judges": "there is one judge",
}


def _instead(matrices: Sequence[RatingMatrix], between: str) -> str | None:
    could = [
        other
        for other in get_args(Between)
        if other != between
        and any(
            comparison.distance.reason is None
            for m in matrices
            for comparison in _comparisons(m, match(m).partner, other)
        )
    ]
    options = [Advice("{between}", between=other) for other in could]
    return Advice(f"these ratings can be compared by {' or '.join(['{}'] * len(options))}", *options) if could else None


def _comparisons(matrix: RatingMatrix, partner: Sequence[int | None], between: Between) -> Iterator[Comparison]:
    cells = matrix.cells
    if between in ("people", "repeats"):
        for i, cell in enumerate(cells):
            j = partner[i]
            if between == "repeats":
                distance = _repeats(matrix, i)
            elif j is not None:
                distance = disagreement.between_two(matrix.judge[i], matrix.people[j])
            else:
                continue
            yield Comparison(matrix, (i,), j, cell.judge, cell.eval_prompt, cell.criterion, distance)
        return
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, cell in enumerate(cells):
        if between == "eval-prompts":
            groups[cell.run, cell.judge, cell.criterion].append(i)
        elif between == "judges":
            groups[cell.eval_prompt, cell.criterion].append(i)
        else:
            raise ValueError(f"nothing is compared between {between}")
    for group in groups.values():
        if len(group) > 1:
            first = cells[group[0]]
            judge = first.judge if between == "eval-prompts" else None
            eval_prompt = first.eval_prompt if between == "judges" else None
            distance = disagreement.among(matrix.judge[group])
            yield Comparison(matrix, tuple(group), partner[group[0]], judge, eval_prompt, first.criterion, distance)


def _repeats(matrix: RatingMatrix, cell: int) -> Distance:
    if matrix.means[cell]:
        nothing = np.full(matrix.n, np.nan)
        return Distance(nothing[None, :], nothing, nothing, "repeats of imported ratings are not in the file")
    return disagreement.among_repeats(matrix.wide(cell))


def _ranked(usable: Sequence[Comparison], top: int) -> list[tuple[int, int]]:
    """Indices of comparison and story, largest difference first: `top` stories, or all for 0."""
    size = np.concatenate([np.abs(comparison.distance.standardised) for comparison in usable])
    which = np.repeat(np.arange(len(usable)), [comparison.matrix.n for comparison in usable])
    story = np.concatenate([np.arange(comparison.matrix.n) for comparison in usable])
    # Rounded, so that noise of 1e-16 does not decide between equal differences: then the order of the table does.
    size = np.round(size, 9)
    kept = int(((size > 0) if top else ~np.isnan(size)).sum())
    order = np.argsort(np.where(np.isnan(size), np.inf, -size), kind="stable")[:kept]
    if top == 0:
        return [(int(which[k]), int(story[k])) for k in order]
    places: dict[tuple[int, int], tuple[int, int]] = {}
    for k in order:
        key = (id(usable[which[k]].matrix), int(story[k]))
        if key not in places:
            places[key] = (int(which[k]), int(story[k]))
            if len(places) == top:
                break
    return list(places.values())


_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Answers:
    """Human ratings by (dataset, story, criterion); judges' repeats by run, judge and Eval-Prompt too."""

    people: dict[_Key, list[RaterRating]]
    judges: dict[_Key, list[Repeat]]


def _answers(frame: pd.DataFrame, usable: Sequence[Comparison], places: Sequence[tuple[int, int]]) -> _Answers:
    wanted = {str(usable[which].matrix.stories["story"].iloc[story]) for which, story in places}
    answers = _Answers(defaultdict(list), defaultdict(list))
    part = frame[frame["story"].astype(str).isin(wanted)]
    plain = part.astype(object).where(part.notna(), None)
    for row in plain.to_dict("records"):
        key = (str(row["dataset"]), str(row["story"]), str(row["criterion"]))
        if row["source"] == "rater":
            answers.people[key].append(RaterRating(row["rater"], row["rating"]))
        else:
            repeat = Repeat(row["repeat"], row["rating"], row["status"], row["flags"], row["explanation"])
            answers.judges[*key, str(row["run"]), str(row["judge"]), str(row["eval_prompt"])].append(repeat)
    return answers


def _row(rank: int, comparison: Comparison, story: int, answers: _Answers) -> Disagreement:
    facts = comparison.matrix.stories.iloc[story]
    return Disagreement(
        rank=rank,
        dataset=comparison.matrix.dataset,
        judge=comparison.judge,
        eval_prompt=comparison.eval_prompt,
        criterion=comparison.criterion,
        story=str(facts["story"]),
        system=None if pd.isna(facts["system"]) else str(facts["system"]),
        story_prompt=None if pd.isna(facts["story_prompt"]) else str(facts["story_prompt"]),
        difference=float(comparison.distance.standardised[story]),
        raw=float(comparison.distance.raw[story]),
        people=_people(comparison, story, answers),
        sides=tuple(_sides(comparison, story, answers)),
        text="" if pd.isna(facts["text"]) else str(facts["text"]),
    )


def _people(comparison: Comparison, story: int, answers: _Answers) -> PeopleSide | None:
    if comparison.people is None:
        return None
    matrix, z = comparison.matrix, comparison.distance.z
    criterion = matrix.criteria[comparison.people]
    ratings = answers.people.get((matrix.dataset, str(matrix.stories["story"].iloc[story]), criterion), [])
    compared = float(z[len(comparison.cells), story]) if z.shape[0] > len(comparison.cells) else np.nan
    return PeopleSide(criterion, number(matrix.people[comparison.people, story]), number(compared), tuple(ratings))


def _sides(comparison: Comparison, story: int, answers: _Answers) -> Iterator[JudgeSide]:
    matrix = comparison.matrix
    name = str(matrix.stories["story"].iloc[story])
    for k, i in enumerate(comparison.cells):
        cell = matrix.cells[i]
        key = (matrix.dataset, name, cell.criterion, cell.run, cell.judge, cell.eval_prompt)
        repeats = sorted(answers.judges.get(key, []), key=lambda said: -1 if said.repeat is None else said.repeat)
        mean, z = number(matrix.judge[i, story]), number(comparison.distance.z[k, story])
        yield JudgeSide(cell.run, cell.judge, cell.eval_prompt, mean, z, tuple(repeats))
