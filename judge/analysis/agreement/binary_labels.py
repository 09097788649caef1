"""How well judges discriminate labelled stories from others: point-biserial r with its bound, AUC, paired win rate.

The label comes from people: a criterion with two values, or a threshold on their mean rating. If error types are given,
stories with the label (reasonable stories) are compared with the stories of one error type at a time, as in OpenMEVA.
Every comparison uses the same reasonable stories, and a story with two errors occurs in two comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judge.analysis.inputs.bars import Predict, Remarks
from judge.analysis.inputs.candidates import Candidate, Subject, cells, control, first_columns, judge_cell, last_columns
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.resamples import drawn_with_note
from judge.analysis.options.agreement_options import LabelOptions
from judge.analysis.options.choices import INTERVALS
from judge.analysis.options.signature import Signed, signature_parts
from judge.base.arrays import Codes, Floats, Masks, ratio
from judge.base.errors import SpecError, unknown_value
from judge.base.estimate import Estimate
from judge.base.late_pattern import late
from judge.base.printing.tables import Column, Table, cells_of, titled
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.correlation import coefficients
from judge.stats.estimation import means
from judge.stats.estimation.means import tost
from judge.stats.ordering.discrimination import auc, point_biserial, resampled_auc, score_interval
from judge.stats.ordering.ranking import win_rate

# Labels of stories derived from human ratings, by a criterion with two values or a rule with a threshold.

_RULE = late(r"^(?P<name>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<number>[+-]?\d+(?:\.\d+)?)$")
_SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Binary labels of the n stories of a dataset. `text` is the rule in full, e.g. ``Overall > 4``; `holds` is false
    for stories that people did not rate; `by_rule` says that a threshold made the labels."""

    text: str
    criterion: int
    holds: Masks
    rated: Masks
    by_rule: bool


def criterion_of(words: str) -> str:
    """Name of the human criterion in a rule such as ``Overall > 4``; text without a rule is the name."""
    rule = _RULE.match(words.strip())
    return (rule["name"] if rule else words).strip()


def labels(matrix: RatingMatrix, words: str, option: str = "labels") -> Labels:
    """Labels from a rule (``Overall > 4``), or from a criterion whose mean ratings have two values (the higher =
    label). A threshold is compared with the mean over raters; values within 1e-9 count as equal.  `option` is for
    messages. Raises SpecError if people did not rate the criterion, or without a rule its means do not have two values.
    """
    given = {option: words}
    match, name = _RULE.match(words.strip()), criterion_of(words)
    places = {criterion.casefold(): j for j, criterion in enumerate(matrix.criteria)}
    if not places:
        raise SpecError(Advice(f"{{{option}!r}}: no person rated the stories of {{}}", matrix.dataset, **given))
    if name.casefold() not in places:
        raise unknown_value(option, name, matrix.criteria)
    j = places[name.casefold()]
    mean, title = matrix.people[j], matrix.criteria[j]
    rated = ~np.isnan(mean)
    if match:
        threshold = float(match["number"])
        above, below = mean > threshold + _SAME, mean < threshold - _SAME
        holds = {">": above, "<": below, ">=": rated & ~below, "<=": rated & ~above}[match["sign"]]
        text = f"{title} {match['sign']} {threshold:g}"
        return Labels(text, j, np.asarray(holds & rated, dtype=bool), rated, by_rule=True)
    values = np.unique(np.round(mean[rated], 9))
    if values.size != 2:
        wrong = f"people's means of {title} have {values.size} values on {matrix.dataset}, not 2"
        middle = round(float(np.median(values)), 1) if values.size else 0.0
        rule = {option: f"{title} > {middle:g}"}
        raise SpecError(
            Advice(f"{{{option}!r}}: {{}}", wrong, **given),
            hint=Advice(f"say which stories have the label, e.g. {{{option}}}", **rule),
        )
    holds = rated & (np.abs(mean - values[1]) < _SAME)
    return Labels(f"{title} = {values[1]:g}", j, np.asarray(holds, dtype=bool), rated, by_rule=False)


