"""HANNA's released score file as a ratings table. Means outside the scale count as missing unless the user keeps them.

For each of 1,056 stories the file holds the mean ratings of five judges under Eval-Prompts 1 to 4, human ratings in
three rater positions, and 72 automatic measures. A mean is over three repeats, with -1 averaged in for an answer that
could not be parsed. A position is not one person, so that human ratings have no rater; their rows are in the order of
the positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.records import Criterion, Story
from judge.exchange.imports.imported_folder import Import
from judge.inputs.datasets.studies.hanna import SCALE
from judge.inputs.datasets.studies.hanna_llm import read_human_stories
from judge.inputs.datasets.studies.hanna_scores import CRITERIA, POSITIONS, STORIES, ScoreFile, read_score_file
from judge.inputs.text_features import SCORE_FILE_FEATURES
from judge.ratings.ratings_table import COLUMNS

DATASET = "hanna_scores"
JUDGES = ("Beluga-13B", "Llama-13B", "Mistral-7B", "ChatGPT", "OrcaPlatypus")
EVAL_PROMPTS = (1, 2, 3, 4)
RECORDS = tuple(Criterion(name, short, "", SCALE) for name, short in CRITERIA.items())
_NO_EVAL_PROMPT = "-"


def read_scores(
    scores: Path, stories: Path | None = None, *, keep_out_of_scale: bool = False, measures: bool = False
) -> Import:
    """HANNA's released score file as rows of the ratings table.

    Parameters
    ----------
    scores : Path
        `hanna_metric_scores_llm.csv`.
    stories : Path, optional
        `hanna_llm_stories.csv`: gives the story-prompts and the texts of the 96 human stories.
    keep_out_of_scale : bool
        Whether judges' means outside the scale are kept as ratings, as the study used them. Otherwise they become rows
        without a rating and with status `out_of_scale`.
    measures : bool
        Whether to include the 72 automatic measures, as judges `measure/NAME`. A measure has the same number for every
        criterion.
    """
    table = read_score_file(scores)
    human = read_human_stories(stories) if stories is not None else []
    frame = pd.concat([*_judges(table), *(_measures(table) if measures else ()), *_people(table)], ignore_index=True)
    frame = _with_places(frame, table, human)
    notes = _notes(frame, human)
    notes += _off_scale(frame, keep_out_of_scale)
    return Import(
        frame=frame.reindex(columns=list(COLUMNS)),
        judge=f"{len(JUDGES)} judges of the HANNA score file",
        criteria=RECORDS,
        notes=notes,
        sources=[scores, *([stories] if stories else [])],
        stories=_stories(table, human),
        ratings="means",
        asked={"keep_out_of_scale": keep_out_of_scale, "measures": measures},
    )


def measure_columns(table: ScoreFile) -> list[str]:
    """Columns of HANNA's score file that hold automatic measures, and neither human ratings nor ratings by a judge."""
    others = (*(f"{judge} " for judge in JUDGES), "Human ")
    return [column for column in table.columns if column not in CRITERIA and not column.startswith(others)]


def _judges(table: ScoreFile) -> Iterator[pd.DataFrame]:
    for criterion, short in CRITERIA.items():
        for judge in JUDGES:
            for eval_prompt in EVAL_PROMPTS:
                values = _column(table, f"{judge} {short} {eval_prompt}")
                yield _rows(criterion, values, source="judge", judge=judge, eval_prompt=f"ep{eval_prompt}")


def _measures(table: ScoreFile) -> Iterator[pd.DataFrame]:
    for column in measure_columns(table):
        values = _column(table, column)
        for criterion in CRITERIA:
            yield _rows(criterion, values, source="judge", judge=f"measure/{column}", eval_prompt=_NO_EVAL_PROMPT)


def _people(table: ScoreFile) -> Iterator[pd.DataFrame]:
    for criterion, short in CRITERIA.items():
        for position in POSITIONS:
            yield _rows(criterion, _column(table, f"Human {position} {short}"), source="rater", status="ok")


def _column(table: ScoreFile, name: str) -> NDArray[np.float64]:
    column = table.column(name)
    return np.concatenate([column[system] for system in table.systems])


def _rows(criterion: str, values: NDArray[np.float64], **same: Any) -> pd.DataFrame:
    return pd.DataFrame({"place": np.arange(values.size), "criterion": criterion, "rating": values, **same})


def _with_places(frame: pd.DataFrame, table: ScoreFile, human: Sequence[Story]) -> pd.DataFrame:
    """The rows of `frame` with the columns run, dataset, story, story-prompt, system and status added."""
    system, number = frame["place"] // STORIES, frame["place"] % STORIES
    systems = np.array(table.systems, dtype=object)[system]
    prompts = [story.story_prompt for story in human] or [f"story-prompt {i}" for i in range(STORIES)]
    return frame.assign(
        run="hanna-scores",
        dataset=DATASET,
        story=systems + "/" + number.astype(str).to_numpy(dtype=object),
        story_prompt=np.array(prompts, dtype=object)[number],
        system=systems,
        status=frame["status"].where(frame["source"] == "rater", "imported"),
    )


def _off_scale(frame: pd.DataFrame, keep: bool) -> list[str]:
    """Set judges' means outside the scale to missing in `frame`, unless `keep`. Returns a list with one note on them;
    it is empty where there are none.
    """
    judged = (frame["source"] == "judge") & ~frame["judge"].astype(str).str.startswith("measure/")
    off = judged & ~frame["rating"].between(SCALE.min, SCALE.max)
    many = f"{int(off.sum())} of {int(judged.sum())} judges' means lie off the scale of {SCALE.min:g} to {SCALE.max:g}"
    if not off.any():
        return []
    if keep:
        return [f"{many} (answers that were not understood, averaged in as -1) and were kept as ratings"]
    frame.loc[off, "rating"] = np.nan
    frame.loc[off, "status"] = "out_of_scale"
    left = "means within it may hold -1 too, which cannot be seen"
    return [f"{many} (answers that were not understood, averaged in as -1) and count as missing; {left}"]


def _notes(frame: pd.DataFrame, human: Sequence[Story]) -> list[str]:
    notes = [
        "judges' ratings are means of three repeats, as released: the repeats themselves cannot be analysed",
        "words: tokens as the score file counts them",
    ]
    if not human:
        notes.append("story-prompts are numbered: their texts are in hanna_llm_stories.csv, which was not at hand")
    if frame["judge"].astype(str).str.startswith("measure/").any():
        notes.append("measure/NAME: one number a story, the same for every criterion")
    return notes


def _stories(table: ScoreFile, human: Sequence[Story]) -> pd.DataFrame:
    """One row for each story of HANNA's score file: number of words, text (for human stories) and the file's surface
    features.
    """
    names = [f"{system}/{i}" for system in table.systems for i in range(STORIES)]
    texts = {f"Human/{i}": story.text for i, story in enumerate(human)}
    features = {name: _column(table, column) for name, column in SCORE_FILE_FEATURES.items()}
    columns = {"dataset": DATASET, "story": names, "words": features["length"].astype(np.int64)}
    return pd.DataFrame(columns | {"text": [texts.get(name, "") for name in names]} | features)
