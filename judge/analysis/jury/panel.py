"""The panel of a jury: its member judges, and the columns that may be used to predict one criterion.

A *member* is a judge with an Eval-Prompt (of one run). Its *own* column is its rating of the criterion to be predicted.
With the option for all criteria, its ratings of other criteria are predictors too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.control import Surface
from judge.analysis.inputs.criterion_matching import match
from judge.base.errors import SpecError, unknown_value
from judge.base.wording import Advice, Note

if TYPE_CHECKING:
    from judge.analysis.options.table_options import JuryOptions
    from judge.ratings.rating_matrix import Cell, RatingMatrix

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEAST_GROUPS = 4
"""Folds within folds need at least this many story-prompts (or systems) with people's ratings."""


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """The data from which a jury predicts human ratings of one criterion.

    A member of the jury is a judge with an Eval-Prompt.

    Attributes
    ----------
    criterion : str
        The human criterion.
    people : array, shape (n stories,)
        Mean human ratings; NaN = not rated.
    predictors : array, shape (n, p predictors)
        Members' ratings and, if requested, features of the stories; NaN = none. All panels share one array if the
        ratings of all criteria are used.
    labels : tuple of str, length p
        `JUDGE EVAL-PROMPT`, followed by `: CRITERION` for ratings of another criterion; or `feature: NAME`.
    sources : tuple of str, length p
        The member of each column, or `feature: NAME`.
    own : array of bool, shape (p,)
        Mask of the members' ratings of the criterion itself.
    present : array of bool, shape (n,)
        Mask of the stories that enough members rated; only these get a rating of the jury.
    groups : tuple of str, length n
        Stories with the same entry are held out together. The entry is the story-prompt, or the system.
    """

    criterion: str
    people: Floats
    predictors: Floats
    labels: tuple[str, ...]
    sources: tuple[str, ...]
    own: Bools
    present: Bools
    groups: tuple[str, ...]

    @property
    def members(self) -> int:
        """Number of members (judges with an Eval-Prompt) that rated the criterion."""
        return len({source for source, own in zip(self.sources, self.own, strict=True) if own})

    @property
    def usable(self) -> Bools:
        """Mask of the stories that people and enough members of the jury rated, shape (n stories,).

        Only these stories are used for fitting and scoring.
        """
        return np.asarray(self.present & ~np.isnan(self.people), dtype=np.bool_)

    @property
    def reason(self) -> str | None:
        """The reason why no jury can be computed on this criterion; None if it can be."""
        groups = len({self.groups[i] for i in np.flatnonzero(self.usable)})
        if groups < LEAST_GROUPS:
            return (
                f"a jury is fitted in folds within folds: it needs {LEAST_GROUPS} story-prompts (or systems) that "
                f"people and members rated, here are {groups}"
            )
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Panels:
    """The data of a jury on one dataset: one panel for each criterion that people and members rated.

    `groups` says which stories are held out together. `surface` holds the features of the stories that the control
    judge uses.
    """

    matrix: RatingMatrix
    panels: tuple[Panel, ...]
    groups: tuple[str, ...]
    surface: Surface
    notes: tuple[str, ...]


def member(cell: Cell) -> str:
    """The name of a member, `JUDGE EVAL-PROMPT`, in the form that the option `members` takes."""
    return f"{cell.judge} {cell.eval_prompt}"


