"""Specificity of explanations: how well the criterion can be recognised from the text, against permuted labels.

A judge that writes the same about every criterion scores at the baseline. A high score does not show that explanations
are right or about the story: a judge that only names its criterion is recognised perfectly. Baselines permute the
criteria of whole queries (repeats stay together), within each story if most stories have several criteria, so that a
story's content gives no advantage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.frames import flat_frame
from judge.base.arrays import Codes, Floats
from judge.base.errors import MissingExtraError
from judge.base.estimate import Estimate
from judge.explanations.options import NumbersOptions
from judge.stats.resampling.bootstrap import deal
from judge.stats.resampling.swap_test import AgainstChance, against_chance, permuted
from judge.stats.vectors import mean_silhouette, nearest, purity

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


# Table rows of measures by judge, Eval-Prompt and criterion, and integer codes of groups of texts.


STORY = ("dataset", "story")
BY_PROMPT = ("run", "judge", "eval_prompt")
BY_CRITERION = (*BY_PROMPT, "criterion")

Found = TypeVar("Found", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Asked:
    """The group of texts of one row of results; None where a field is not known or differs between the texts."""

    run: str | None = None
    judge: str | None = None
    eval_prompt: str | None = None
    criterion: str | None = None


@dataclass(frozen=True, slots=True)
class Row(Generic[Found]):
    """Results for a group of texts; `result` is a dataclass of numbers."""

    asked: Asked
    result: Found

    @property
    def cells(self) -> dict[str, Any]:
        """The group's fields and its results as a map from column to value."""
        return {field.name: getattr(part, field.name) for part in (self.asked, self.result) for field in fields(part)}


@dataclass(frozen=True, slots=True, eq=False)
class Measured(Generic[Found]):
    """Results of one measure: its rows, the signature line under the table, and notes in full sentences."""

    rows: tuple[Row[Found], ...]
    signature: str
    notes: tuple[str, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each group; `..._low` and `..._high` end intervals, `..._reason` says why a value is missing."""
        return flat_frame((row.cells for row in self.rows), self.signature, self.notes)


def codes(frame: pd.DataFrame, columns: Sequence[str]) -> Codes:
    """Code of each row's combination of values, from 0, by first occurrence."""
    if frame.empty:
        return np.empty(0, dtype=np.int64)
    return np.asarray(frame.groupby(list(columns), sort=False, dropna=False).ngroup(), dtype=np.int64)


def story_codes(frame: pd.DataFrame) -> Codes:
    """Code of each row's story; where any row's is not known, every row counts as a story of its own."""
    return codes(frame, STORY) if bool(rows_with(frame, "story").all()) else np.arange(len(frame), dtype=np.int64)


def left_out(usable: NDArray[np.bool_], without: str) -> list[str]:
    """A note on the texts that are not `usable` because they lack what `without` names; none if all are."""
    lost = int((~usable).sum())
    return [f"{lost} texts without {without} are left out"] if lost else []


def story_prompts(frame: pd.DataFrame) -> Codes:
    """Code of each row's story-prompt, by name and not by order; an unknown one counts as a story-prompt of its own."""
    has_prompt = (frame["story_prompt"] != "").to_numpy()
    own = np.where(has_prompt, frame["story_prompt"].to_numpy(dtype=str), frame["story"].to_numpy(dtype=str))
    names = [f"{dataset}\n{has}\n{name}" for dataset, has, name in zip(frame["dataset"], has_prompt, own, strict=True)]
    return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.int64)


def groups(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[Asked, NDArray[np.int64]]]:
    """The values and positions (not index labels) of rows that have the same values in the columns, by first
    occurrence."""
    code = codes(frame, columns)
    for number in range(int(code.max()) + 1 if code.size else 0):
        rows = np.flatnonzero(code == number)
        first = frame.iloc[rows[0]]
        yield Asked(**{column: first[column] or None for column in columns}), rows


def rows_with(frame: pd.DataFrame, *columns: str) -> NDArray[np.bool_]:
    """Mask of the rows in which all given columns are known ("" = not known)."""
    return np.asarray((frame[list(columns)] != "").all(axis=1), dtype=np.bool_)


Vectors = NDArray[np.float64]

