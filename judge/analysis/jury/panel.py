"""The panel of a jury: its member judges, and the columns that may be used to predict one criterion.

A *member* is a judge with an Eval-Prompt (of one run). Its *own* column is its rating of the criterion to be predicted.
With the option for all criteria, its ratings of other criteria are predictors too."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.control import Surface
from judge.analysis.options.table_options import NamedCombiner
from judge.base.arrays import Floats, Masks
from judge.base.choices import registry
from judge.base.errors import SpecError, unknown_value
from judge.base.wording import Advice, Note
from judge.stats import near_ties
from judge.stats.correlation import kendall
from judge.stats.regression.calibration import fit_calibration
from judge.stats.regression.ordinal import fit_ordinal
from judge.stats.regression.ridge import RankScores, RidgeFit, fit_rank_scores, fit_ridge, fit_stack

if TYPE_CHECKING:
    from judge.analysis.options.table_options import JuryOptions
    from judge.ratings.rating_matrix import Cell, RatingMatrix


# Methods that combine the ratings of a jury's members into one, fitted on training stories to predict held-out ones.

Rows = NDArray[np.int64]

# A column scaled up by g is penalised g^2 times less: how far a criterion's own ratings may count for more.
OWN_FACTORS = (1.0, 2.0, 4.0)

# A ridge penalty is residual variance / prior variance of a weight; a logistic latent residual has variance pi^2/3.
LOGIT_PENALTY = 3 / math.pi**2


class Split:
    """The predictors of a jury for training and held-out stories; criteria and combiners share their rank scores."""

    def __init__(self, predictors: Floats, train: Rows, held_out: Rows) -> None:
        self.train, self.held_out = predictors[train], predictors[held_out]

    @cached_property
    def ranks(self) -> RankScores:
        """Transformation to rank scores, fitted on the training stories."""
        return fit_rank_scores(self.train)

    @cached_property
    def scored(self) -> tuple[Floats, Floats]:
        """Rank scores of the training stories and of the held-out stories."""
        return self.ranks.apply(self.train), self.ranks.apply(self.held_out)


@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """A combiner's ratings of held-out stories (NaN = none, for the `reason`), and its weights of the p predictors,
    shape (p,), in points of the human scale per standard deviation of the predictor."""

    predicted: Floats
    weights: Floats | None = None
    reason: str | None = None


# From a split, people's ratings of its training rows (no NaN), and which predictors are the criterion's own.
Combiner = Callable[[Split, Floats, Masks], Combined]


def _mean(split: Split, people: Floats, own: Masks) -> Combined:  # noqa: ARG001  nothing is fitted
    return Combined(_over_present(np.nanmean, split.held_out[:, own]))


def _median(split: Split, people: Floats, own: Masks) -> Combined:  # noqa: ARG001  nothing is fitted
    return Combined(_over_present(np.nanmedian, split.held_out[:, own]))


def _calibrated(split: Split, people: Floats, own: Masks) -> Combined:
    columns = [
        fit_calibration(split.train[:, j], people, "isotonic").predict(split.held_out[:, j])
        for j in np.flatnonzero(own)
    ]
    return Combined(_over_present(np.nanmean, np.column_stack(columns)))


def _weighted(split: Split, people: Floats, own: Masks) -> Combined:
    train, held_out = split.train[:, own], split.held_out[:, own]
    mean = _over_present(np.nanmean, train.T)
    spread = _over_present(np.nanstd, train.T)
    scale = np.where(spread > 1e-12, spread, 1.0)
    fitted = fit_stack(np.nan_to_num((train - mean) / scale), people)
    weights = np.zeros(own.size)
    weights[own] = fitted.weights
    return Combined(fitted.predict(np.nan_to_num((held_out - mean) / scale)), weights)


def _ridge(split: Split, people: Floats, own: Masks) -> Combined:
    fitted, factors = _best_ridge(split, people, own)
    return Combined(fitted.predict(split.scored[1] * factors), fitted.weights * factors)


def _ordinal(split: Split, people: Floats, own: Masks) -> Combined:
    ridge, factors = _best_ridge(split, people, own)
    train, held_out = split.scored
    model = fit_ordinal(train * factors, people, ridge.penalty * LOGIT_PENALTY)
    if isinstance(model, str):
        return Combined(np.full(len(held_out), np.nan), reason=f"no ordinal model: {model}")
    return Combined(model.predict(held_out * factors), model.weights * factors)


@dataclass(frozen=True, slots=True)
class CombinerRecord:
    """All that depends on the choice of a combiner. `combine` is None for the stack, which weighs other combiners
    against each other (`stacked` of these is true). `fitted` is false if the ratings are on the members' scale; all
    others predict people's mean. `own_only`: predictors of other criteria are not read and have no weight. ``auto``
    chooses among the `candidate` ones."""

    combine: Combiner | None
    fitted: bool = True
    own_only: bool = False
    stacked: bool = False
    candidate: bool = False


# The combiners. Where candidates agree equally well with people, the first one is chosen.
COMBINERS: Mapping[NamedCombiner, CombinerRecord] = registry(
    NamedCombiner,
    {
        "mean": CombinerRecord(_mean, fitted=False, stacked=True, candidate=True),
        "median": CombinerRecord(_median, fitted=False, stacked=True),
        "calibrated": CombinerRecord(_calibrated),
        "weighted": CombinerRecord(_weighted, own_only=True, stacked=True),
        "ridge": CombinerRecord(_ridge, stacked=True, candidate=True),
        "ordinal": CombinerRecord(_ordinal),
        "stack": CombinerRecord(None, candidate=True),
    },
)


def _best_ridge(split: Split, people: Floats, own: Masks) -> tuple[RidgeFit, Floats]:
    train = split.scored[0]
    choices = [np.where(own, factor, 1.0) for factor in (OWN_FACTORS if not own.all() else OWN_FACTORS[:1])]
    fits = [fit_ridge(train * factors, people) for factors in choices]
    best = near_ties.lowest([fit.press for fit in fits])
    return fits[best], choices[best]


def _over_present(statistic: Callable[..., Floats], ratings: Floats) -> Floats:
    """A statistic of each row without its NaN; NaN where nothing is left."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of numpy, for rows without a rating: NaN is what is wanted
        return np.asarray(statistic(ratings, axis=1), dtype=np.float64)


