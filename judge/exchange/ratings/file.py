"""Reader of ratings from a table file of the user, in any supported file format. Columns are named, not guessed.

The file can have the columns of the ratings table and, for the stories, `text` and `reference`. `story`, `criterion`
and `rating` are required; the others may be missing. A row without a rating needs a `status` that says why.

If columns have other names, a column map gives them: `{"story": "id", "judge": "=gpt-4"}`, where `=` precedes a
constant. Its key `ratings.CRITERION` gives the column with the row's ratings on one criterion, and `people.CRITERION`
the column with human ratings of the row's story. `judges.CRITERION` gives a column for each of several judges
(`gpt:gpt_score,claude:claude_score`). With `*` for CRITERION, the row's own criterion is used. `judges` lists the names
in the column of raters that are judges. `{"story": "=row"}` numbers stories by rows. If a cell has several ratings by a
judge, they are repeats.

Where a criterion has labels (from its definition, the dataset or the column map), a cell holds the label, in upper or
lower case, or its code. A column `label` may be given in addition to the codes or instead of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from judge.base.errors import DataError
from judge.base.records import STATUSES, Criterion, Scale
from judge.exchange.imports.imported_folder import Import
from judge.exchange.ratings.parsed import LINE
from judge.exchange.ratings.repeats import number, refuse_twice
from judge.exchange.ratings.rows import FileRow, RatingsMap, file_rows, ratings_map
from judge.exchange.ratings.stories import StoryFacts, join, stories_of
from judge.inputs.datasets import Dataset
from judge.inputs.datasets.label_scales import LabelScales
from judge.ratings.ratings_table import COLUMNS, PANEL
from judge.ratings.ratings_table.columns import ordered, without_empty


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
    """Ratings in a table file of the user, with every column of the ratings table, and the file's data on the stories.

    Parameters
    ----------
    path : Path
        The table file.
    dataset : str or Dataset, optional
        A name sets the dataset's name where the file has none (default: the file's name). A Dataset also adds its
        stories' texts, systems and story-prompts and its human ratings, matched by the story's id.
    criteria : sequence of Criterion
        Gives abbreviations and scales: judges' ratings outside a criterion's scale become rows without a rating and
        with status `out_of_scale`. Criteria of the file that are not in the sequence are kept unchecked.
    notes : sequence of str
        Notes to print under every table.
    columns : mapping, optional
        Column map: from a field, such as ``story``, to the file's column where this has another name.
    leave_out : sequence of str
        Columns to ignore.
    number_repeats : bool
        Whether several rows with the same judge, Eval-Prompt, story and criterion are repeats, in the file's order.
    unrated : str, optional
        Status of rows that have neither a rating nor a status.
    ratings : "single" or "means", optional
        Whether judges' ratings are single ratings or means of repeats. Without it, ratings that are all points of the
        scale count as single.

    Raises
    ------
    DataError
        Missing or unknown columns, a rating that is not a number, a row with neither rating nor status, a duplicate
        rating, contradictory data on a story, or fewer than half of the stories in the
        dataset.
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
        notes=[*notes, *_passed_over(chosen, leave_out)],
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
    """Imported ratings made from the rows of a user's table file (`path`). The rows are joined with the stories of
    `dataset`, and the ratings are compared with the scales of `criteria`. `asked` holds the options of the import, to
    be stored.

    Raises DataError for a duplicate rating, for contradictory data on a story, and where the dataset has too few of the
    stories' ids.
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
    """The column map with all labels that are known: those of the dataset, of the map itself, and of the criteria."""
    labels, owner = (dataset.labels, dataset.name) if isinstance(dataset, Dataset) else (LabelScales(), path.name)
    for more in (chosen.labels, LabelScales.of_criteria(criteria)):
        labels = labels.with_given(more, owner)
    return replace(chosen, labels=labels)


def _labelled(rows: Sequence[FileRow], chosen: RatingsMap) -> list[tuple[str, Scale]]:
    """(name, scale) of each criterion in the file whose labels are known."""
    names = dict.fromkeys(str(row.cells["criterion"]) for row in rows)
    scales = ((name, chosen.labels.of(name)) for name in names)
    return [(name, scale) for name, scale in scales if scale is not None]


def _criterion(name: str, scale: Scale) -> Criterion:
    """Criterion with this name and scale, and an empty description."""
    return Criterion(name, name, "", scale)


def _checked_rows(
    path: Path, chosen: RatingsMap, dataset: str | None, unrated: str | None, *, number_repeats: bool
) -> list[FileRow]:
    """The file's rows, after it was checked that the status of each row fits its rating."""
    rows = file_rows(path, chosen, dataset=dataset, unrated=unrated, repeats=number_repeats)
    _check_status(rows, path)
    if number_repeats:
        number(rows, path)
    return rows


def _passed_over(chosen: RatingsMap, leave_out: Sequence[str]) -> list[str]:
    """A note on columns of answers' files that are in no ratings table and that nobody asked to leave out."""
    columns = [name for name in chosen.left_out if name not in leave_out and name != LINE]
    return [f"columns of the answers' file that are left out: {', '.join(columns)}"] if columns else []


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
    """The rows as a ratings table. Every row of a story gets the story's system and story-prompt from `facts`."""
    frame = without_empty(pd.DataFrame(list(rows), columns=[*COLUMNS, PANEL]))
    frame = frame[ordered(frame.columns)]
    places = [facts[key] for key in zip(frame["dataset"], frame["story"], strict=True)]
    frame["system"] = [story.system or "-" for story in places]
    frame["story_prompt"] = [story.story_prompt for story in places]
    frame["rating"] = frame["rating"].astype(np.float64)
    frame["repeat"] = frame["repeat"].astype("Int64")
    return frame


def _story_table(facts: Mapping[tuple[str, str], StoryFacts]) -> pd.DataFrame | None:
    """One row per story with a text: its number of words, text and reference; None where no story has a text."""
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
