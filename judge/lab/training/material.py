"""Training material: stories with their numeric features, and human preferences and ratings."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.inputs.control import FOLDINGS, FOLDS, PENALTIES, Surface
from judge.analysis.preference.sides import Pairs, Side, datasets
from judge.backends.surface.model import Term
from judge.backends.trained.model import Head, Kind
from judge.base.arrays import Floats
from judge.base.errors import DataError, SpecError, unknown
from judge.base.records import Story
from judge.inputs.datasets import Dataset
from judge.inputs.perturbations.perturbation import read_name
from judge.lab.training.evaluation import PreferenceCheck, RatingCheck
from judge.lab.training.linear import PairTask, RatingTask, Stacked, fitted, out_of_fold
from judge.lab.training.options import TrainOptions
from judge.ratings.preferences_table import of_dataset
from judge.stats.regression import ordinal
from judge.stats.regression.calibration import Line, fit_calibration
from judge.stats.regression.ridge import fit_standardised
from judge.stats.regression.ridge import out_of_fold as ridge_out_of_fold
from judge.stats.resampling.bootstrap import folds_of_groups

# Fewer pairs with a preference, or rated stories, are not trained on: five folds would hold out less than eight.
LEAST_PAIRS, LEAST_RATED = 40, 40

# Texts that are embedded between two reports of progress.
_TOLD = 32


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """People's preferences on one criterion."""

    criterion: str
    side: Side

    @property
    def pairs(self) -> Pairs:
        return self.side.pairs


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """People's mean ratings on one criterion (NaN = none), and the scale's ends."""

    criterion: str
    people: Floats
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Numeric features of n stories: `surface` (n, features) and `vectors` (n, d), None without an embedding model.
    `usable` marks stories that have words."""

    features: tuple[str, ...]
    surface: Floats
    vectors: Floats | None
    usable: NDArray[np.bool_]

    @property
    def blocks(self) -> list[Floats]:
        """Surface features, then embeddings if there are any."""
        return [self.surface] if self.vectors is None else [self.surface, self.vectors]

    def first(self, n: int) -> Numbers:
        """Features of the first n stories."""
        return Numbers(
            self.features, self.surface[:n], None if self.vectors is None else self.vectors[:n], self.usable[:n]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Training material of one dataset, with stories in order of id."""

    dataset: Dataset
    stories: tuple[Story, ...]
    preferences: tuple[Preferences, ...]
    ratings: tuple[Ratings, ...]

    @property
    def groups(self) -> list[str]:
        """Each story's story-prompt, held out together; a story without one is a group by itself."""
        return [story.story_prompt or f"story {story.id}" for story in self.stories]

    def fact(self) -> dict[str, Any]:
        """Facts for the model card: name, hash and counts."""
        return {
            "dataset": self.dataset.name,
            "hash": self.dataset.fingerprint(),
            "stories": len(self.stories),
            "story_prompts": len({story.story_prompt for story in self.stories if story.story_prompt}),
            "pairs": {preference.criterion: int((preference.side.net != 0).sum()) for preference in self.preferences},
            "rated": {rating.criterion: int((~np.isnan(rating.people)).sum()) for rating in self.ratings},
        }


