"""Discrimination of labelled stories by judges: point-biserial r with its bound, AUC, paired win rate.

The label is what people gave: a criterion with two values, or a rule on their mean rating. Each judge criterion is a
row. With error types, the stories that have the label (reasonable ones) are set against one error type at a time, as
OpenMEVA does; the same reasonable stories then stand in every set, and a story with two errors in two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.agreement.label_rules import Labels, labels
from judge.analysis.inputs.bars import Predict, Remarks
from judge.analysis.inputs.candidates import Candidate, Subject, control, judge_cell
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.subject_rows import cells
from judge.analysis.options.agreement_options import LabelOptions
from judge.analysis.options.signature import signature_parts
from judge.analysis.options.signed import Signed
from judge.printing.tables import Column, flat_row
from judge.rating_matrix import RatingMatrix, build
from judge.stats.correlation import coefficients
from judge.stats.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.estimation.equivalence import tost
from judge.stats.ordering.win_rate import win_rate
from judge.stats.resampling import bootstrap
from judge.stats.shares.auc import auc, point_biserial, resampled_auc

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]

_MIN_UNITS = 5
_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "label", "other")
_LOST = ("repeats", "unrated", "missing")
_NUMBERS = tuple(
    Column(name, name)
    for name in (
        *("r", "bound", "normal_bound", "auc", "win_rate", "difference", "equivalence"),
        *("with_label", "without_label", "pairs", "wins", "ties", "losses", "story_prompts", "tost_p"),
    )
)


@dataclass(frozen=True, slots=True)
class LabelRow:
    """How well a judge cell or the control separates stories with a label from the others.

    Attributes
    ----------
    label, other : str
        The label, and what it is set against.
    r, auc, win_rate, difference : Estimate
        Point-biserial r; area under the ROC curve; within story-prompts the share of pairs that the labelled story
        wins, and the mean difference in points.
    bound, normal_bound : float or None
        The largest |r| with these class sizes; where ratings are normal.
    with_label, without_label : int or None
        Stories.
    pairs, wins, ties, losses : int or None
        Pairs within `story_prompts`.
    equivalence, tost_p
        The difference with its 90 % interval and the p of two one-sided tests, where bounds were given.
    """

    subject: Subject
    label: str
    other: str
    r: Estimate
    auc: Estimate
    win_rate: Estimate
    difference: Estimate
    bound: float | None = None
    normal_bound: float | None = None
    with_label: int | None = None
    without_label: int | None = None
    pairs: int | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    story_prompts: int | None = None
    equivalence: Estimate | None = None
    tost_p: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Discrimination(Signed):
    """Discrimination of labelled stories by every judge cell and by the control."""

    rows: tuple[LabelRow, ...]
    options: LabelOptions

    @property
    def frame(self) -> pd.DataFrame:
        """A frame with one row for each rater and label, and with `signature` and `notes` in its `attrs`.

        What its subject is called and lost, then the fields of `LabelRow`: an estimate has `_n` and, where there is
        one, `_low, _high, _reason` beside it.
        """
        rows = [cells(row) for row in self.rows]
        return self.signed([{key: row[key] for key in (*_ABOUT, *_LOST)} | flat_row(row, _NUMBERS) for row in rows])


def discrimination(table: RatingsTable, options: LabelOptions, *, predict: Predict | None = None) -> Discrimination:
    """Discrimination of labelled stories from others, by every judge cell and the control."""
    table = numbers(table)
    matrices, remarks = build(table, drop_systems=options.drop_systems), Remarks()
    remarks.note(note for fact in table.facts for note in fact.notes)
    rows: list[LabelRow] = []
    for matrix in matrices:
        rows += _Labelled(matrix, options, remarks).rows(predict if options.control else None)
    statistics = ["win-rate:clustered", "difference:clustered", *remarks.signature_parts]
    parts = signature_parts(table, matrices, options, extra=statistics)
    return Discrimination(tuple(rows), options, signature_parts=parts, notes=tuple(remarks.notes))


class _Labelled:
    """One dataset: its label, what it is set against, and the resamples that all rows share."""

    def __init__(self, matrix: RatingMatrix, options: LabelOptions, remarks: Remarks) -> None:
        self.matrix, self.options, self.remarks = matrix, options, remarks
        self.label = labels(matrix, options.labels)
        self.errors = [labels(matrix, words, "errors") for words in options.errors]
        if any(rule.by_rule for rule in (self.label, *self.errors)):
            remarks.notes[
                "labels made by a rule from people's ratings: the threshold decides how far apart the classes lie, and "
                "r is not comparable with a correlation over all ratings"
            ] = None
        self.resamples = self._draw()

    def rows(self, predict: Predict | None) -> list[LabelRow]:
        """Rows for each set of stories compared with the labelled ones: the judge cells, then the control."""
        matrix = self.matrix
        dataset_candidates = [judge_cell(matrix, i, None, None) for i in range(len(matrix.cells))]
        if predict is not None:
            dataset_candidates.append(control(matrix, self.label.criterion, predict, self.remarks))
        sets: list[Labels | None] = [*self.errors] if self.errors else [None]
        return [self._row(candidate, error) for error in sets for candidate in dataset_candidates]

    def _row(self, candidate: Candidate, error: Labels | None) -> LabelRow:
        nothing = Estimate.undefined(candidate.reason or "no ratings")
        other = error.text if error else f"not {self.label.text}"
        row = LabelRow(candidate.subject, self.label.text, other, nothing, nothing, nothing, nothing)
        return row if candidate.ratings is None else self._measured(row, candidate.ratings, *self._classes(error))

    def _classes(self, error: Labels | None) -> tuple[Flags, Flags]:
        """Stories in the set, and those of them that have the label."""
        if error is None:
            return self.label.rated, self.label.holds
        both = self.label.holds & error.holds
        if both.any():
            words = f"{int(both.sum())} stories have both {self.label.text} and {error.text}"
            self.remarks.notes[f"{self.matrix.dataset}: {words}"] = None
        return self.label.holds ^ error.holds, self.label.holds & ~both

    def _measured(self, row: LabelRow, rating: Floats, taken: Flags, label: Flags) -> LabelRow:
        x = np.where(taken, rating, np.nan)
        correlation, prompt, area = point_biserial(x, label), self.matrix.story_prompt, auc(x, label)
        r = correlation.r
        if self.options.ci != "delong":
            y = np.where(taken, label.astype(np.float64), np.nan)
            r = self._interval(r, coefficients.resampled(x, y, "pearson"))
            bare = replace(area, low=None, high=None, method=None, reason=None) if area.defined else area
            area = self._interval(bare, resampled_auc(x, label))
        pairs, cluster = _pairs(x, label, prompt)
        won = win_rate(pairs, cluster)
        by_prompt = _by_story_prompt(x, label, prompt)
        row = replace(
            row,
            r=r,
            bound=correlation.bound,
            normal_bound=correlation.normal_bound,
            auc=area,
            with_label=correlation.positives,
            without_label=correlation.negatives,
            win_rate=won.estimate,
            pairs=won.wins + won.ties + won.losses,
            wins=won.wins,
            ties=won.ties,
            losses=won.losses,
            story_prompts=int(np.unique(cluster).size),
            difference=_difference(by_prompt),
        )
        if self.options.equivalence is None:
            return row
        shown = tost(by_prompt, -self.options.equivalence, self.options.equivalence)
        return replace(row, equivalence=shown.difference, tost_p=shown.p)

    def _interval(self, estimate: Estimate, statistic: Callable[[Codes], Floats]) -> Estimate:
        if self.resamples is None or not estimate.defined:
            return estimate
        return self.resamples.interval(estimate, self.resamples.values(statistic))

    def _draw(self) -> bootstrap.Resamples | None:
        options, matrix = self.options, self.matrix
        if not options.ci.startswith("boot"):
            return None
        unit = matrix.story_prompt if options.ci == "boot-inputs" else np.arange(matrix.n)
        name = "story-prompts" if options.ci == "boot-inputs" else "stories"
        if np.unique(unit).size < _MIN_UNITS:
            self.remarks.notes[f"{matrix.dataset}: no intervals of r and AUC, fewer than {_MIN_UNITS} {name}"] = None
            return None
        drawn = f"{options.resamples} resamples of {name}"
        note = f"intervals of r and AUC: expanded percentile, {drawn}, the same for every row"
        self.remarks.notes[note] = None
        return bootstrap.draw(unit, options.resamples, np.random.default_rng(options.seed), options.ci)


def _pairs(rating: Floats, label: Flags, prompt: Codes) -> tuple[Floats, Codes]:
    """Differences, labelled minus other, of all pairs of stories for one story-prompt, and their story-prompts."""
    rated = ~np.isnan(rating)
    high, low = np.flatnonzero(rated & label), np.flatnonzero(rated & ~label)
    order = low[np.argsort(prompt[low], kind="stable")]
    first = np.searchsorted(prompt[order], prompt[high], side="left")
    count = np.searchsorted(prompt[order], prompt[high], side="right") - first
    i = np.repeat(high, count)
    j = order[np.arange(i.size) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)]
    return rating[i] - rating[j], prompt[i]


def _by_story_prompt(rating: Floats, label: Flags, prompt: Codes) -> Floats:
    """Mean of the labelled minus mean of the other stories for each story-prompt that has both."""
    rated = ~np.isnan(rating)
    prompts = int(prompt.max()) + 1 if prompt.size else 0
    sides = []
    for which in (rated & label, rated & ~label):
        count = np.bincount(prompt[which], minlength=prompts)
        total = np.bincount(prompt[which], weights=rating[which], minlength=prompts)
        with np.errstate(invalid="ignore", divide="ignore"):
            sides.append(np.where(count > 0, total / count, np.nan))
    differences = sides[0] - sides[1]
    return np.asarray(differences[~np.isnan(differences)], dtype=np.float64)


def _difference(by_prompt: Floats) -> Estimate:
    if not by_prompt.size:
        return Estimate.undefined("undefined: no story-prompt has stories of both kinds")
    return means.clustered(by_prompt, np.arange(by_prompt.size))
