"""Recognises stories that were perturbed on purpose, by their ids, and removes them from tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from judge.base.wording import Advice, Note
from judge.inputs.perturbations.catalogue import CATALOGUE
from judge.inputs.perturbations.story_name import PerturbedName, read_name
from judge.ratings.ratings_table.table import RatingsTable


def perturbed_names(stories: Iterable[object]) -> dict[str, PerturbedName]:
    """Parsed ids of the perturbed stories of one dataset, by story id; empty if the dataset has none.

    Unchanged copies of stories are included. An id with "@" may be an ordinary id. Such ids are therefore parsed only
    if at least one of them names a known perturbation or an unchanged copy.
    """
    marked = (str(story) for story in stories if "@" in str(story))
    names = {story: name for story in marked if (name := read_name(story)) is not None}
    marks_known = any(name.perturbation is None or name.perturbation in CATALOGUE for name in names.values())
    return names if marks_known else {}


def without_perturbed(table: RatingsTable) -> RatingsTable:
    """The table without perturbed stories, which no system wrote and no person rated.

    They would bias statistics such as a system's mean, a judge's self-agreement and the use of the scale. A note in
    each result folder's facts gives the number of stories left out.
    """
    gone = {str(dataset): _changed(table, dataset) for dataset in table.stories.index.unique(level=0)}
    gone = {dataset: names for dataset, names in gone.items() if names}
    if not gone:
        return table
    frame = table.frame
    rows = np.zeros(len(frame), dtype=np.bool_)
    for dataset, names in gone.items():
        rows |= (frame["dataset"].eq(dataset) & frame["story"].isin(names)).to_numpy(dtype=np.bool_)
    keep = ~table.stories.index.isin([(dataset, story) for dataset, names in gone.items() for story in names])
    facts = tuple(
        replace(fact, notes=(*fact.notes, _note(fact.dataset, len(gone[fact.dataset]))))
        if fact.dataset in gone
        else fact
        for fact in table.facts
    )
    return replace(table, frame=frame[~rows], stories=table.stories[keep], facts=facts)


def _changed(table: RatingsTable, dataset: object) -> list[str]:
    """Ids of the dataset's perturbed stories in the table."""
    index = table.stories.index
    names = perturbed_names(index.get_level_values(1)[index.get_level_values(0) == dataset])
    return [story for story, name in names.items() if name.perturbation is not None]


def _note(dataset: str, count: int) -> str:
    return Note(
        f"{dataset}: {count} perturbed stories are left out: this table is about the stories as they were",
        Advice("judge stress report has the others"),
    )
