"""Joins contamination scores with the stories of runs, by the hash of the text. Stories without a stored text are
joined by id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import SpecError
from judge.base.fingerprint import fingerprint_text
from judge.base.judge_name import JudgeName
from judge.base.wording import Advice
from judge.contamination.scores_file import ScoresFile
from judge.ratings.rating_matrix import RatingMatrix

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """One contamination score for each story of a rating matrix (all ratings of one dataset's stories); NaN = no score.
    `matched` is the number of stories that are in the scores file.
    """

    scores: Floats
    matched: int


def join(matrix: RatingMatrix, scores: ScoresFile, name: str) -> Joined:
    """The contamination score `name` of each story of a rating matrix (all ratings of one dataset's stories). A story
    is joined with its line in the scores file by the hash of its text.

    A story whose text is not stored is joined by its id, if the scores were computed on the dataset of the same name.
    """
    scores_by_row, rows = scores.score(name), _places(matrix, scores)
    values = np.where(rows >= 0, scores_by_row[rows], np.nan)
    return Joined(np.asarray(values, dtype=np.float64), int((rows >= 0).sum()))


def story_prompts(matrices: Sequence[RatingMatrix], scores: ScoresFile) -> Codes:
    """Integer code of the story-prompt of each scored text, shape (texts,). A text that is not a story of the matrices
    gets its own code.
    """
    code = np.arange(len(scores.rows), dtype=np.int64)
    offset = code.size
    for matrix in matrices:
        rows = _places(matrix, scores)
        code[rows[rows >= 0]] = offset + matrix.story_prompt[rows >= 0]
        offset += int(matrix.story_prompt.max(initial=-1)) + 1
    return code


def _places(matrix: RatingMatrix, scores: ScoresFile) -> Codes:
    """Index of each story's line in the scores file, shape (stories,); -1 = the story is not in the file."""
    by_text = {row.text: i for i, row in enumerate(scores.rows)}
    same_set = scores.header["source"] == matrix.dataset
    by_id = {row.id: i for i, row in enumerate(scores.rows)} if same_set else {}
    rows = np.full(matrix.n, -1, dtype=np.int64)
    for i, (story, text) in enumerate(zip(matrix.stories["story"], matrix.stories["text"], strict=True)):
        rows[i] = by_text.get(fingerprint_text(text), -1) if text else by_id.get(str(story), -1)
    return rows


def refuse_strangers(scores: ScoresFile, joined: int) -> None:
    """Raise SpecError if `joined`, the number of scored texts that are stories of the runs, is 0."""
    if joined == 0:
        raise SpecError(
            f"none of the {len(scores.rows)} texts of {scores.header['source']} is a story of these runs",
            hint=Advice("score the runs' own dataset: judge contamination score DATASET {model} ..."),
        )


def same_name(model: str, name: str) -> bool:
    """Whether `name` names the model: ignoring provider, punctuation and case, one name contains the other. Names of
    fewer than four letters and digits never match.
    """
    ours, theirs = letters(JudgeName.of(model).model), letters(name.rpartition("/")[2])
    # Shorter names, such as "m" or "gpt", are part of too many others.
    return min(len(ours), len(theirs)) > 3 and (ours in theirs or theirs in ours)


def letters(name: str) -> str:
    """Letters a-z and digits of a name, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())