_LEAST_TEXTS, _LEAST_STORIES = 20, 10
# Share of texts in stories with several criteria from which on labels are permuted within stories.
_CROSSED = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class Specificity:
    """How well the criterion can be recognised in one group of texts, by three statistics against permuted labels.

    With too few texts, stories or criteria the statistics are None and `reason` says why. `confusion` (criteria,
    criteria) holds out-of-fold predictions: of the texts about the row's criterion, the share that is taken for the
    column's. `texts_about` (criteria,) counts texts. `within_stories`: labels were permuted within each story."""

    names: tuple[str, ...]
    texts: int
    stories: int
    silhouette: AgainstChance | None
    purity: AgainstChance | None
    accuracy: AgainstChance | None
    confusion: Floats
    texts_about: Codes
    within_stories: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ToldApart:
    """`Specificity` for tables; `..._chance` is the mean over permuted labels, None with `..._p` where undefined."""

    silhouette: Estimate
    silhouette_chance: float | None
    silhouette_p: float | None
    purity: Estimate
    purity_chance: float | None
    purity_p: float | None
    accuracy: Estimate
    accuracy_chance: float | None
    accuracy_p: float | None
    texts: int
    stories: int
    criteria: int

    @classmethod
    def of(cls, specificity: Specificity) -> ToldApart:
        """The statistics of one group of texts in the form for tables."""
        cells: dict[str, Any] = {}
        for name in ("silhouette", "purity", "accuracy"):
            against: AgainstChance | None = getattr(specificity, name)
            if against is None:
                value, chance, p = Estimate.undefined(specificity.reason or "undefined", specificity.texts), None, None
            else:
                value, chance, p = Estimate(against.value, specificity.texts), against.mean, against.p
            cells |= {name: value, f"{name}_chance": chance, f"{name}_p": p}
        return cls(**cells, texts=specificity.texts, stories=specificity.stories, criteria=len(specificity.names))


@dataclass(frozen=True, slots=True)
class TakenFor:
    """Of the `texts` about `criterion`, the share `taken` that the classifier takes for texts about `taken_for`."""

    criterion: str
    taken_for: str
    taken: float
    texts: int


def measure(
    frame: pd.DataFrame, vectors: Vectors, options: NumbersOptions, signature: str
) -> tuple[Measured[ToldApart], Measured[TakenFor]]:
    """Specificity for each judge and Eval-Prompt, and the most frequent confusions of two criteria. `vectors` (rows, d)
    have unit length. Rows without a criterion or a story are left out and counted."""
    usable = rows_with(frame, "criterion", "story")
    part, x = frame[usable], vectors[usable]
    drawn = sampled(part, options)
    rows_found = [
        Row(asked, specificity(part.iloc[places[drawn[places]]], x[places[drawn[places]]], options))
        for asked, places in groups(part, BY_PROMPT)
    ]
    worst = [pair for row in rows_found for pair in _pairs(row.asked, row.result)]
    worst.sort(key=lambda row: -row.result.taken)
    notes = [*_said(options), *left_out(usable, "a known criterion or story")]
    if len(part) > int(drawn.sum()):
        notes.append(f"{int(drawn.sum())} of {len(part)} texts, whole stories sampled at random")
    if any(row.result.reason is None and not row.result.within_stories for row in rows_found):
        notes.append(
            "stories have mostly one criterion here, so labels are permuted over all stories: criteria that occur "
            "with one kind of story then count as recognised"
        )
    listed = f"the {min(options.top, len(worst))} most confused of {len(worst)} ordered pairs, out of fold"
    rows = tuple(Row(row.asked, ToldApart.of(row.result)) for row in rows_found)
    return Measured(rows, signature, tuple(notes)), Measured(tuple(worst), signature, (listed,))


def _said(options: NumbersOptions) -> list[str]:
    return [
        "baselines: the mean over permuted labels; p: share of permutations with a value as high",
        (
            f"purity: share of the {options.neighbours} nearest texts about other stories that are about the same "
            f"criterion"
        ),
        (
            f"accuracy: logistic regression on {options.components} principal components, out of {options.folds} folds "
            "of stories, balanced over criteria"
        ),
        "high accuracy does not mean good explanations: a text that only names its criterion is classified perfectly",
    ]


def sampled(frame: pd.DataFrame, options: NumbersOptions) -> NDArray[np.bool_]:
    """Mask of the texts that are analysed: an equal share for each pair of judge and Eval-Prompt. It is filled with all
    texts about randomly chosen stories or, if the first of these has too many, with a part of them. What a pair does
    not use goes to the pairs with more texts."""
    rng = np.random.default_rng(options.seed)
    parts = [places for _, places in groups(frame, BY_PROMPT)]
    keep = np.zeros(len(frame), dtype=np.bool_)
    story = codes(frame, STORY)
    left, waiting = options.sample, sorted(parts, key=len)
    for position, places in enumerate(waiting):
        share = left // (len(waiting) - position)
        stories = rng.permutation(np.unique(story[places]))
        rank = np.empty(int(story.max()) + 1, dtype=np.int64)
        rank[stories] = np.arange(stories.size)
        order = places[np.argsort(rank[story[places]], kind="stable")]
        size = np.bincount(rank[story[places]], minlength=stories.size)
        whole = int(np.searchsorted(np.cumsum(size), share, side="right"))
        taken = order[: int(size[:whole].sum())] if whole else order[:share]
        keep[taken] = True
        left -= taken.size
    return keep


