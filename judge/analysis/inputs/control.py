"""The control judge: ratings predicted out of fold from surface features of the stories.

An out-of-fold prediction is the mean rating of the training stories plus the effect of the story's features. That mean
is the same for a whole fold; if people rated the fold low, it is high. Pooled predictions of several folds therefore
correlate negatively with human ratings: uninformative features would have a tau below 0 (Parker, Guenter & Bedo 2007,
BMC Bioinformatics 8), and an uninformed judge would seem better than the control. The mean of each fold's training
stories is therefore subtracted, as for a jury (`nested_folds`). The mean of all ratings is added, a constant that
restores the scale. A story's value is the mean over several divisions into folds (foldings)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pandas as pd

from judge.analysis.inputs.bars import ControlPredictions, ControlSource
from judge.backends.surface.model import Card, expected, read_card, shipped_model
from judge.base.arrays import Codes, Floats, Masks
from judge.inputs.text_features import LOG_OFFSETS, for_regression, own_features, score_file_features, tokens
from judge.stats.regression.ridge import StandardisedRidge, StandardisedRows, fit_standardised, out_of_fold
from judge.stats.resampling.bootstrap import folds_of_groups

# Stories with people's ratings from which on the control is refitted on them.
LEAST_RATED = 100

FOLDS, FOLDINGS = 5, 5
# Ridge penalties, from which each fold's training stories choose by their leave-one-out error.
PENALTIES = (30.0, 100.0, 300.0, 1000.0, 3000.0)


# Bytes of rows taken apart that are kept for further criteria.
_KEPT = 1 << 26

_NOT_FEATURES = ["story", "story_prompt", "system", "words", "text", "people"]


class Control:
    """The control judge for one ratings table; surface features are computed once for all criteria."""

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed
        self._stories: pd.DataFrame | None = None
        self._surface: Surface | None = None

    def __call__(self, stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
        if len(stories) < LEAST_RATED and stories.columns.isin(_NOT_FEATURES).all():
            # Too few for a refit, whose features take long to count.
            return _shipped(*_told(stories), criterion, read_card(shipped_model()))
        if self._surface is None or self._stories is not stories:
            self._stories, self._surface = stories, Surface.of(stories)
        return self._surface.predictions(people, criterion, seed=self.seed)


def _told(stories: pd.DataFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    texts = tuple(str(text) for text in stories["text"])
    return texts, tuple("" if pd.isna(prompt) else str(prompt) for prompt in stories["story_prompt"])


class _Fits:
    def __init__(self) -> None:
        # Criteria rated on the same stories have the same folds, and therefore share the standardised rows.
        self._known: dict[bytes, StandardisedRows] = {}
        self._size = 0

    def __call__(self, rows: Floats, response: Floats) -> StandardisedRidge:
        key = hashlib.blake2b(rows.tobytes()).digest()
        standardised = self._known.get(key)
        if standardised is None:
            standardised = StandardisedRows.of(rows)
            if self._size + standardised.parts.along.nbytes <= _KEPT:
                self._known[key] = standardised
                self._size += standardised.parts.along.nbytes
        return fit_standardised(standardised, response, PENALTIES)


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """Surface features of n stories, `rows` of shape (n, p); `blank` marks stories without features. If an import came
    with numeric features for more stories than have texts, these are used instead (`imported`)."""

    index: pd.Index[str]
    texts: tuple[str, ...]
    prompts: tuple[str, ...]
    rows: Floats
    blank: Masks
    names: tuple[str, ...]
    imported: bool = False
    _fits: _Fits = field(default_factory=_Fits, repr=False)

    @classmethod
    def of(cls, stories: pd.DataFrame) -> Surface:
        """Features of stories (index = story id) with `text`, `story_prompt` and optional numeric features."""
        texts, prompts = _told(stories)
        numeric = stories.drop(columns=_NOT_FEATURES, errors="ignore")
        blank = np.array([not tokens(text) for text in texts], dtype=bool)
        if not len(numeric.columns) or (~blank).sum() >= numeric.notna().all(axis=1).sum():
            counted = [for_regression(own_features(t, p)) for t, p in zip(texts, prompts, strict=True)]
            rows = np.array([list(values.values()) for values in counted], dtype=np.float64)
            return cls(stories.index, texts, prompts, rows, blank, tuple(counted[0]) if counted else ())
        named = {str(name): numeric[name].to_numpy(dtype=np.float64) for name in numeric.columns}
        with np.errstate(invalid="ignore", divide="ignore"):
            rows = np.column_stack([np.log(v + LOG_OFFSETS[n]) if n in LOG_OFFSETS else v for n, v in named.items()])
        blank = np.asarray(~np.isfinite(rows).all(axis=1), dtype=bool)
        return cls(stories.index, texts, prompts, rows, blank, tuple(named), imported=True)

    @property
    def groups(self) -> tuple[str, ...]:
        """Story-prompt of each story, for folds; a story without one is its own group."""
        return tuple(prompt or f"story {story}" for prompt, story in zip(self.prompts, self.index, strict=True))

    def predictions(
        self,
        people: pd.Series[float],
        criterion: str,
        *,
        seed: int = 1,
        folds: int = FOLDS,
        foldings: int = FOLDINGS,
        groups: Sequence[str] | None = None,
    ) -> ControlPredictions:
        """`control_predictions`; stories with equal `groups` (by default story-prompts) are held out together."""
        groups = self.groups if groups is None else groups
        response: Floats = np.array(people.reindex(self.index), dtype=np.float64)
        blank, total = self.blank, len(self.index)
        response[blank] = np.nan
        if (~np.isnan(response)).sum() >= LEAST_RATED:
            count = min(folds, len(set(groups)))
            predicted = [
                self._folding(response, folds_of_groups(groups, count, seed + turn)) for turn in range(foldings)
            ]
            usable = [values for values in predicted if values is not None]
            if usable:
                values = np.nanmean(response) + np.mean(usable, axis=0)
                values[blank] = np.nan
                missing = "incomplete features" if self.imported else "no text"
                reason = f"{blank.sum()} of these {total} stories have {missing}" if blank.any() else None
                source = "imported-features/" if self.imported else ""
                times = f"{len(usable)}x" if len(usable) > 1 else ""
                how = f"surface:refit/{source}{times}{count}-fold/less-fold-means/seed{seed}"
                return ControlPredictions(values, how, ControlSource.OUT_OF_FOLD, int(np.sum(~blank)), reason)
        if self.imported:
            why = f"the control cannot be refitted on imported features: that takes {LEAST_RATED} rated stories"
            return ControlPredictions(np.full(total, np.nan), "surface:none", ControlSource.UNAVAILABLE, 0, why)
        return _shipped(self.texts, self.prompts, criterion, read_card(shipped_model()))

    def _folding(self, response: Floats, fold: Codes) -> Floats | None:
        """Effect of the features, shape (n stories,); None where a single fold has all rated stories."""
        if len(set(fold[~np.isnan(response)].tolist())) < 2:
            return None
        rows = np.where(self.blank[:, None], 0.0, self.rows)
        predicted, level = out_of_fold(rows, response, fold, self._fits)
        return predicted - level


def control_predictions(
    stories: pd.DataFrame, people: pd.Series[float], criterion: str, *, seed: int = 1
) -> ControlPredictions:
    """Ratings of stories predicted from their surface features, out of fold.

    With at least `LEAST_RATED` rated stories, a ridge regression on `own_features` is fitted to mean human ratings,
    with five folds of story-prompts. (Where no story has a text, imported features are used; where there are no
    story-prompts, folds consist of stories.) Every story is predicted by the fit that has seen neither the story nor
    its story-prompt, and that fit's mean rating is subtracted. The story's value is the mean over five foldings plus
    the mean of all ratings. With fewer rated stories, the shipped model predicts; stories for story-prompts that it was
    fitted on have no prediction. Stories without a word (or with an incomplete feature) have none either.

    The index of `stories` and `people` is the story id; NaN or absent = not rated. `criterion` chooses among the
    shipped models. `seed` is of the first assignment to folds, which depends on names, not on the order of rows."""
    return Surface.of(stories).predictions(people, criterion, seed=seed)


@lru_cache(maxsize=2)
def _features(texts: tuple[str, ...], prompts: tuple[str, ...], *, own: bool) -> list[dict[str, float]]:
    # The same for each criterion whose shipped model reads them.
    return [(own_features if own else score_file_features)(*story) for story in zip(texts, prompts, strict=True)]


def _shipped(texts: tuple[str, ...], prompts: tuple[str, ...], criterion: str, card: Card) -> ControlPredictions:
    values = np.full(len(texts), np.nan)
    blank = seen = 0
    features = _features(texts, prompts, own=card.reads_own(criterion))
    for at, (plain, prompt) in enumerate(zip(features, prompts, strict=True)):
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
    source = ControlSource.SHIPPED if n else ControlSource.UNAVAILABLE
    return ControlPredictions(values, how, source, n, "; ".join(why) or None)


# Cache of the control judge's predictions for each dataset and criterion, because a refit takes seconds.


class RememberedControl:
    """A `Control` with a cache: for equal stories and ratings, earlier predictions are returned."""

    def __init__(self) -> None:
        self._control = Control()
        self._known: dict[tuple[object, ...], ControlPredictions] = {}

    def __call__(self, stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
        key = (tuple(stories["story"]), tuple(stories["text"]), people.to_numpy(dtype=np.float64).tobytes(), criterion)
        if key not in self._known:
            self._known[key] = self._control(stories, people, criterion)
        return self._known[key]
