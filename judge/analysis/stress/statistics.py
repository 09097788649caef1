"""Statistics of one judge on one criterion: ratings of changed stories against those of the untouched originals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from judge.analysis.inputs.bars import CONTROL, CONTROL_NAME
from judge.analysis.inputs.candidates import NO_TEXTS, Subject, judge_cell
from judge.analysis.options.table_options import StressOptions
from judge.analysis.stress.result import Dose, Null, Paired
from judge.backends.surface.model import Card, expected, read_card, shipped_model
from judge.base.arrays import Codes, Floats, Masks, ratio, renumbered, row_means
from judge.base.credentials.providers import MEASURE, JudgeName
from judge.base.estimate import Estimate
from judge.base.records import Scale
from judge.inputs.perturbations.perturbation import CATALOGUE, Facts
from judge.inputs.text_features import for_regression, own_features, score_file_features
from judge.ratings.rating_matrix import RatingMatrix
from judge.ratings.ratings_table import RatingsTable, perturbed_names
from judge.stats.agreement.disagreement import agreement
from judge.stats.estimation import means
from judge.stats.estimation.means import tost
from judge.stats.estimation.sample_size import clustered_proportion, minimum_detectable_effect
from judge.stats.ordering.detection import Detection, detection
from judge.stats.ordering.discrimination import auc, point_biserial

# Ratings that a stress test compares: those of each judge, Eval-Prompt and criterion, and those of the control.


_CONTROL = (
    "control: the shipped surface judge on the same texts, perturbed ones too; not rounded, so that it ties only where "
    "the features are equal"
)


NO_POINTS = "a measure has a scale of its own, and no points of a rating scale"
_NEITHER = "of this measure, neither more nor less is better"
_NOT_SAID = "its folder does not say whether more of this measure is better: measure again"


@dataclass(frozen=True, slots=True)
class Measure:
    """Direction of a measure (a text statistic): 1 if more is better, -1 if less, 0 if neither, for the `reason`."""

    better: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """Ratings of all n stories on one criterion, by one judge with one Eval-Prompt, the control judge, or an automatic
    measure. `repeats` has shape (n, k repeats), `means` and `asked` (n,). `scale` has no meaning for a measure."""

    subject: Subject
    means: Floats
    repeats: Floats
    asked: Masks
    scale: Scale
    measure: Measure | None = None

    @property
    def merit(self) -> Floats:
        """Means with their sign changed for a measure of which less is better; NaN where neither is."""
        if self.measure is None or self.measure.better == 1:
            return self.means
        return -self.means if self.measure.better else np.full(self.means.shape, np.nan)

    def points(self, ratings: Floats) -> Floats:
        """Ratings rounded to the nearest point of the scale."""
        low, step = self.scale.min, self.scale.step or 1
        return np.asarray(np.clip(low + np.rint((ratings - low) / step) * step, low, self.scale.max), dtype=np.float64)


def judges(table: RatingsTable, matrix: RatingMatrix) -> Iterator[Rated]:
    """Ratings of each judge and Eval-Prompt on each criterion with a numeric scale, and the values of each measure."""
    ways = {(fact.run, name): way for fact in table.facts for name, way in fact.directions.items()}
    scales = {
        (fact.run, criterion.name.casefold()): criterion.scale for fact in table.facts for criterion in fact.criteria
    }
    for i, cell in enumerate(matrix.cells):
        scale = scales.get((cell.run, cell.criterion.casefold()), Scale())
        if scale.numeric:
            answers = matrix.answers(i)
            asked = matrix.asked[i] > 0
            subject = judge_cell(matrix, i, None, None).subject
            measure = _measure(subject, ways.get((cell.run, subject.judge)))
            yield Rated(subject, matrix.judge[i], answers.ratings, asked, scale, measure)


def _measure(subject: Subject, way: int | None) -> Measure | None:
    """Direction of a measure, from that stored with the run (None = missing); None for a judge."""
    if JudgeName.of(subject.judge).provider != MEASURE:
        return None
    return Measure(way or 0, {None: _NOT_SAID, 0: _NEITHER}.get(way))


def controls(matrix: RatingMatrix, criteria: Sequence[str]) -> tuple[list[Rated], list[str]]:
    """Ratings by the control (the shipped surface judge) of all texts, perturbed or not, and notes. Stories on which it
    was fitted are kept: each comparison is of two texts, and it was fitted on at most one of them."""
    card, texts = read_card(shipped_model()), [str(text) for text in matrix.stories["text"]]
    if not any(texts):
        return [], [str(NO_TEXTS)]
    prompts = [str(prompt or "") for prompt in matrix.stories["story_prompt"]]
    features = {own: _features(texts, prompts, own=own) for own in {card.reads_own(name) for name in criteria}}
    predicted = []
    for criterion in criteria:
        values = _values(card, criterion, features[card.reads_own(criterion)])
        subject = Subject(CONTROL, matrix.dataset, None, CONTROL_NAME, None, criterion, None)
        asked = np.ones(matrix.n, dtype=np.bool_)
        predicted.append(Rated(subject, values, values[:, None], asked, Scale()))
    return predicted, [_CONTROL]


def _features(texts: Sequence[str], prompts: Sequence[str], *, own: bool) -> list[dict[str, float]]:
    count = own_features if own else score_file_features
    return [count(text, prompt) for text, prompt in zip(texts, prompts, strict=True)]


def _values(card: Card, criterion: str, features: Sequence[dict[str, float]]) -> Floats:
    values = np.full(len(features), np.nan)
    for at, plain in enumerate(features):
        if plain["length"]:
            model = card.choose(criterion, plain["length"])
            values[at] = expected(model.distribution(model.parts(for_regression(plain))))
    return values


# Pairs each perturbed story with the untouched story that it was made from.

_ORDER = {name: place for place, name in enumerate(CATALOGUE)}


@dataclass(frozen=True, slots=True, eq=False)
class Changed:
    """Stories of one perturbation at one strength: `story` is each original's index in the matrix; -1 = none."""

    facts: Facts
    strength: int
    story: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Original stories with their untouched text and perturbed versions. `untouched` and `prompt` (code of the
    story-prompt, by which pairs are clustered) have shape (origins,). `changed` is by perturbation, in the order of the
    catalogue, and strength; `unknown` perturbations are not in it. `alone` counts those left out because their
    untouched story is missing."""

    origins: tuple[str, ...]
    untouched: Codes
    prompt: Codes
    changed: tuple[Changed, ...]
    unknown: tuple[str, ...]
    alone: int


def pairing(matrix: RatingMatrix) -> Pairing | None:
    """Each perturbed story of a dataset with its untouched story; None if there is no perturbed story."""
    stories = list(matrix.stories["story"])
    names = perturbed_names(stories)
    if not any(name.perturbation for name in names.values()):
        return None
    position = {str(story): at for at, story in enumerate(stories)}
    untouched = {name.origin: position[story] for story, name in names.items() if name.perturbation is None}
    row = {origin: at for at, origin in enumerate(untouched)}
    changed_rows: dict[tuple[str, int], Codes] = {}
    unknown, alone = dict[str, None](), 0
    for story, name in names.items():
        if name.perturbation is None:
            continue
        if name.perturbation not in CATALOGUE:
            unknown[name.perturbation] = None
        elif name.origin not in row:
            alone += 1
        else:
            key = (name.perturbation, name.strength)
            changed_rows.setdefault(key, np.full(len(row), -1, dtype=np.int64))[row[name.origin]] = position[story]
    order = sorted(changed_rows, key=lambda key: (_ORDER[key[0]], key[1]))
    places = np.array(list(untouched.values()), dtype=np.int64)
    return Pairing(
        tuple(untouched),
        places,
        matrix.story_prompt[places],
        tuple(Changed(CATALOGUE[name], strength, changed_rows[name, strength]) for name, strength in order),
        tuple(unknown),
        alone,
    )


ONE_REPEAT = "null unavailable: one repeat of each untouched story"
EQUAL_REPEATS = "repeats of an untouched story never differ"
_SAME = 1e-9
# Largest number of differences whose signed-rank test is exact where ranks are tied, as in scipy.
_EXACT = 13
_NO_POINTS = Estimate.undefined(NO_POINTS)


def paired(rated: Rated, pairs: Pairing, changed: Changed, options: StressOptions, *, expected: bool) -> Paired:
    """Ratings of stories changed by one perturbation at one strength against the untouched ones. `expected`: it should
    change ratings on this criterion."""
    there = changed.story >= 0
    before, after = pairs.untouched[there], changed.story[there]
    prompt = pairs.prompt[there]
    noticed, test = detected(rated, before, after, prompt), changed.facts.test
    published = _published(rated, pairs, after) if options.as_published else (None, None)
    row = Paired(
        subject=rated.subject,
        facts=changed.facts,
        strength=changed.strength,
        expected=expected,
        detection=noticed,
        drop=_NO_POINTS,
        against_noise=_NO_POINTS,
        detectable=None,
        p=None if test == "degenerate" else noticed.p_raised if test == "attack" else noticed.p,
        wilcoxon=_wilcoxon(rated.merit[before] - rated.merit[after], prompt),
        asked=int(rated.asked[after].sum()),
        rated=int((~np.isnan(rated.means[after])).sum()),
        correlation=published[0],
        auc=published[1],
        measured=rated.measure is not None,
    )
    return row if row.measured else _in_points(row, rated, pairs, changed, options)


def detected(rated: Rated, before: Codes, after: Codes, prompt: Codes) -> Detection:
    """Share of pairs whose untouched story has the better rating; undefined for a measure without direction."""
    if rated.measure is not None and not rated.measure.better:
        return Detection(Estimate.undefined(rated.measure.reason or ""), 0, 0, 0)
    return detection(rated.merit[before] - rated.merit[after], prompt)


def _in_points(row: Paired, rated: Rated, pairs: Pairing, changed: Changed, options: StressOptions) -> Paired:
    there = changed.story >= 0
    before, after, prompt = pairs.untouched[there], changed.story[there], pairs.prompt[there]
    difference = rated.means[before] - rated.means[after]
    defined = ~np.isnan(difference)
    attack, invariance = changed.facts.test == "attack", changed.facts.test == "invariance"
    error, clusters = means.clustered_error(difference[defined], renumbered(prompt[defined]))
    return replace(
        row,
        drop=_mean(difference, prompt),
        against_noise=_in_noise(rated, pairs, difference),
        detectable=None if error is None or error < 1e-12 else minimum_detectable_effect(error, df=clusters - 1),
        same=tost(difference, -options.margin, options.margin, cluster=prompt) if invariance else None,
        flips=_flips(rated, before, after, prompt) if invariance else None,
        top=_share(rated.points(rated.means[after]) >= rated.scale.max - _SAME, defined, prompt) if attack else None,
        top_before=_share(rated.points(rated.means[before]) >= rated.scale.max - _SAME, defined, prompt)
        if attack
        else None,
        lowest=_lowest(rated, after, prompt) if changed.facts.test == "degenerate" else None,
    )


def null(rated: Rated, pairs: Pairing) -> Null:
    """Null distribution: the first half of the repeats of untouched stories against the second."""
    repeats = rated.repeats[pairs.untouched]
    half = repeats.shape[1] // 2
    spread = agreement(rated.points(repeats))
    noise = agreement(repeats).within_sd
    wide = _spread(rated.means[pairs.untouched])
    if not half or not noise.defined:
        nothing = Estimate.undefined(ONE_REPEAT)
        return Null(rated.subject, Detection(nothing, 0, 0, 0), nothing, nothing, nothing, wide)
    difference = row_means(repeats[:, :half]) - row_means(repeats[:, half : 2 * half])
    drop = _mean(difference, pairs.prompt)
    return Null(rated.subject, detection(difference, pairs.prompt), drop, spread.flip, noise, wide)


def _spread(ratings: Floats) -> Estimate:
    defined = ratings[~np.isnan(ratings)]
    if defined.size < 2:
        return Estimate.undefined("undefined with fewer than 2 rated stories")
    return Estimate(float(defined.std(ddof=1)), n=defined.size)


def dose(rated: Rated, pairs: Pairing) -> Iterator[Dose]:
    """Slope of the drop on log2 of the strength, for each perturbation with several strengths."""
    for _, group in groupby(pairs.changed, key=lambda changed: changed.facts.name):
        several = list(group)
        if len(several) < 2:
            continue
        drops = np.stack([_drop(rated, pairs, changed) for changed in several], axis=1)
        doubled = np.log2(np.array([changed.strength for changed in several], dtype=np.float64))
        defined = ~np.isnan(drops)
        count = np.maximum(defined.sum(axis=1), 1)[:, None]
        x = np.where(defined, doubled - np.where(defined, doubled, 0).sum(axis=1, keepdims=True) / count, 0.0)
        slopes = ratio((x * np.nan_to_num(drops)).sum(axis=1), (x**2).sum(axis=1))
        slopes[~np.isfinite(slopes)] = np.nan
        strengths = tuple(changed.strength for changed in several)
        there = ~np.isnan(slopes)
        p = means.clustered_p(slopes[there], renumbered(pairs.prompt[there]))
        yield Dose(rated.subject, several[0].facts, strengths, _mean(slopes, pairs.prompt), p)


def _drop(rated: Rated, pairs: Pairing, changed: Changed) -> Floats:
    after = np.where(changed.story >= 0, rated.means[changed.story], np.nan)
    return np.asarray(rated.means[pairs.untouched] - after, dtype=np.float64)


def _mean(values: Floats, prompt: Codes) -> Estimate:
    defined = ~np.isnan(values)
    if not defined.any():
        return Estimate.undefined("undefined without a pair of rated stories")
    return means.clustered(values[defined], renumbered(prompt[defined]))


def _wilcoxon(difference: Floats, prompt: Codes) -> float | None:
    """Two-sided p of the signed-rank test on means of story-prompts; None if fewer than two differ from 0."""
    from scipy import stats

    defined = ~np.isnan(difference)
    difference = difference[defined]
    if not difference.size:
        return None
    group = renumbered(prompt[defined])
    mean = np.bincount(group, weights=difference) / np.bincount(group)
    mean = np.round(mean[np.abs(mean) > _SAME], 9)
    if mean.size < 2:
        return None
    ranks = stats.rankdata(np.abs(mean))
    if mean.size <= _EXACT and np.unique(ranks).size < ranks.size:
        return _exact(ranks, mean > 0)
    return float(stats.wilcoxon(mean).pvalue)


def _exact(ranks: Floats, positive: Masks) -> float:
    """Two-sided p of the signed-rank sum over all signs. scipy tries each of the 2^n signs where ranks are tied, and
    gives the same p a thousand times as slowly."""
    doubled = np.rint(2 * ranks).astype(np.int64)  # whole numbers: a tied rank may be a half
    chance = np.zeros(doubled.sum() + 1)
    chance[0] = 1.0
    for rank in doubled:
        chance[rank:] += chance[:-rank].copy()
    chance /= chance.sum()
    reached = int(doubled[positive].sum())
    return float(min(1.0, 2 * min(chance[: reached + 1].sum(), chance[reached:].sum())))


def _in_noise(rated: Rated, pairs: Pairing, difference: Floats) -> Estimate:
    """Mean difference divided by the standard deviation of repeats within an untouched story."""
    noise = agreement(rated.repeats[pairs.untouched]).within_sd
    if noise.value is None:
        return Estimate.undefined(ONE_REPEAT)
    if noise.value < _SAME:
        return Estimate.undefined(EQUAL_REPEATS)
    defined = difference[~np.isnan(difference)]
    if not defined.size:
        return Estimate.undefined("undefined without a pair of rated stories")
    return Estimate(float(defined.mean()) / noise.value, n=defined.size)


def _flips(rated: Rated, before: Codes, after: Codes, prompt: Codes) -> Estimate:
    """Probability that single ratings of both stories are different points."""
    x, y = rated.points(rated.repeats[before]), rated.points(rated.repeats[after])
    both = ~np.isnan(x)[:, :, None] & ~np.isnan(y)[:, None, :]
    unequal = both & (np.abs(np.nan_to_num(x)[:, :, None] - np.nan_to_num(y)[:, None, :]) > _SAME)
    return _mean(ratio(unequal.sum(axis=(1, 2)), both.sum(axis=(1, 2))), prompt)


def _share(hits: Masks, rated: Masks, prompt: Codes) -> Estimate:
    if not rated.any():
        return Estimate.undefined("undefined without a pair of rated stories")
    return clustered_proportion(hits[rated].astype(np.float64), prompt[rated])


def _lowest(source: Rated, after: Codes, prompt: Codes) -> Estimate:
    rated = ~np.isnan(source.means[after])
    return _share(source.points(source.means[after]) <= source.scale.min + _SAME, rated, prompt)


def _published(rated: Rated, pairs: Pairing, after: Codes) -> tuple[Estimate, Estimate]:
    """Unpaired; both are larger if untouched stories are rated better."""
    if rated.measure is not None and not rated.measure.better:
        nothing = Estimate.undefined(rated.measure.reason or "")
        return nothing, nothing
    rating = np.concatenate([rated.merit[pairs.untouched], rated.merit[after]])
    whole = np.arange(rating.size) < pairs.untouched.size
    return point_biserial(rating, whole).r, auc(rating, whole)
