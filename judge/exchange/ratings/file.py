"""A ratings table from the user's own file, in any form that is read. Columns are named, not guessed.

The columns are the ratings table's, and of the stories `text` and `reference`. `story`, `criterion` and `rating` are
needed; the others may be left out where there is nothing to say. A row without a rating needs a `status` that says why.
A column map names columns that are called otherwise: `{"story": "id", "judge": "=gpt-4"}`; `ratings.CRITERION` is a
column of the row's ratings on one criterion, `people.CRITERION` one of people's ratings of the row's story, and
`judges.CRITERION` names a column for each of several judges (`gpt:gpt_score,claude:claude_score`). `*` in place of
CRITERION is the row's own; `judges` lists those in the column of raters that are judges; `{"story": "=row"}` numbers
stories by rows. A cell with several of a judge's ratings holds its repeats.

Where a criterion has labels (the criteria's, the dataset's, or those that the column map declares), a cell holds a
label's word, letter case aside, or its code; a column `label` may stand beside the codes, or in their place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from judge.datasets import Dataset
from judge.datasets.label_scales import LabelScales
from judge.errors import DataError
from judge.exchange.imports.imported_folder import Import
from judge.exchange.ratings.repeats import number, refuse_twice
from judge.exchange.ratings.rows import FileRow, RatingsMap, file_rows, ratings_map
from judge.exchange.ratings.stories import StoryFacts, join, stories_of
from judge.ratings_table import COLUMNS, PANEL
from judge.ratings_table.columns import ordered, without_empty
from judge.records import STATUSES, Criterion, Scale


def read_ratings(
    path: Path,
    *,
    dataset: str | Dataset | None = None,
    criteria: Sequence[Criterion] = (),
    notes: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    leave_out: Sequence[str] = (),
    number_repeats: bool = False,
    unrated: str | None = None,
    ratings: Literal["single", "means"] | None = None,
) -> Import:
    """The file's rows with every column of the ratings table, and the file's facts about the stories.

    Parameters
    ----------
    dataset : str or Dataset, optional
        The dataset's name where the file does not say it; else the file's name. Of a Dataset the stories' texts,
        systems and story-prompts and people's ratings are joined by the story's id.
    criteria : sequence of Criterion
        Gives abbreviations and scales: judges' ratings off a criterion's scale become rows without a rating and with
        status `out_of_scale`. Criteria that are not among them are taken as they are.
    notes : sequence of str, to stand under every table
    columns, leave_out : mapping, sequence of str
        Column map, for columns that are called otherwise; columns that hold nothing of this.
    number_repeats : bool
        Several rows of one judge, Eval-Prompt, story and criterion are its repeats, in the file's order.
    unrated : str, optional
        Status of rows without a rating that name none.
    ratings : "single", "means" (of repeats); without it, points of the scale are single ratings

    Raises
    ------
    DataError
        Missing or unknown columns, a rating that is no number, no rating and no status, one rating twice, facts of a
        story that contradict each other, too few ids that the dataset has.
    """
    chosen = _with_labels(ratings_map(path, columns or {}, leave_out), dataset, criteria, path)
    name = dataset if isinstance(dataset, str) else dataset.name if dataset is not None else None
    rows = _checked_rows(path, chosen, name, unrated, number_repeats=number_repeats)
    by_name = {name: _criterion(name, scale) for name, scale in _labelled(rows, chosen)}
    by_name |= {criterion.name: criterion for criterion in criteria}
    return import_rows(
        rows,
        path,
        dataset=dataset if isinstance(dataset, Dataset) else None,
        criteria=list(by_name.values()),
        notes=notes,
        ratings=ratings,
        asked=_asked(dataset, chosen, columns or {}),
    )


def import_rows(
    rows: Sequence[FileRow],
    path: Path,
    *,
    dataset: Dataset | None,
    criteria: Sequence[Criterion],
    notes: Sequence[str],
    ratings: Literal["single", "means"] | None,
    asked: Mapping[str, Any],
) -> Import:
    """Rows, each with a status that fits its rating, joined with the dataset's stories and held against the scales.

    Raises DataError for one rating twice, for facts of a story that contradict each other, and for too few ids that the
    dataset has.
    """
    refuse_twice(rows, path)
    facts = stories_of(rows, path)
    judged, people = ([row.cells for row in rows if row.cells["source"] == source] for source in ("judge", "rater"))
    story_notes: list[str] = []
    labels_note = None
    if dataset is not None:
        joined = join(facts, dataset, path, {str(row.cells["criterion"]) for row in rows}, people=bool(people))
        people += joined.people
        story_notes, labels_note = joined.notes, dataset.labels_note
    frame = _frame(judged + people, facts)
    by_name = {criterion.name: criterion for criterion in criteria}
    if dataset is not None:
        of_dataset = ((str(name), dataset.labels.of(str(name))) for name in pd.unique(frame["criterion"]))
        by_name = {name: _criterion(name, scale) for name, scale in of_dataset if scale is not None} | by_name
    names = [str(name) for name in pd.unique(frame["criterion"])]
    off = _off_scale(frame, by_name)
    return Import(
        frame=frame,
        judge=", ".join(sorted({str(cells["judge"]) for cells in judged})) or "people only",
        criteria=[by_name[name] for name in names if name in by_name],
        notes=[*notes, *story_notes, *filter(None, [labels_note]), *off],
        sources=[path],
        stories=_story_table(facts),
        asked=asked,
        ratings=ratings,
        labels_note=labels_note,
    )


def _with_labels(
    chosen: RatingsMap, dataset: str | Dataset | None, criteria: Sequence[Criterion], path: Path
) -> RatingsMap:
    """The map with all labels that are known: the dataset's, those that the map declares, and the criteria's."""
    labels, owner = (dataset.labels, dataset.name) if isinstance(dataset, Dataset) else (LabelScales(), path.name)
    for more in (chosen.labels, LabelScales.of_criteria(criteria)):
        labels = labels.with_given(more, owner)
    return replace(chosen, labels=labels)


def _labelled(rows: Sequence[FileRow], chosen: RatingsMap) -> list[tuple[str, Scale]]:
    """The file's criteria whose labels are known, with their scales."""
    names = dict.fromkeys(str(row.cells["criterion"]) for row in rows)
    scales = ((name, chosen.labels.of(name)) for name in names)
    return [(name, scale) for name, scale in scales if scale is not None]