# Folds within folds need at least this many story-prompts (or systems) with people's ratings.
LEAST_GROUPS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """The data from which a jury predicts human ratings of one criterion, for n stories and p predictors.

    `people` are mean human ratings; NaN = not rated. `predictors`, shape (n, p), are members' ratings and, if
    requested, features; all panels share one array if the ratings of all criteria are used. `labels` are `JUDGE
    EVAL-PROMPT`, followed by `: CRITERION` for another criterion, or `feature: NAME`; `sources` are the member of each
    column, or `feature: NAME`. `own`, shape (p,), marks members' ratings of the criterion itself; `present`, shape
    (n,), the stories that enough members rated: only these get a rating of the jury. Stories with the same entry in
    `groups` (story-prompt or system) are held out together."""

    criterion: str
    people: Floats
    predictors: Floats
    labels: tuple[str, ...]
    sources: tuple[str, ...]
    own: Masks
    present: Masks
    groups: tuple[str, ...]

    @property
    def members(self) -> int:
        """Number of members that rated the criterion."""
        return len({source for source, own in zip(self.sources, self.own, strict=True) if own})

    @property
    def usable(self) -> Masks:
        """Mask, shape (n stories,), for fitting and scoring: rated by people and by enough members."""
        return np.asarray(self.present & ~np.isnan(self.people), dtype=np.bool_)

    @property
    def reason(self) -> str | None:
        """Why no jury can be computed on this criterion; None if it can be."""
        groups = len({self.groups[i] for i in np.flatnonzero(self.usable)})
        if groups < LEAST_GROUPS:
            return (
                f"a jury is fitted in folds within folds: it needs {LEAST_GROUPS} story-prompts (or systems) that "
                f"people and members rated, here are {groups}"
            )
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Panels:
    """The data of a jury on one dataset, one panel per criterion. Stories with equal `groups` are held out together;
    `surface` has the features that the control judge uses."""

    matrix: RatingMatrix
    panels: tuple[Panel, ...]
    groups: tuple[str, ...]
    surface: Surface
    notes: tuple[str, ...]


def member(cell: Cell) -> str:
    """The name of a member, in the form that the option `members` takes."""
    return f"{cell.judge} {cell.eval_prompt}"


def panels(matrix: RatingMatrix, options: JuryOptions, controls: Collection[str] = ()) -> Panels:
    """The data from which a jury predicts human ratings, for each criterion. `controls` were fitted on human ratings,
    perhaps of these stories, and are members only if named, or without other judges. Raises SpecError if a member does
    not exist, or requested features are not known."""
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
    """Rows of the members named by judge, or by judge and Eval-Prompt; without names, of all but control judges."""
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


def best_single(panel: Panel, rows: Rows | slice = slice(None)) -> int:
    """Column of the member with the highest tau with people on `rows`, the first of those within 1e-9."""
    people = kendall.codes(panel.people[rows])
    columns = np.flatnonzero(panel.own)
    taus = [kendall.tau_b(kendall.codes(panel.predictors[rows, j]), people) for j in columns]
    return int(columns[near_ties.highest(taus)])