def read(dataset: Dataset, criteria: Sequence[str]) -> Material:
    """Material on the named criteria (all where none are named); those with too little data are left out. Raises
    SpecError for a named criterion that nobody judged, and where no criterion has enough."""
    stories = tuple(sorted(_originals(dataset), key=lambda story: story.id))
    compared = datasets(of_dataset(dataset)) if dataset.pairs is not None else ()
    preferences = [Preferences(s.criterion, s) for _, sides in compared for s in sides if s.kind == "people"]
    ratings = tuple(_ratings(dataset, stories))
    names = [*(preference.criterion for preference in preferences), *(rating.criterion for rating in ratings)]
    by_name = {name.casefold(): name for name in names}
    for name in criteria:
        if name.casefold() not in by_name:
            raise SpecError(unknown("criterion", name, by_name.values()))
    wanted = {name.casefold() for name in criteria} or set(by_name)
    kept = [
        preference
        for preference in preferences
        if preference.criterion.casefold() in wanted and _decided(preference) >= LEAST_PAIRS
    ]
    rated = [rating for rating in ratings if rating.criterion.casefold() in wanted and _rated(rating) >= LEAST_RATED]
    if not kept and not rated:
        raise SpecError(
            f"{dataset.name} has too little to train on: {sum(map(_decided, preferences))} pairs with a preference, "
            f"{max(map(_rated, ratings), default=0)} rated stories; {LEAST_PAIRS} of one or the other are needed"
        )
    return Material(dataset, stories, tuple(kept), tuple(rated))


def numbers(
    stories: Sequence[Story], embed_by: str | None, cache: Path | None, embedded: Callable[[int], None] | None = None
) -> Numbers:
    """Surface features and, where `embed_by` names a model, embeddings, cached in `cache`. `embedded` is called with
    the number of texts of each batch that is done."""
    frame = pd.DataFrame(
        {"text": [s.text for s in stories], "story_prompt": [s.story_prompt for s in stories]},
        index=[s.id for s in stories],
    )
    surface = Surface.of(frame)
    vectors = None
    if embed_by is not None:
        from judge.inputs.embedding import embed

        # Longest first, as they are embedded in batches; a few at a time, so that the time left can be told.
        ordered = sorted(set(surface.texts), key=lambda text: (-len(text), text))
        for start in range(0, len(ordered), _TOLD):
            some = ordered[start : start + _TOLD]
            embed(some, embed_by, cache)
            if embedded is not None:
                embedded(len(some))
        vectors = embed(list(surface.texts), embed_by, cache).vectors.astype(np.float64)
    rows = np.where(surface.blank[:, None], 0.0, surface.rows)
    return Numbers(surface.names, rows, vectors, ~surface.blank)


def perturbed_pairs(dataset: Dataset) -> list[tuple[Story, Story]]:
    """Pairs (original, perturbed story) of a dataset of `judge stress make`. Raises DataError without any."""
    stories = {story.id: story for story in dataset.stories()}
    origins = {name.origin: story for id_, story in stories.items() if (name := read_name(id_)) and not name.strength}
    pairs = []
    for id_, story in stories.items():
        name = read_name(id_)
        if name is not None and name.perturbation is not None and name.origin in origins and story.text.strip():
            pairs.append((origins[name.origin], story))
    if not pairs:
        raise DataError(
            "holds no perturbed story beside its origin",
            file=dataset.files[0],
            allowed="ids as judge stress make writes them, ORIGIN@PERTURBATION.STRENGTH",
        )
    return pairs


def chosen(material: Material, worse: Sequence[tuple[Story, Story]], seed: int) -> list[tuple[Story, Story]]:
    """A random sample of `worse`, or all if few. It has at most as many pairs as people decided on the criterion with
    most, so that perturbed stories do not outweigh people's preferences."""
    if not worse or not material.preferences:
        return []
    most = max(map(_decided, material.preferences))
    return list(worse) if len(worse) <= most else random.Random(seed).sample(list(worse), most)


def _originals(dataset: Dataset) -> list[Story]:
    originals = []
    for story in dataset.stories():
        name = read_name(story.id)
        if name is None or name.perturbation is None:
            originals.append(story)
    return originals