_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "label", "other")
_NO_PAIR = Estimate.undefined("undefined: no story-prompt has stories of both kinds")
_LOST = ("repeats", "unrated", "missing")
_NUMBERS = (
    *("r", "bound", "normal_bound", "auc", "win_rate", "difference", "equivalence"),
    *("with_label", "without_label", "pairs", "wins", "ties", "losses", "story_prompts", "tost_p"),
)


@dataclass(frozen=True, slots=True)
class LabelRow:
    """How well a judge or the control judge separates stories with a label from other stories.

    `win_rate` and `difference` (points, labelled minus other) are over pairs of a labelled and another story for the
    same story-prompt; so are `pairs`, `wins` (labelled story rated higher), `ties` and `losses`. `bound` and
    `normal_bound` are the largest possible |r| with these class sizes: in general, and for normal ratings.
    `equivalence` is `difference` with its 90 % interval, `tost_p` p of two one-sided tests; None without bounds."""

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
    """How well every judge and the control judge separate labelled stories from others."""

    rows: tuple[LabelRow, ...]
    options: LabelOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each criterion of each judge and for the control; with error types, one for each. Columns are the
        fields of `LabelRow`; estimates have `_n` and, where they apply, `_low`, `_high` and `_reason`."""
        return self.wide([cells(row) for row in self.rows], (*_ABOUT, *_LOST), _NUMBERS)


def discrimination(table: RatingsTable, options: LabelOptions, *, predict: Predict | None = None) -> Discrimination:
    """How well every judge and the control separate labelled stories from others, or from each error type's."""
    table = numbers(table)
    matrices, remarks = build(table, drop_systems=options.drop_systems), Remarks()
    remarks.note(table.notes)
    rows: list[LabelRow] = []
    for matrix in matrices:
        rows += _Labelled(matrix, options, remarks).rows(predict if options.control else None)
    statistics = ["win-rate:clustered", "difference:clustered", *remarks.signature_parts]
    parts = signature_parts(table, matrices, options, extra=statistics)
    return Discrimination(tuple(rows), options, signature_parts=parts, notes=tuple(remarks.notes))


class _Labelled:
    def __init__(self, matrix: RatingMatrix, options: LabelOptions, remarks: Remarks) -> None:
        self.matrix, self.options, self.remarks = matrix, options, remarks
        self.label = labels(matrix, options.labels)
        self.errors = [labels(matrix, words, "errors") for words in options.errors]
        if any(rule.by_rule for rule in (self.label, *self.errors)):
            remarks.notes[
                "labels made by a rule from people's ratings: the threshold decides how far apart the classes lie, and "
                "r is not comparable with a correlation over all ratings"
            ] = None
        self.resamples = drawn_with_note(matrix, options, remarks, what="intervals of r and AUC")

    def rows(self, predict: Predict | None) -> list[LabelRow]:
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

    def _classes(self, error: Labels | None) -> tuple[Masks, Masks]:
        """Masks of the stories that are compared and of those with the label, shape (n stories,)."""
        if error is None:
            return self.label.rated, self.label.holds
        # Labelled stories without the error against unlabelled stories with it.
        both = self.label.holds & error.holds
        if both.any():
            words = f"{int(both.sum())} stories have both {self.label.text} and {error.text}"
            self.remarks.notes[f"{self.matrix.dataset}: {words}"] = None
        return self.label.holds ^ error.holds, self.label.holds & ~both

    def _measured(self, row: LabelRow, rating: Floats, taken: Masks, label: Masks) -> LabelRow:
        x = np.where(taken, rating, np.nan)
        correlation, prompt, area = point_biserial(x, label), self.matrix.story_prompt, auc(x, label)
        r = correlation.r
        if not INTERVALS[self.options.ci].delong:
            y = np.where(taken, label.astype(np.float64), np.nan)
            r = self._interval(r, coefficients.resampled(x, y, "pearson"))
            bare = replace(area, low=None, high=None, method=None, reason=None) if area.defined else area
            area = self._interval(bare, resampled_auc(x, label))
            if area.low is not None and area.low == area.high:
                # Classes that are told apart perfectly are so in every resample, which is no certainty.
                area = score_interval(x, label, prompt)
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
            **cells_of(won, "wins", "ties", "losses"),
            story_prompts=int(np.unique(cluster).size),
            difference=means.clustered(by_prompt, np.arange(by_prompt.size)) if by_prompt.size else _NO_PAIR,
        )
        if self.options.equivalence is None:
            return row
        shown = tost(by_prompt, -self.options.equivalence, self.options.equivalence)
        return replace(row, equivalence=shown.difference, tost_p=shown.p)

    def _interval(self, estimate: Estimate, statistic: Callable[[Codes], Floats]) -> Estimate:
        if self.resamples is None or not estimate.defined:
            return estimate
        return self.resamples.interval(estimate, self.resamples.values(statistic))


