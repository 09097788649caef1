"""Reads Ghazarian et al.'s coherence ratings: two sets of 300 stories, rated by five named workers from 0 to 5.

A row is a worker's answers to a page of stories: WorkerId, Input.text1, ..., Answer.text1, ... Stories are identified
by their text, ignoring blanks, and numbered in the file's order, without systems or story-prompts. ``</s>``, which ends
sentences in the ROC set, is removed. MANPLTS, the study's own score, is in a file of TEXT, a tab and a number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from judge.base.errors import DataError
from judge.base.late_pattern import late
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, csv_rows, decode, rating_value, read_bytes, text_value
from judge.inputs.datasets.studies import released

STORIES, RATERS = 300, 5
CRITERION = "Coherence"
SCALE = Scale(0, 5, 1)
SYSTEM = "not named"
DECODED = "the end of a sentence, which the ROC file writes as </s>"
_INPUT, _ANSWER, _WORKER = "Input.text", "Answer.text", "WorkerId"
_SENTENCE_END = late(r"\s*</s>\s*")


def load(name: str) -> Dataset:
    return released(
        name,
        read_stories,
        rater_identity=True,
        scale=SCALE,
        decoded=DECODED,
        expected={"stories": STORIES, "systems": 1, "story_prompts": 0, "ratings": STORIES * RATERS},
    )


def read_stories(path: Path) -> Iterator[Story]:
    """The 300 stories of a set in the file's order, with five ratings. Raises DataError if the content differs from the
    release."""
    ratings: dict[str, list[Rating]] = {}
    for row, cells in csv_rows(path, (_WORKER, f"{_INPUT}1", f"{_ANSWER}1")):
        worker = text_value(cells[_WORKER], path, row, _WORKER)
        for column in (name for name in cells if name.startswith(_INPUT)):
            answer = _ANSWER + column.removeprefix(_INPUT)
            if answer not in cells:
                raise DataError("a story without a column of ratings", file=path, row=row, column=answer)
            given = ratings.setdefault(plain(text_value(cells[column], path, row, column)), [])
            if any(rating.rater == worker for rating in given):
                raise DataError(f"worker {worker} rated this story before", file=path, row=row, column=column)
            given.append(Rating(CRITERION, rating_value(cells[answer], SCALE, path, row, answer), worker))
    check_count("stories", len(ratings), STORIES, path)
    for number, (text, given) in enumerate(ratings.items()):
        if len(given) != RATERS:
            raise DataError(f"not {RATERS} ratings", file=path, row=f"of story {number}", found=len(given))
        yield Story(f"{number:03d}", "", SYSTEM, text, None, tuple(given))


def read_scores(path: Path) -> dict[str, float]:
    """MANPLTS score (the study's own metric) by the text that `plain` gives. Raises DataError for another format."""
    scores: dict[str, float] = {}
    for row, line in enumerate(decode(read_bytes(path), path, 1).splitlines(), start=1):
        text, tab, number = line.rpartition("\t")
        if not tab:
            raise DataError("no tab between text and score", file=path, row=row, found=line)
        text = plain(text_value(text, path, row, "text"))
        if text in scores:
            raise DataError("the same story occurs twice", file=path, row=row, column="text", found=text)
        scores[text] = rating_value(number, None, path, row, "score")
        if not 0 < scores[text] < 1:
            raise DataError(
                "not a probability", file=path, row=row, column="score", found=number, allowed="above 0, below 1"
            )
    check_count("scores", len(scores), STORIES, path)
    return scores


def log_odds(score: float) -> float:
    """Log-odds of a score, a probability: they keep the order, but spread it near 0 and 1, where hundreds of scores
    would be ties at a tolerance of 1e-9."""
    return math.log(score) - math.log1p(-score)


def plain(text: str) -> str:
    """A text without the marks ``</s>``, with single blanks and none at both ends."""
    return " ".join(_SENTENCE_END.sub(" ", text).split())