def panels(matrix: RatingMatrix, options: JuryOptions, controls: Collection[str] = ()) -> Panels:
    """The data from which a jury predicts human ratings on one dataset, for each criterion.

    `controls` names control judges. They were fitted on human ratings, perhaps of these stories, and are members only
    if named, or if there are no other judges.

    Raises
    ------
    SpecError
        A member does not exist, or features are requested that are not known.
    """
    matches = match(matrix)
    notes = list(matches.notes)
    chosen = _chosen(matrix, options.members, controls, notes)
    names = _labels([matrix.cells[i] for i in chosen])
    partner = np.array([-1 if matches.partner[i] is None else matches.partner[i] for i in chosen], dtype=np.int64)
    ratings = matrix.judge[chosen].T
    surface = Surface.of(matrix.stories)
    features = _features(matrix, surface, notes) if options.with_features else np.empty((matrix.n, 0))
    groups = surface.groups if options.hold_out == "story-prompt" else _systems(matrix)
    every = np.column_stack([ratings, features])
    usable = []
    for j, criterion in enumerate(matrix.criteria):
        own = partner == j
        if not own.any():
            continue
        kept = np.ones(own.size, dtype=bool) if options.all_criteria else own
        predictors = every if options.all_criteria else np.column_stack([ratings[:, kept], features])
        labels = [
            label
            if matrix.cells[i].criterion.casefold() == criterion.casefold()
            else f"{label}: {matrix.cells[i].criterion}"
            for label, i, keep in zip(names, chosen, kept, strict=True)
            if keep
        ]
        extra = [f"feature: {name}" for name in surface.names[: features.shape[1]]]
        sources = [*(name for name, keep in zip(names, kept, strict=True) if keep), *extra]
        is_own = np.concatenate([own[kept], np.zeros(features.shape[1], dtype=bool)])
        present = (~np.isnan(ratings[:, own])).sum(axis=1) >= options.min_members
        columns = (tuple(labels + extra), tuple(sources), is_own)
        usable.append(Panel(criterion, matrix.people[j], predictors, *columns, present, groups))
    if not usable:
        notes.append(matches.reason or f"{matrix.dataset}: no member rated a criterion that people rated")
    return Panels(matrix, tuple(usable), groups, surface, tuple(notes))


def _chosen(matrix: RatingMatrix, members: Sequence[str], controls: Collection[str], notes: list[str]) -> list[int]:
    """Row numbers in the matrix of the members named by judge, or by judge and Eval-Prompt.

    If no member is named, these are the rows of all judges but control judges.
    """
    names = {name for cell in matrix.cells for name in (cell.judge, member(cell))}
    for word in members:
        if word not in names:
            raise unknown_value("members", word, names)
    if members:
        wanted = set(members)
        return [i for i, cell in enumerate(matrix.cells) if not wanted.isdisjoint((cell.judge, member(cell)))]
    judges = [i for i, cell in enumerate(matrix.cells) if cell.judge not in controls]
    if not judges:
        return list(range(len(matrix.cells)))
    if len(judges) < len(matrix.cells):
        left = ", ".join(dict.fromkeys(cell.judge for cell in matrix.cells if cell.judge in controls))
        sentence = f"{left} is a control, fitted on people's ratings, and no member of the jury"
        notes.append(Note(sentence, Advice("unless {members} says so"), joint=" "))
    return judges


def _labels(cells: Sequence[Cell]) -> list[str]:
    """Members' names, preceded by the run where two runs have the same judge and Eval-Prompt."""
    runs: dict[str, set[str]] = {}
    for cell in cells:
        runs.setdefault(member(cell), set()).add(cell.run)
    return [f"{cell.run}: {member(cell)}" if len(runs[member(cell)]) > 1 else member(cell) for cell in cells]


def _features(matrix: RatingMatrix, surface: Surface, notes: list[str]) -> Floats:
    blank = int(surface.blank.sum())
    if blank == matrix.n:
        raise SpecError(
            Advice("{with_features} needs the stories' texts or imported features, and these results have neither"),
            hint=Advice("leave {with_features} out"),
        )
    if blank:
        notes.append(f"{blank} of {matrix.n} stories have no features: regressions read them as the training mean")
    return np.where(surface.blank[:, None], np.nan, surface.rows)


def _systems(matrix: RatingMatrix) -> tuple[str, ...]:
    return tuple(matrix.systems[code] if code >= 0 else f"story {i}" for i, code in enumerate(matrix.system))