def _ratings(dataset: Dataset, stories: Sequence[Story]) -> list[Ratings]:
    by_criterion: dict[str, dict[str, list[float]]] = {}
    for story in stories:
        for rating in story.ratings:
            by_criterion.setdefault(rating.criterion, {}).setdefault(story.id, []).append(rating.value)
    ratings = []
    for criterion, values in by_criterion.items():
        # Labels that are no numbers have no mean.
        if (labels := dataset.labels.of(criterion)) is not None and not labels.numeric:
            continue
        means = np.array([np.mean(values[s.id]) if s.id in values else np.nan for s in stories])
        scale = dataset.scale
        everything = [value for ratings_of_story in values.values() for value in ratings_of_story]
        low, high = (scale.min, scale.max) if scale is not None else (min(everything), max(everything))
        if low < high:
            ratings.append(Ratings(criterion, means, float(low), float(high)))
    return ratings


def _decided(preference: Preferences) -> int:
    return int((np.nan_to_num(preference.side.net) != 0).sum())


def _rated(rating: Ratings) -> int:
    return int((~np.isnan(rating.people)).sum())


# Heads of a linear model, i.e. its outputs for single criteria. Each head is fitted on all data, and checked and
# calibrated on out-of-fold predictions.

Worse = tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]
# Told of each folding.
Done = Callable[[], None]

# One for each 2.5 per cent of the training stories' scores, by which a model places a new story among them.
QUANTILES = 41

# A penalty, or spread, that changes no number and keeps a fit finite where people and scores agree on all pairs.
_HARDLY = 1e-6

# A logistic curve of this slope is a normal one to within .01.
_PROBIT = 1.702


def preference_head(
    material: Material, numbers: Numbers, preference: Preferences, worse: Worse, options: TrainOptions, done: Done
) -> tuple[Head, PreferenceCheck, tuple[float, ...]]:
    """Head for preferences, its out-of-fold check, and the weight of each block. Fitted on all pairs and calibrated on
    out-of-fold predictions. `worse` are pairs of original and perturbed story; `done` is called after each repetition.
    """
    pairs = preference.pairs
    position = {story.id: k for k, story in enumerate(material.stories)}
    row = np.array([position[str(story)] for story in pairs.stories.index], dtype=np.int64)
    a, b = row[pairs.a], row[pairs.b]
    lead = np.where(numbers.usable[a] & numbers.usable[b], preference.side.net, np.nan)
    # Groups are named as the control names them, so that both are checked on the same folds.
    groups = [str(code) for code in pairs.prompt]
    named = {material.groups[k]: group for k, group in zip(a, groups, strict=True)}
    worse = (worse[0], worse[1], tuple(named.get(group, group) for group in worse[2]))
    task = PairTask(numbers.blocks, a, b, lead, groups, worse)
    odds = _out_of_fold(task, options, done)
    check = PreferenceCheck(preference.criterion, material.dataset.name, preference.side, odds)
    fit = fitted(task, task.trainable(), options.seed)
    slope, band = odds_scale(odds.mean(axis=0), preference.side.net)
    scores = fit.score([rows[np.unique(np.concatenate([a, b]))] for rows in numbers.blocks])
    head = head_of(preference.criterion, "preference", scores, slope=slope, band=band, **_terms(fit, numbers))
    return head, check, fit.weights


def odds_scale(odds: Floats, people: Floats) -> tuple[float, float]:
    """(slope from score differences to log odds, half-width of the band of log odds that is a tie). Ties become as
    frequent as people's. `people` is signed, 0 = tie."""
    defined = ~np.isnan(odds) & ~np.isnan(people)
    decided = defined & (people != 0)
    weights = ordinal.fit(odds[decided][:, None], (people[decided] > 0).astype(np.float64), _HARDLY)
    slope = max(float(weights[0]), _HARDLY)
    # Pairs as even as people's ties are frequent count as ties of the model.
    ties = float(np.mean(people[defined] == 0))
    band = float(np.quantile(np.abs(slope * odds[defined]), ties)) if ties else 0.0
    return slope, band


