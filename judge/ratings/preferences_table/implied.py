"""Preferences implied by ratings: of two stories, the one with the higher mean rating is preferred."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judge.ratings.preferences_table.table import COLUMNS

_SAME = 1e-9
_WHO = ["run", "judge", "dataset", "criterion", "eval_prompt"]


def implied(ratings: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Rows of the preferences table with source "implied": in each pair, the story with the higher mean rating is
    preferred.

    There is a row for each pair and each judge x Eval-Prompt x criterion, and for each pair and criterion of people's
    ratings. A judge's ratings of a story are averaged over repeats, people's over raters. Means that differ by less
    than 1e-9 are a tie. If a story of the pair has no rating, the row has no preference and the status `not_answered`.

    Parameters
    ----------
    ratings : frame of a ratings table
    pairs : columns dataset, pair, story_prompt, first, second, first_system, second_system
        Use `pairs_within` where nobody compared stories.
    """
    by_people = (ratings["source"] == "rater").to_numpy()
    parts = [part for part in (ratings[~by_people], ratings[by_people]) if len(part)]
    tables_of_pairs = [rows for part in parts for rows in _of_one_kind(part, pairs)]
    return pd.concat(tables_of_pairs, ignore_index=True) if tables_of_pairs else pd.DataFrame(columns=list(COLUMNS))


def pairs_within(stories: pd.DataFrame) -> pd.DataFrame:
    """All pairs of stories with the same dataset and story-prompt, as columns of the preferences table. `stories` is
    indexed by (dataset, story).
    """
    rows = []
    plain = stories.reset_index()
    for (dataset, prompt), part in plain.groupby(["dataset", "story_prompt"], sort=False, observed=True):
        for left, other in combinations(part.sort_values("story").itertuples(), 2):
            pair = f"{left.story}|{other.story}"
            rows.append((dataset, pair, prompt, left.story, other.story, left.system, other.system))
    columns = ["dataset", "pair", "story_prompt", "first", "second", "first_system", "second_system"]
    return pd.DataFrame(rows, columns=columns)


def _of_one_kind(ratings: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[pd.DataFrame]:
    people = str(ratings["source"].iloc[0]) == "rater"
    who = ["dataset", "criterion"] if people else _WHO
    for key, part in ratings.groupby(who, sort=False, observed=True, dropna=False):
        labels: dict[str, Any] = dict(zip(who, key, strict=True))
        means = part.groupby("story", observed=True)["rating"].mean().dropna()
        own = pairs[(pairs["dataset"] == labels["dataset"]).to_numpy()]
        first, second = (own[side].astype(str).map(means).to_numpy(dtype=np.float64) for side in ("first", "second"))
        apart = first - second
        preference = np.where(np.abs(apart) < _SAME, "tie", np.where(apart > 0, "first", "second")).astype(object)
        lost = np.isnan(apart)
        preference[lost] = None
        rows = own.assign(**{name: labels.get(name) for name in ("run", "judge", "criterion", "eval_prompt")})
        rows = rows.assign(
            source="implied", preference=preference, status=np.where(lost, "not_answered", "ok"), flags=""
        )
        yield rows.reindex(columns=list(COLUMNS))
