"""The preferences table of a dataset alone: people's preferences, and those implied by their ratings."""

from __future__ import annotations

import pandas as pd

from judge.base.records import Story
from judge.inputs.datasets import Dataset
from judge.ratings.preferences_table.journaled import COLUMNS, PreferencesTable, implied, pairs_within
from judge.ratings.ratings_table.columns import StoryRow

_PAIRS = ("dataset", "pair", "story_prompt", "first", "second", "first_system", "second_system")
_RATED = ("run", "judge", "dataset", "story", "criterion", "eval_prompt", "source", "rating")


def of_dataset(dataset: Dataset) -> PreferencesTable:
    """People's preferences, and those implied by mean ratings on the pairs they compared or, without any, all within a
    story-prompt. A pair with an unknown story is left out, because its text is not available."""
    stories_by_id = {story.id: story for story in dataset.stories()}
    rows = [(dataset.name, s.id, s.story_prompt, s.system, len(s.text.split()), s.text) for s in stories_by_id.values()]
    stories = pd.DataFrame(rows, columns=StoryRow._fields).set_index(["dataset", "story"])
    preferred = _preferred(dataset, stories_by_id)
    pairs = preferred[list(_PAIRS)].drop_duplicates("pair") if len(preferred) else pairs_within(stories)
    rated_rows = [
        (None, None, dataset.name, s.id, rating.criterion, None, "rater", rating.value)
        for s in stories_by_id.values()
        for rating in s.ratings
    ]
    means = implied(pd.DataFrame(rated_rows, columns=list(_RATED)), pairs)
    parts = [part for part in (preferred, means) if len(part)] or [preferred]
    frame = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    return PreferencesTable(frame, stories, ())


def _preferred(dataset: Dataset, stories: dict[str, Story]) -> pd.DataFrame:
    rows = []
    for pair in dataset.pairs() if dataset.pairs is not None else ():
        if pair.first not in stories or pair.second not in stories:
            continue
        shown = (dataset.name, pair.id, pair.story_prompt, pair.first, pair.second)
        about = dict(zip(_PAIRS, (*shown, stories[pair.first].system, stories[pair.second].system), strict=True))
        for preference in pair.preferences:
            own = {"criterion": preference.criterion, "preference": preference.value, "rater": preference.rater}
            rows.append({**about, **own, "source": "rater", "status": "ok", "flags": ""})
    return pd.DataFrame(rows).reindex(columns=list(COLUMNS))