def rating_head(
    material: Material, numbers: Numbers, rating: Ratings, options: TrainOptions, done: Done
) -> tuple[Head, RatingCheck, tuple[float, ...]]:
    """Head for ratings, its out-of-fold check, and the weight of each block. Fitted on all rated stories and calibrated
    on out-of-fold predictions. `done` is called after each repetition."""
    people = np.where(numbers.usable, rating.people, np.nan)
    task = RatingTask(numbers.blocks, people, material.groups)
    scores = _out_of_fold(task, options, done)
    check = rating_check(material, numbers, rating, scores)
    fit = fitted(task, task.trainable(), options.seed)
    line, slope = rating_line(scores.mean(axis=0) + float(np.nanmean(people)), people)
    whole = fit.score(numbers.blocks)
    ends = (rating.low, rating.high)
    head = head_of(rating.criterion, "rating", whole, ends=ends, slope=slope, line=line, **_terms(fit, numbers))
    return head, check, fit.weights


def _out_of_fold(task: PairTask | RatingTask, options: TrainOptions, done: Done) -> Floats:
    """Out-of-fold predictions, (repetitions, units); equal groups are in the same fold."""
    folds = min(options.folds, len(set(task.groups)))
    turns = []
    for turn in range(options.foldings):
        turns.append(out_of_fold(task, folds_of_groups(task.groups, folds, options.seed + turn), options.seed))
        done()
    return np.array(turns)


def rating_line(predicted: Floats, people: Floats) -> tuple[tuple[float, float], float]:
    """(slope, intercept) from predictions to ratings, and the slope from their differences to log odds."""
    curve = fit_calibration(predicted, people, "linear").curve
    # A line that falls would turn every rating round: then predictions stay as they are.
    line = (curve.slope, curve.intercept) if isinstance(curve, Line) and curve.slope > 0 else (1.0, 0.0)
    error = line[0] * predicted + line[1] - people
    spread = max(float(np.nanstd(error)), _HARDLY)
    return line, line[0] * _PROBIT / (spread * float(np.sqrt(2)))


def rating_check(material: Material, numbers: Numbers, rating: Ratings, scores: Floats) -> RatingCheck:
    """The model's scores with ratings, the control's out-of-fold scores and lengths."""
    people = np.where(numbers.usable, rating.people, np.nan)
    control = []
    folds = min(FOLDS, len(set(material.groups)))
    for turn in range(FOLDINGS):
        fold = folds_of_groups(material.groups, folds, 1 + turn)
        predicted, level = ridge_out_of_fold(
            numbers.surface, people, fold, lambda rows, response: fit_standardised(rows, response, PENALTIES)
        )
        control.append(predicted - level)
    length = numbers.surface[:, numbers.features.index("length")]
    return RatingCheck(
        rating.criterion, material.dataset.name, people, scores, np.mean(control, axis=0), length, material.groups
    )


def head_of(
    criterion: str,
    kind: Kind,
    scores: Floats,
    *,
    slope: float,
    band: float = 0.0,
    ends: tuple[float, float] = (0.0, 1.0),
    line: tuple[float, float] = (1.0, 0.0),
    **terms: Any,
) -> Head:
    """The head of a model whose training stories have these `scores`; `terms` are the fields that are its own."""
    quantiles = tuple(np.quantile(scores, np.linspace(0, 1, QUANTILES)).tolist())
    return Head(criterion, kind, *ends, slope=slope, band=band, line=line, quantiles=quantiles, **terms)


def _terms(fit: Stacked, numbers: Numbers) -> dict[str, Any]:
    names = [numbers.features, () if numbers.vectors is None else tuple(map(str, range(numbers.vectors.shape[1])))]
    blocks: list[tuple[Term, ...]] = [(), ()]
    for k, block in enumerate(fit.blocks):
        columns = (block.low, block.high, block.mean, block.scale, block.weight)
        rows = zip(names[k], *(column.tolist() for column in columns), strict=True)
        blocks[k] = tuple(Term(name, *values) for name, *values in rows)
    intercept = fit.intercept + sum(block.intercept for block in fit.blocks)
    return {"intercept": intercept, "surface": blocks[0], "embedding": blocks[1]}
