"""All quality measures of explanations together, each computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.explanations.corpus.corpus import ExplanationTexts
from judge.explanations.quality import flag_rates, groundedness, guideline_point, presence, specificity, stability
from judge.explanations.quality.evidence import Library, Readings
from judge.explanations.quality.flag_rates import Flagged
from judge.explanations.quality.groundedness import Groundedness
from judge.explanations.quality.guideline_point import NearestPoint
from judge.explanations.quality.options import NumbersOptions, fragments
from judge.explanations.quality.presence import Presence
from judge.explanations.quality.specificity import (
    BY_CRITERION,
    STORY,
    Asked,
    Measured,
    Row,
    TakenFor,
    ToldApart,
    codes,
    components,
    groups,
    rows_with,
    story_prompts,
)
from judge.explanations.quality.stability import Stability
from judge.stats.correlation import coefficients
from judge.stats.estimation.means import clustered
from judge.stats.regression.ridge import fit_ridge
from judge.stats.resampling import bootstrap, resampled_correlations
from judge.stats.resampling.grouped_folds import deal

# Agreement of explanations with their ratings: ratings are predicted from the texts alone, and the largest
# differences are listed.

Vectors = NDArray[np.float64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_LEAST_TEXTS, _LEAST_STORIES, _LEAST_PROMPTS = 20, 10, 5


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well ratings can be predicted from a group of texts. `rho` is Spearman's, averaged over folds. `error` is the
    mean absolute error, `baseline` that of predicting the mean rating, and `gain` is `baseline` minus `error`."""

    rho: Estimate
    error: Estimate
    baseline: Estimate
    gain: Estimate
    texts: int
    stories: int


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A text whose given rating is far from the rating predicted from it."""

    story: str | None
    repeat: int | None
    rating: float
    predicted: float
    text: str


def measure(
    frame: pd.DataFrame, vectors: Vectors, options: NumbersOptions, signature: str, listed: str
) -> tuple[Measured[Agreement], Measured[Contradiction]]:
    """Predictability of ratings, in one row for each judge, Eval-Prompt and criterion, and the largest differences.
    Rows without a rating or a known story are left out and counted. `vectors` has shape (rows, d). `signature` and
    `listed` belong to the first and the second result."""
    usable = rows_with(frame, "story") & frame["rating"].notna().to_numpy()
    part, x = frame[usable], vectors[usable]
    predicted = np.full(len(part), np.nan)
    rows = []
    for asked, places in groups(part, BY_CRITERION):
        result, predicted[places] = agreement(part.iloc[places], x[places], options)
        rows.append(Row(asked, result))
    notes = [
        (
            f"ridge regression on {options.components} principal components, out of {options.folds} folds of "
            "story-prompts; errors in points of the scale, compared with predicting the training stories' mean rating"
        ),
        (
            "Spearman: mean over folds (pooled, noise gives values below 0); "
            "intervals resample story-prompts without a new fit"
        ),
        "a text that copies a guideline or states its rating again is predicted well whatever else it contains",
    ]
    if alone := int((part["story_prompt"] == "").sum()):
        notes.append(
            f"{alone} texts are about stories whose story-prompt is not known: each counts as a story-prompt of its own"
        )
    if lost := int((~usable).sum()):
        notes.append(f"{lost} texts without a rating or a known story are left out")
    return Measured(tuple(rows), signature, tuple(notes)), _contradictions(part, predicted, options, listed)


def agreement(frame: pd.DataFrame, vectors: Vectors, options: NumbersOptions) -> tuple[Agreement, Floats]:
    """How well ratings can be predicted in one group, and the predicted ratings (NaN where none can be)."""
    y, story = frame["rating"].to_numpy(dtype=np.float64), codes(frame, STORY)
    stories = int(story.max()) + 1 if story.size else 0
    prompt = story_prompts(frame)
    reason = None
    if y.size < _LEAST_TEXTS or stories < _LEAST_STORIES:
        reason = f"fewer than {_LEAST_TEXTS} rated texts or {_LEAST_STORIES} stories"
    elif np.all(prompt == prompt[0]):
        reason = "stories for one story-prompt only"
    elif np.all(y == y[0]):
        reason = "every text has the same rating"
    if reason is not None:
        nothing = Estimate.undefined(reason, y.size)
        return Agreement(nothing, nothing, nothing, nothing, y.size, stories), np.full(y.size, np.nan)
    rng = np.random.default_rng(options.seed)
    fold = deal(prompt, min(options.folds, int(prompt.max()) + 1), rng)
    predicted, mean = predict(components(vectors, options.components), y, fold)
    error, baseline = np.abs(predicted - y), np.abs(mean - y)
    drawn = bootstrap.draw(prompt, options.resamples, rng, "boot-inputs")
    rho = rank_correlation(predicted, y, fold, drawn)
    if rho.defined and int(prompt.max()) + 1 < _LEAST_PROMPTS:
        rho = Estimate(rho.value, rho.n, reason=f"no interval with fewer than {_LEAST_PROMPTS} story-prompts")
    result = Agreement(
        rho=rho,
        error=Estimate(float(error.mean()), y.size),
        baseline=Estimate(float(baseline.mean()), y.size),
        gain=clustered(baseline - error, prompt),
        texts=y.size,
        stories=stories,
    )
    return result, predicted


def predict(x: Floats, y: Floats, fold: Codes) -> tuple[Floats, Floats]:
    """Ratings predicted by models fitted on the other folds, and the mean rating in those folds, both of shape (n,)."""
    spread = np.sqrt(x.var(axis=0).mean())
    rows = x / (spread if spread > 0 else 1.0)
    predicted, mean = np.empty_like(y), np.empty_like(y)
    for number in np.unique(fold):
        held = fold == number
        fit = fit_ridge(rows[~held], y[~held])
        predicted[held], mean[held] = fit.predict(rows[held]), fit.intercept
    return predicted, mean


def rank_correlation(predicted: Floats, y: Floats, fold: Codes, drawn: bootstrap.Resamples) -> Estimate:
    """Spearman's rho of predicted and given ratings, computed in each fold and averaged; intervals by story-prompts.

    If folds were pooled, pure noise would have a correlation below 0, since the mean of the training ratings is high
    where the held-out ratings are low (Parker, Guenter & Bedo 2007, Stratification bias in low signal microarray
    studies, BMC Bioinformatics 8)."""
    correlation = coefficients.correlate_within(predicted, y, fold, "spearman")
    if not correlation.defined:
        return correlation
    values = resampled_correlations.values(drawn, predicted, y, "spearman", grouping="within", group=fold)
    return bootstrap.percentile(Estimate(correlation.value, y.size), values, f"{drawn.name}, percentile, 95 %")


def _contradictions(
    frame: pd.DataFrame, predicted: Floats, options: NumbersOptions, signature: str
) -> Measured[Contradiction]:
    gap = predicted - frame["rating"].to_numpy(dtype=np.float64)
    order = np.argsort(-np.round(np.abs(np.nan_to_num(gap)), 9), kind="stable")[: options.top]
    rows = []
    for position in order[~np.isnan(gap[order])]:
        row = frame.iloc[position]
        repeat = None if pd.isna(row["repeat"]) else int(row["repeat"])
        contradiction = Contradiction(
            row["story"] or None, repeat, float(row["rating"]), float(predicted[position]), str(row["text"])
        )
        rows.append(Row(Asked(**{key: row[key] or None for key in BY_CRITERION}), contradiction))
    note = (
        f"the {len(rows)} largest differences, out of fold; candidates to read, not proven contradictions: extreme "
        "ratings are predicted towards the mean"
    )
    return Measured(tuple(rows), signature, (note,))


Step = Callable[[str, int, int], None]

# Of shares of texts: Wilson's interval, stories as clusters.
_SHARES = "ci:wilson-stories"


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Results of every quality measure; a measure that could not be computed has no rows. `taken` has the criteria that
    are confused, `nearest` the nearest guidelines."""

    options: NumbersOptions
    presence: Measured[Presence]
    specificity: Measured[ToldApart]
    taken: Measured[TakenFor]
    stability: Measured[Stability]
    agreement: Measured[Agreement]
    contradictions: Measured[Contradiction]
    nearest: Measured[NearestPoint]
    groundedness: Measured[Groundedness]
    flags: Measured[Flagged]


