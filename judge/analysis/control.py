"""The control row: what surface features alone say of the same stories. Never predicts a story it has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.backends.surface.model import Card, expected, read_card, shipped_model
from judge.backends.surface.ridge import Array, Ridge, fit_ridge, folds_of_groups, out_of_fold
from judge.text_features import for_regression, own_features, score_file_features, tokens

LEAST_RATED = 100
"""Stories with people's ratings from which on the control is refitted on them."""

FOLDS = 5
PENALTIES = (30.0, 100.0, 300.0, 1000.0, 3000.0)
"""Ridge penalties, from which each fold's training stories choose by their leave-one-out error."""


@dataclass(frozen=True, slots=True)
class ControlPredictions:
    """The control judge's ratings, out of fold.

    Attributes
    ----------
    values : array, shape (n_stories,)
        Aligned with the stories given; NaN where there is no prediction.
    how : str
        For the signature: ``surface:refit/5-fold/seed1``, ``surface:shipped@b2:...`` or ``surface:none``.
    n : int
        Stories with a prediction.
    reason : str or None
        Why some or all predictions are missing.
    """

    values: NDArray[np.float64]
    how: str
    n: int
    reason: str | None = None


def control_predictions(
    stories: pd.DataFrame, people: pd.Series[float], criterion: str, *, seed: int = 1
) -> ControlPredictions:
    """Rate stories by their surface, out of fold.

    With `LEAST_RATED` rated stories or more, a ridge regression on `own_features` is fitted on the people's means,
    five-fold by story-prompts (by stories where they have no story-prompt), and every story is predicted by the fit
    that saw neither it nor its story-prompt. With fewer, the shipped model predicts, except stories for the
    story-prompts it was itself fitted on: those have no prediction. Stories without a word have none either.

    Parameters
    ----------
    stories : columns ``text`` and ``story_prompt`` (others are ignored); index = story id.
    people : mean of people's ratings per story id, in points of any scale; NaN or absent = not rated.
    criterion : name of the criterion; chooses among the shipped models.
    seed : of the dealing out of story-prompts to folds.
    """
    response: Array = np.array(people.reindex(stories.index), dtype=np.float64)
    texts = [str(text) for text in stories["text"]]
    prompts = ["" if pd.isna(prompt) else str(prompt) for prompt in stories["story_prompt"]]
    groups = [prompt or f"story {story}" for prompt, story in zip(prompts, stories.index, strict=True)]
    blank = np.array([not tokens(text) for text in texts], dtype=bool)
    response[blank] = np.nan
    rated = ~np.isnan(response)
    if rated.sum() >= LEAST_RATED:
        count = min(FOLDS, len(set(groups)))
        folds = folds_of_groups(groups, count, seed)
        if len(set(folds[rated].tolist())) > 1:
            values = out_of_fold(_features(texts, prompts), response, folds, _fit)
            values[blank] = np.nan
            reason = f"{blank.sum()} of these {len(texts)} stories have no text" if blank.any() else None
            return ControlPredictions(values, f"surface:refit/{count}-fold/seed{seed}", int(np.sum(~blank)), reason)
    return _shipped(texts, prompts, criterion, read_card(shipped_model()))


def _features(texts: Sequence[str], prompts: Sequence[str]) -> Array:
    counted = (for_regression(own_features(text, prompt)) for text, prompt in zip(texts, prompts, strict=True))
    rows: Array = np.array([list(values.values()) for values in counted], dtype=np.float64)
    return rows


def _fit(rows: Array, response: Array) -> Ridge:
    return fit_ridge(rows, response, PENALTIES)


def _shipped(texts: Sequence[str], prompts: Sequence[str], criterion: str, card: Card) -> ControlPredictions:
    values = np.full(len(texts), np.nan)
    blank = seen = 0
    for at, (text, prompt) in enumerate(zip(texts, prompts, strict=True)):
        plain = (own_features if card.reads_own(criterion) else score_file_features)(text, prompt)
        model = card.choose(criterion, plain["length"])
        if not plain["length"]:
            blank += 1
        elif card.was_fitted_on(model, prompt):
            seen += 1
        else:
            values[at] = expected(model.distribution(model.parts(for_regression(plain))))
    why = [f"{blank} of these {len(texts)} stories have no text"] if blank else []
    if seen:
        why.append(
            f"the control cannot be refitted (that takes {LEAST_RATED} rated stories, for two story-prompts or more), "
            f"and its shipped model was fitted on the story-prompts of {seen} of these {len(texts)} stories"
        )
    n = len(texts) - blank - seen
    how = f"surface:shipped@{card.hash}" if n else "surface:none"
    return ControlPredictions(values, how, n, "; ".join(why) or None)