def specificity(frame: pd.DataFrame, vectors: Vectors, options: NumbersOptions) -> Specificity:
    """Specificity of texts by one judge with one Eval-Prompt, which all have a criterion and a story."""
    names, label = np.unique(frame["criterion"].to_numpy(dtype=str), return_inverse=True)
    story = codes(frame, STORY)
    stories = int(story.max()) + 1 if story.size else 0
    nothing = np.full((names.size, names.size), np.nan)
    about = np.bincount(label, minlength=names.size).astype(np.int64)
    if names.size < 2 or len(frame) < _LEAST_TEXTS or stories < _LEAST_STORIES:
        reason = (
            "one criterion only" if names.size < 2 else f"fewer than {_LEAST_TEXTS} texts or {_LEAST_STORIES} stories"
        )
        return Specificity(tuple(names), len(frame), stories, None, None, None, nothing, about, False, reason)  # noqa: FBT003
    rng = np.random.default_rng(options.seed)
    # Shuffled, so that between equally near texts the order of the file decides nothing.
    order = rng.permutation(len(frame))
    x, y, story = np.ascontiguousarray(vectors[order]), label[order].astype(np.int64), story[order]
    unit = codes(frame.iloc[order], (*STORY, "criterion"))
    several = np.bincount(np.unique(np.stack([story, y]), axis=1)[0])[story] > 1
    within = bool(several.mean() >= _CROSSED)
    stratum = story if within else np.zeros_like(story)
    labels = permuted(y, unit, stratum, max(options.permutations, options.refits), rng)
    many, few = labels[: 1 + options.permutations], labels[: 1 + options.refits]
    k = names.size
    silhouette = against_chance(mean_silhouette(x, many, k))
    near = against_chance(purity(nearest(x, story, options.neighbours), many))
    predicted = out_of_fold(components(x, options.components), few, story, options, rng)
    accuracy = against_chance(np.array([_balanced(few[b], predicted[b], k) for b in range(len(few))]))
    confusion = nothing.copy()
    for c in range(k):
        classes = predicted[0][y == c]
        confusion[c] = np.bincount(classes[classes >= 0], minlength=k) / classes.size
    return Specificity(tuple(names), len(frame), stories, silhouette, near, accuracy, confusion, about, within)


def components(x: Vectors, wanted: int) -> Floats:
    """Coordinates on principal components, divided by the standard deviation of the first, (n, <= `wanted`)."""
    centred = x - x.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1][:, :wanted]
    spread = float(turned[:, 0].std())
    return np.asarray(turned / spread if spread > 0 else turned, dtype=np.float64)


def out_of_fold(x: Floats, labels: Codes, story: Codes, options: NumbersOptions, rng: np.random.Generator) -> Codes:
    """Predicted criteria for b labellings of n texts, shape (b, n): the true one and its permutations. The model is
    fitted without texts on the same story. A prediction is -1, which is never correct, where the other folds have only
    one criterion."""
    try:
        from sklearn import config_context
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtraError("the classification of explanations", "report") from error
    fold = deal(story, options.folds, rng)
    out = np.full(labels.shape, -1, dtype=np.int64)
    # Hundreds of small fits: checking parameters and looking for NaN again would cost a third of the time.
    with config_context(skip_parameter_validation=True, assume_finite=True):
        for number in range(options.folds):
            held = fold == number
            train, test = x[~held], x[held]
            for b, label in enumerate(labels):
                if not held.any() or np.unique(label[~held]).size < 2:
                    continue
                model = LogisticRegression(C=1.0, class_weight="balanced", max_iter=200, tol=1e-2)
                out[b, held] = model.fit(train, label[~held]).predict(test)
    return out


def _balanced(label: Codes, predicted: Codes, classes: int) -> float:
    shares = [float((predicted[label == c] == c).mean()) for c in range(classes) if (label == c).any()]
    return float(np.mean(shares))


def _pairs(asked: Asked, measured: Specificity) -> list[Row[TakenFor]]:
    if measured.reason is not None:
        return []
    rows, columns = np.nonzero(~np.eye(len(measured.names), dtype=bool))
    return [
        Row(
            asked,
            TakenFor(
                measured.names[i], measured.names[j], float(measured.confusion[i, j]), int(measured.texts_about[i])
            ),
        )
        for i, j in zip(rows, columns, strict=True)
        if measured.confusion[i, j] > 0
    ]
