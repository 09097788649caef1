"""Reads the explanations to sample from a file: the JSON of the layout stories of `judge diagnose`, written with its
option `long`, or a table. Which column holds what is never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.base.errors import DataError, SpecError
from judge.base.records import Criterion
from judge.base.wording import Advice, Note
from judge.explanations.audit.sample.population import Population
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.files.source_file import read_json

_PLACE = ["run", "judge", "dataset", "story", "criterion", "eval_prompt", "repeat", "explanation"]


def read_population(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    criteria: str | None = None,
    first_repeat: bool = False,
) -> Population:
    """The explanations in a file, as a population to sample from. The file is the JSON that
    layout stories of `judge diagnose` writes with its option `long`, or a table.

    A table has the columns `text`, `criterion` and `story`, and optional ones (`story_text, story_prompt, reference,
    judge...`). `columns` maps these names to the columns of the table. `criteria` names the set with the definitions
    and guidelines of the criteria, because a file holds only their names. `first_repeat` keeps only the first repeat of
    each query. Raises DataError for an invalid file, and SpecError for a criterion that is not in the set.
    """
    if path.suffix.lower() == ".json" and not columns:
        frame, stories, notes = _disagreements(path)
    else:
        frame, stories, notes = _table(path, columns)
    by_name = {c.name: c for c in load_criteria(criteria).criteria} if criteria else {}
    strange = sorted({str(name) for name in frame["criterion"] if name} - set(by_name)) if criteria else []
    if strange:
        raise SpecError(f"{path}: criterion {strange[0]!r} is not in the set {criteria!r} ({', '.join(by_name)})")
    if not criteria and frame["criterion"].any():
        gives = Advice("{criteria} gives them", criteria="SET")
        notes.append(Note("definitions and guidelines of criteria are not in the file", gives, joint=": "))
    left_out: dict[str, int] = {}
    if first_repeat:
        first = frame["repeat"].isna() | (frame["repeat"] == 0)
        left_out["later repeats"] = int((~first).sum())
        frame = frame[first.to_numpy(dtype=bool)]
    has = np.array([isinstance(text, str) and bool(text.strip()) for text in frame["explanation"]], dtype=bool)
    left_out["no explanation"] = int((~has).sum())
    frame = frame[has]
    twice = frame.duplicated(_PLACE)
    left_out["a row like one before"] = int(twice.sum())
    frame = frame[~twice].reset_index(drop=True)
    if frame.empty:
        raise DataError("none of the rows has an explanation", file=path)
    return Population(frame, left_out, stories, by_name or _named(frame), (), tuple(notes))


def _named(frame: pd.DataFrame) -> dict[str, Criterion]:
    """The criteria in `frame`, by name, without definitions and guidelines."""
    return {name: Criterion(name, name[:8], "") for name in map(str, frame["criterion"].unique()) if name}


def _table(path: Path, columns: Mapping[str, str] | None) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    from judge.explanations.corpus.reading import read_texts

    texts = read_texts(path, columns=columns)
    frame = texts.frame.copy()
    frame["explanation"] = frame["text"]
    frame["people"], frame["gap"], frame["cluster"] = np.nan, np.nan, None
    return frame, texts.stories, [f"explanations are those of {path.name}", *texts.notes]


def _disagreements(path: Path) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    content = read_json(path)
    tables = content if isinstance(content, list) else [content]
    table = next((candidate for candidate in tables if _is_list(candidate)), None)
    if table is None:
        raise DataError(
            "is not a list of disagreements",
            file=path,
            hint=Advice(
                "judge diagnose --layout stories RUN {long} {format} -o FILE writes one", long=True, format="json"
            ),
        )
    rows, stories = [], {}
    for listed in table["rows"]:
        key = (str(listed["dataset"]), str(listed["story"]))
        stories[key] = (*key, listed["story_prompt"], listed["system"], listed["text"] or None, None)
        people = None if listed["people"] is None else listed["people"]["mean"]
        rows += [_said(listed, side, repeat, people) for side in listed["sides"] for repeat in side["repeats"]]
    names = ["dataset", "story", "story_prompt", "system", "text", "reference"]
    story_table = pd.DataFrame(list(stories.values()), columns=names, dtype=object).set_index(["dataset", "story"])
    frame = pd.DataFrame(rows)
    frame["repeat"] = frame["repeat"].astype("Int64")
    for name in ("rating", "people"):
        frame[name] = frame[name].astype("float64")
    frame["gap"] = frame["rating"] - frame["people"]
    notes = [
        f"explanations are those of {path.name}, where ratings differ most: rates say nothing of other stories",
        f"disagreements: {table['signature']}",
    ]
    return frame, story_table, notes


def _is_list(table: Any) -> bool:
    return isinstance(table, Mapping) and bool(table.get("rows")) and all("sides" in row for row in table["rows"])


def _said(listed: Mapping[str, Any], side: Mapping[str, Any], repeat: Mapping[str, Any], people: Any) -> dict[str, Any]:
    """One row of the population to sample from, built from the JSON file of `judge diagnose --layout stories`.

    `listed` is the entry of a story and criterion, `side` what one judge answered about them with one Eval-Prompt, and
    `repeat` one of its answers. `people` is the mean human rating.
    """
    cell = {key: listed[key] for key in ("dataset", "story", "story_prompt", "system", "criterion")}
    asked = {key: side[key] for key in ("run", "judge", "eval_prompt")}
    given = {key: repeat[key] for key in ("repeat", "rating", "status", "flags", "explanation")}
    return {**cell, **asked, **given, "people": people, "cluster": None}