def _criterion(name: str, scale: Scale) -> Criterion:
    """A criterion of which the scale alone is known."""
    return Criterion(name, name, "", scale)


def _checked_rows(
    path: Path, chosen: RatingsMap, dataset: str | None, unrated: str | None, *, number_repeats: bool
) -> list[FileRow]:
    """The file's rows, each with a status that fits its rating."""
    rows = file_rows(path, chosen, dataset=dataset, unrated=unrated, repeats=number_repeats)
    _check_status(rows, path)
    if number_repeats:
        number(rows, path)
    return rows


def _asked(dataset: str | Dataset | None, chosen: RatingsMap, columns: Mapping[str, Any]) -> dict[str, Any]:
    joined = {"dataset": dataset.name, "dataset_hash": dataset.fingerprint()} if isinstance(dataset, Dataset) else {}
    asked: dict[str, Any] = {"columns": dict(columns), "left_out": list(chosen.left_out), **joined}
    return {key: value for key, value in asked.items() if value}


def _check_status(rows: Sequence[FileRow], path: Path) -> None:
    for row in rows:
        status, rating = row.cells["status"], row.cells["rating"]
        if status not in STATUSES:
            allowed = ", ".join(STATUSES)
            raise DataError("unknown status", file=path, row=row.number, found=status, allowed=allowed)
        if rating is not None and status not in ("ok", "imported"):
            message = "the row has a rating, but its status says that there is none"
            raise DataError(message, file=path, row=row.number, found=status, allowed="ok, imported")
        if rating is None and status in ("ok", "imported"):
            message = "the row has no rating, but its status says that there is one"
            allowed = ", ".join(name for name in STATUSES if name not in ("ok", "imported"))
            raise DataError(message, file=path, row=row.number, found=status, allowed=allowed)


def _frame(rows: Sequence[Mapping[str, Any]], facts: Mapping[tuple[str, str], StoryFacts]) -> pd.DataFrame:
    """The rows as a ratings table; system and story-prompt are the story's, whichever row says them."""
    frame = without_empty(pd.DataFrame(list(rows), columns=[*COLUMNS, PANEL]))
    frame = frame[ordered(frame.columns)]
    places = [facts[key] for key in zip(frame["dataset"], frame["story"], strict=True)]
    frame["system"] = [story.system or "-" for story in places]
    frame["story_prompt"] = [story.story_prompt for story in places]
    frame["rating"] = frame["rating"].astype(np.float64)
    frame["repeat"] = frame["repeat"].astype("Int64")
    return frame


def _story_table(facts: Mapping[tuple[str, str], StoryFacts]) -> pd.DataFrame | None:
    """Facts of the stories other than ratings; None where there are none."""
    rows = [
        {
            "dataset": dataset,
            "story": story,
            "words": len(story_facts.text.split()),
            "text": story_facts.text,
            "reference": story_facts.reference,
        }
        for (dataset, story), story_facts in facts.items()
        if story_facts.text is not None
    ]
    return pd.DataFrame(rows) if rows else None


def _off_scale(frame: pd.DataFrame, criteria: Mapping[str, Criterion]) -> list[str]:
    low = frame["criterion"].map({name: c.scale.min for name, c in criteria.items()}).astype(np.float64)
    high = frame["criterion"].map({name: c.scale.max for name, c in criteria.items()}).astype(np.float64)
    off = (frame["source"] == "judge") & ((frame["rating"] < low) | (frame["rating"] > high))
    # A mean of labels without an order is none of them.
    loose = [name for name, c in criteria.items() if c.scale.labels and not c.scale.numeric]
    off |= (frame["source"] == "judge") & frame["criterion"].isin(loose) & (frame["rating"] % 1 > 0)
    if not off.any():
        return []
    frame.loc[off, "rating"] = math.nan
    frame.loc[off, "status"] = "out_of_scale"
    return [f"{int(off.sum())} judges' ratings lie off their criterion's scale and count as missing"]