def _pairs(rating: Floats, label: Masks, prompt: Codes) -> tuple[Floats, Codes]:
    """Labelled minus other rating of all pairs of stories with the same story-prompt, and this story-prompt."""
    rated = ~np.isnan(rating)
    high, low = np.flatnonzero(rated & label), np.flatnonzero(rated & ~label)
    order = low[np.argsort(prompt[low], kind="stable")]
    first = np.searchsorted(prompt[order], prompt[high], side="left")
    count = np.searchsorted(prompt[order], prompt[high], side="right") - first
    i = np.repeat(high, count)
    j = order[np.arange(i.size) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)]
    return rating[i] - rating[j], prompt[i]


def _by_story_prompt(rating: Floats, label: Masks, prompt: Codes) -> Floats:
    rated = ~np.isnan(rating)
    prompts = int(prompt.max()) + 1 if prompt.size else 0
    sides = []
    for which in (rated & label, rated & ~label):
        count = np.bincount(prompt[which], minlength=prompts)
        total = np.bincount(prompt[which], weights=rating[which], minlength=prompts)
        sides.append(ratio(total, count))
    differences = sides[0] - sides[1]
    return np.asarray(differences[~np.isnan(differences)], dtype=np.float64)


# Printed table of how well judges discriminate labelled stories from others.


def tables(result: Discrimination) -> list[Table]:
    options = result.options
    rows = [cells(row) for row in result.rows]
    columns = first_columns(rows)
    if options.errors:
        columns.append(Column("other", "set against"))
    columns += [
        *titled(with_label="with label", without_label="others", r="point-biserial r", bound="max |r|", auc="AUC"),
        Column("win_rate", "win rate %", digits=1, factor=100),
        *titled(pairs="pairs", story_prompts="story-prompts", difference="difference"),
    ]
    if options.equivalence is not None:
        columns.append(Column("tost_p", f"TOST p ±{options.equivalence:g}", digits=3, p="two one-sided"))
    against = "one error type at a time" if options.errors else "the others"
    title = f"Stories with the label {options.labels} against {against}"
    notes = tuple(dict.fromkeys([*result.notes, *_explained(options)]))
    return [Table(title, [*columns, *last_columns()], rows, result.signature, notes)]


def _explained(options: LabelOptions) -> list[str]:
    bound = (
        "max |r|: the largest |r| with these class sizes, reached where the labelled stories "
        "are the best rated; where classes differ in size, compare AUCs and not r"
    )
    pairs = (
        "win rate and difference: labelled against other stories for the same story-prompt, ties one half; intervals "
        "clustered by story-prompt"
    )
    notes = ["positive r, AUC above .5, win rate above 50: the judge rates stories with the label higher", bound, pairs]
    if options.equivalence is not None:
        notes.append(
            f"TOST: p below .05 shows that the mean difference by story-prompts lies within ±{options.equivalence:g} "
            "points of the judge's scale; a small difference alone may be noise"
        )
    if options.errors:
        notes.append(
            "the same stories with the label stand in every set, and a story with several errors in several: rows are "
            "not independent; stories with both the label and the error are left out, and so are those with neither: "
            "classes picked by people's ratings are easier to tell apart than all stories"
        )
    return notes
