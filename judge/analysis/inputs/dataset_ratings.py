"""The human ratings of a dataset as a ratings table, before there is any run."""

from __future__ import annotations

import pandas as pd

from judge.inputs.datasets import Dataset
from judge.ratings.ratings_table import COLUMNS, PANEL, STORY_COLUMNS, RatingsTable
from judge.ratings.ratings_table.columns import ordered, with_labels, without_empty


def ratings_of(dataset: Dataset) -> RatingsTable:
    rows, stories = [], []
    for story in dataset.stories():
        story_key = (dataset.name, story.id, story.story_prompt, story.system)
        stories.append((*story_key, len(story.text.split()), story.text))
        rows += [
            (
                dataset.name,
                None,
                *story_key,
                rating.criterion,
                None,
                "rater",
                rating.rater,
                None,
                rating.value,
                "ok",
                "",
                None,
                rating.panel,
            )
            for rating in story.ratings
        ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, PANEL]).astype({"rating": "float64", "repeat": "Int64"})
    frame = without_empty(frame)
    frame = frame[ordered(frame.columns)]
    story_frame = pd.DataFrame(stories, columns=["dataset", "story", *STORY_COLUMNS]).set_index(["dataset", "story"])
    criteria = [str(name) for name in frame["criterion"].unique()]
    scales = {(dataset.name, name.casefold()): scale for name in criteria if (scale := dataset.labels.of(name))}
    return RatingsTable(with_labels(frame, scales, explanations=True), story_frame, (), scales)