def numbers(
    texts: ExplanationTexts,
    rows: pd.DataFrame,
    vectors: Vectors,
    guidelines: Vectors,
    options: NumbersOptions,
    signature: Callable[..., str],
    step: Step | None = None,
) -> Numbers:
    """All quality measures of explanations.

    `texts` are all that were selected, since presence counts rows without a text; `rows` those analysed, with index 0,
    1, 2... `vectors` (rows, d) have unit length or are zero; `guidelines` (guidelines, d) were embedded with them.
    `signature` makes a signature line with added parts; `step` is called with (name of the step, 0, 0)."""
    tell, readings, sign = step or _silent, Readings(), _signing(options, signature)
    tell("counting explanations", 0, 0)
    present = presence.measure(texts.frame, texts.criteria, readings, sign(intervals=_SHARES), texts.silent)
    tell("telling criteria apart", 0, 0)
    chosen = ("seed", "sample", "neighbours", "folds", "permutations", "refits", "components")
    classified, taken = specificity.measure(rows, vectors, options, sign(*chosen))
    tell("comparing repeats, ratings and stories", 0, 0)
    likeness = sign("seed", intervals="ci:jackknife-stories|reasons:wilson-stories")
    stable = stability.measure(rows, vectors, options, likeness)
    held = "hold-out:story-prompt"
    predicted = sign("seed", "folds", "components", "resamples", intervals=f"gain:t-inputs|{held}")
    listed = sign("seed", "folds", "components", intervals=held)
    agreed, contradictions = measure(rows, vectors, options, predicted, listed)
    points = guideline_point.split(texts.criteria, guidelines)
    near = guideline_point.measure(rows, vectors, points, sign(intervals=f"{_SHARES}|difference:t-stories"))
    tell("reading quotations and names", 0, 0)
    library = Library(texts.stories, texts.criteria)
    boilerplate = sign("words", "stories_share", intervals=f"{_SHARES}|runs:t-stories")
    grounded = groundedness.measure(rows, library, readings, options, boilerplate)
    tell("flagging", 0, 0)
    flagged = flag_rates.measure(rows, texts.criteria, library, readings, sign(intervals=_SHARES))
    return Numbers(options, present, classified, taken, stable, agreed, contradictions, near, grounded, flagged)


def _signing(options: NumbersOptions, signature: Callable[..., str]) -> Callable[..., str]:
    def sign(*names: str, intervals: str = "") -> str:
        own = fragments(options, *names) if names else []
        return signature(*own, *([intervals] if intervals else []))

    return sign


def _silent(_what: str, _done: int, _total: int) -> None:
    """Progress callback that does nothing."""
