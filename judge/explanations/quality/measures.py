"""All quality measures of explanations together, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, plain
from judge.explanations.corpus.corpus import ExplanationTexts
from judge.explanations.options import NumbersOptions, Step, fragments, silent
from judge.explanations.quality import error_flags, guideline_point, presence, quoted_evidence, specificity, stability
from judge.explanations.quality.error_flags import RULES, Flagged, Validated
from judge.explanations.quality.guideline_point import NearestPoint
from judge.explanations.quality.presence import Presence
from judge.explanations.quality.quoted_evidence import Groundedness, Library, Reading
from judge.explanations.quality.specificity import (
    BY_CRITERION,
    BY_PROMPT,
    STORY,
    Asked,
    Measured,
    Row,
    TakenFor,
    ToldApart,
    codes,
    components,
    groups,
    left_out,
    rows_with,
    story_prompts,
)
from judge.explanations.quality.stability import Stability
from judge.stats.correlation import coefficients
from judge.stats.estimation.means import clustered
from judge.stats.regression.ridge import fit_ridge
from judge.stats.resampling import bootstrap, resampled_correlations
from judge.stats.resampling.bootstrap import deal

# Agreement of explanations with their ratings: ratings are predicted from the texts alone, and the largest
# differences are listed.

Vectors = NDArray[np.float64]

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
    notes += left_out(usable, "a rating or a known story")
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
    tell, readings = step or silent, cache(Reading.of)

    def sign(*names: str, intervals: str = "") -> str:
        own = fragments(options, *names) if names else []
        return signature(*own, *([intervals] if intervals else []))

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
    grounded = quoted_evidence.measure(rows, library, readings, options, boilerplate)
    tell("flagging", 0, 0)
    flagged = error_flags.measure(rows, texts.criteria, library, readings, sign(intervals=_SHARES))
    return Numbers(options, present, classified, taken, stable, agreed, contradictions, near, grounded, flagged)


# Tables of the quality measures of explanations, in the order in which they are printed.

_WRAP = 70


def tables(numbers: Numbers) -> list[Table]:
    """The tables of all quality measures; a note under the first names those without rows, which are left out."""
    tables_of_measures = [
        *_specificity(numbers),
        _table("Stability: are the reasons the same in each repeat?", BY_CRITERION, _STABILITY, numbers.stability),
        *_agreement(numbers),
        _table("Nearest guideline, compared with the rating given", BY_CRITERION, _NEAREST, numbers.nearest),
        _table("Substance: does the text refer to this story?", BY_CRITERION, _SUBSTANCE, numbers.groundedness),
        _flags(numbers),
    ]
    missing = [table.title for table in tables_of_measures if not table.rows]
    nothing = [f"no values for: {'; '.join(missing)}"] if missing else []
    first = _table("Presence: is there an explanation?", BY_CRITERION, _PRESENCE, numbers.presence, nothing)
    return [first, *(table for table in tables_of_measures if table.rows)]


def validation_table(rules: Measured[Validated]) -> Table:
    """Table of the precision and recall of every rule that flags errors in explanations."""
    columns = [
        Column("error", "error"),
        Column("precision", "precision x100", digits=0, factor=100),
        Column("recall", "recall x100", digits=0, factor=100),
        Column("base", "base rate x100", digits=0, factor=100),
        *plain("both", "flagged"),
        Column("positive", "any annotator"),
        Column("items", "items"),
        Column("remark", ""),
    ]
    title = "Precision and recall of the rules against annotators, on held-out items"
    return Table(title, columns, [row.cells for row in rules.rows], rules.signature, rules.notes)


_PRESENCE = (
    Column("published", "none, as published %", digits=1, factor=100),
    Column("ours", "none, ours %", digits=1, factor=100),
    Column("words", "median words", digits=0),
    Column("repeating", "repeat themselves %", digits=1, factor=100),
    Column("run_on", "run on %", digits=1, factor=100),
    Column("texts", "texts"),
    Column("answered", "answers"),
    Column("lost", "not obtained"),
)
_STABILITY = (
    Column("within", "one story"),
    Column("between", "different stories"),
    *plain("difference", "threshold"),
    Column("other_reasons", "same rating, different reasons %", digits=1, factor=100),
    Column("pairs", "pairs of equal rating"),
    Column("texts", "texts"),
)
_NEAREST = (
    Column("match", "nearest is the rating %", digits=1, factor=100),
    Column("chance", "by chance", digits=1, factor=100),
    Column("difference", "nearest - rating"),
    *plain("ties", "texts"),
)
_SUBSTANCE = (
    Column("pointing", "point into the story %", digits=1, factor=100),
    Column("quotes", "quotations"),
    Column("quotes_story", "quoted: story %", digits=1, factor=100),
    Column("quotes_nowhere", "quoted: nowhere %", digits=1, factor=100),
    Column("names", "names"),
    Column("names_story", "named: story %", digits=1, factor=100),
    Column("names_nowhere", "named: nowhere %", digits=1, factor=100),
    Column("unsupported", "claims without support %", digits=1, factor=100),
    Column("boilerplate", "boilerplate %", digits=1, factor=100),
    Column("texts", "texts"),
)


def _specificity(numbers: Numbers) -> list[Table]:
    columns = []
    for key, title in (("silhouette", "silhouette"), ("purity", "kNN purity"), ("accuracy", "accuracy")):
        digits, factor = (3, 1.0) if key == "silhouette" else (1, 100.0)
        columns += [
            Column(key, title if factor == 1 else f"{title} x100", digits=digits, factor=factor),
            Column(f"{key}_chance", "by chance", digits=digits, factor=factor),
            Column(f"{key}_p", "p", digits=3, p="greater"),
        ]
    columns += plain("texts", "stories", "criteria")
    pairs = [
        Column("criterion", "text about"),
        Column("taken_for", "taken for"),
        Column("taken", "share x100", digits=1, factor=100),
        Column("texts", "of texts"),
    ]
    title = "Specificity: can the criterion be recognised from the text?"
    by_criterion = _table(title, BY_PROMPT, columns, numbers.specificity)
    taken = _table("Criteria that the classifier confuses", BY_PROMPT, pairs, numbers.taken, top=numbers.options.top)
    return [by_criterion, taken]


def _agreement(numbers: Numbers) -> list[Table]:
    columns = [
        Column("rho", "Spearman x100", digits=1, factor=100),
        Column("error", "mean error"),
        Column("baseline", "error of the mean"),
        Column("gain", "less error"),
        *plain("texts", "stories"),
    ]
    listed = [
        *plain(*BY_CRITERION[1:]),
        *plain("story", "repeat"),
        Column("rating", "rating", digits=1),
        Column("predicted", "predicted", digits=1),
        Column("text", "text", text=True, wrap=_WRAP),
    ]
    title = "Agreement of text and rating: the rating predicted from the explanation alone"
    worst = "Texts whose rating differs most from the predicted rating"
    return [_table(title, BY_CRITERION, columns, numbers.agreement), _table(worst, (), listed, numbers.contradictions)]


def _flags(numbers: Numbers) -> Table:
    columns = [*(Column(name, f"{name.lower()} %", digits=1, factor=100) for name in RULES), Column("texts", "texts")]
    table = _table("Texts flagged by rules, for reading", BY_CRITERION, columns, numbers.flags)
    return replace(table, rows=[{**row.cells, **row.result.shares} for row in numbers.flags.rows])


def _table(
    title: str,
    names: Sequence[str],
    columns: Sequence[Column],
    measured: Measured[Any],
    notes: Sequence[str] = (),
    *,
    top: int | None = None,
) -> Table:
    """A table whose first columns (`names`) identify the rows; only the first `top` rows, None = all."""
    kept = [name for name in names if name != "run" or len({row.asked.run for row in measured.rows}) > 1]
    rows = [row.cells for row in measured.rows[:top]]
    return Table(title, [*plain(*kept), *columns], rows, measured.signature, [*measured.notes, *notes])
