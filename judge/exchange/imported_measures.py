"""Conversion of automatic measures into a result folder, so that every table shows them next to the judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from judge.base.credentials.providers import MEASURE
from judge.base.records import Criterion, Story
from judge.base.wording import few
from judge.exchange.imported_folder import Import
from judge.inputs.datasets import Dataset
from judge.inputs.text_features import length
from judge.lab.measures import Need, Undefined, Value
from judge.lab.measures.session import Measured
from judge.ratings.ratings_table import COLUMNS

# The criterion of measures where people rated none.
UNRATED = "Overall"

NOTE = (
    f"{MEASURE}/NAME: a measure, no judge: one number a story, the same for every criterion, on a scale of its own; "
    "judge measures says how each is computed"
)
# Below it a value is zero up to rounding: no n-gram of weight is shared.
CIDER_ZERO = 1e-6


def as_import(
    measured: Measured, dataset: Dataset, models: Mapping[Need, str], criteria: Sequence[Criterion]
) -> Import:
    """Result folder content with measures and human ratings; `models` names the models that measures needed."""
    recipes = {result.measure.name: result.measure.recipe for result in measured.measures}
    return Import(
        frame=_rows(measured, dataset.name),
        judge=f"{len(measured.measures)} measures",
        criteria=criteria,
        notes=[NOTE, *_notes(measured)],
        sources=[Path(file) for file in dataset.files],
        stories=_stories(measured.stories, dataset.name),
        asked={
            "recipes": recipes,
            "packages": dict(measured.versions),
            "models": dict(models),
            "dataset": dataset.fingerprint(),
            "not run": {name: str(reason) for name, reason in measured.skipped.items()},
        },
        ratings="means",
        labels_note=dataset.labels_note,
        given="length",
        directions={f"{MEASURE}/{result.measure.name}": result.measure.direction for result in measured.measures},
    )


def _rows(measured: Measured, dataset: str) -> pd.DataFrame:
    places = pd.DataFrame(
        {
            "run": "measures",
            "dataset": dataset,
            "story": [story.id for story in measured.stories],
            "story_prompt": [story.story_prompt for story in measured.stories],
            "system": [story.system for story in measured.stories],
        }
    )
    criteria = list(dict.fromkeys(rating.criterion for story in measured.stories for rating in story.ratings))
    blocks = [
        values.assign(criterion=criterion)
        for values in (_measure(places, name, values) for name, values in measured.by_measure.items())
        for criterion in criteria or [UNRATED]
    ]
    return pd.concat([*blocks, _people(measured.stories, places)], ignore_index=True).reindex(columns=list(COLUMNS))


def _measure(places: pd.DataFrame, name: str, values: Sequence[Value]) -> pd.DataFrame:
    reasons = [f"undefined: {value.reason}" if isinstance(value, Undefined) else None for value in values]
    return places.assign(
        judge=f"{MEASURE}/{name}",
        eval_prompt="-",
        source="judge",
        rating=np.array([np.nan if isinstance(value, Undefined) else value for value in values], dtype=np.float64),
        status=["imported" if reason is None else "no_rating" for reason in reasons],
        explanation=np.array(reasons, dtype=object),
    )


def _people(stories: Sequence[Story], places: pd.DataFrame) -> pd.DataFrame:
    ratings = [(at, rating) for at, story in enumerate(stories) for rating in story.ratings]
    rows = places.iloc[[at for at, _ in ratings]].reset_index(drop=True)
    return rows.assign(
        criterion=[rating.criterion for _, rating in ratings],
        source="rater",
        rater=np.array([rating.rater for _, rating in ratings], dtype=object),
        rating=np.array([rating.value for _, rating in ratings], dtype=np.float64),
        status="ok",
        explanation=None,
    )


def _stories(stories: Sequence[Story], dataset: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dataset": dataset,
            "story": [story.id for story in stories],
            "words": [length(story.text) for story in stories],
            "text": [story.text for story in stories],
        }
    )


def _notes(measured: Measured) -> Iterator[str]:
    stories = len(measured.stories)
    reasons: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for name, values in measured.by_measure.items():
        counts = Counter(value.reason for value in values if isinstance(value, Undefined))
        if counts:
            reasons.setdefault(tuple(sorted(counts.items())), []).append(name)
    for counted, names in reasons.items():
        counted_reasons = ", ".join(f"{count:,} as {reason}" for reason, count in counted)
        yield f"undefined of {stories:,} stories: {counted_reasons} ({few(names, 4)})"
    for name, count in measured.cut.items():
        yield f"{name}: {count:,} of {stories:,} stories are longer than the model reads, and were cut"
    for name, values in measured.by_measure.items():
        if name.startswith("cider"):
            numbers = [value for value in values if not isinstance(value, Undefined)]
            zeros = sum(value < CIDER_ZERO for value in numbers)
            if numbers:
                yield f"{name}: {100 * zeros / len(numbers):.0f} % of its values are zero: it was designed for captions"
