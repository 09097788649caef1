"""Sources of ratings (people, or a judge with an Eval-Prompt) with all their criteria, to compare these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge.base.arrays import Codes, Floats, Masks
from judge.base.printing.tables import cells_of
from judge.inputs.datasets import Dataset
from judge.ratings.rating_matrix import RatingMatrix
from judge.ratings.ratings_table import COLUMNS, PANEL, STORY_COLUMNS, RatingsTable
from judge.ratings.ratings_table.columns import ordered, with_labels, without_empty

# The human ratings of a dataset as a ratings table, before there is any run.


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


PEOPLE = "people"


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """People (without run and Eval-Prompt), or one judge with one Eval-Prompt in one run. `rows` are those of the
    criteria in the matrix, among the judges' ratings or the human criteria. Arrays have shape (criteria, n stories):
    `by_story` is the mean over raters or rated repeats (NaN = none), `counts` the number of ratings in it, `wanted` a
    mask of the stories that were requested; for people, all."""

    matrix: RatingMatrix
    run: str | None
    judge: str
    eval_prompt: str | None
    criteria: tuple[str, ...]
    rows: tuple[int, ...]
    by_story: Floats
    counts: Codes
    wanted: Masks

    @property
    def is_people(self) -> bool:
        return self.run is None

    @property
    def of_means(self) -> bool:
        """Whether any of the judge's ratings are imported means over repeats; false for people."""
        return not self.is_people and any(self.matrix.means[row] for row in self.rows)

    @property
    def name(self) -> str:
        """Name for titles: the judge with its Eval-Prompt, or ``people``."""
        return self.judge if self.eval_prompt is None else f"{self.judge}, {self.eval_prompt}"

    def labels(self) -> dict[str, str | None]:
        """Values of the columns `run, judge, eval_prompt`."""
        return cells_of(self, "run", "judge", "eval_prompt")

    def ratings(self, criterion: int) -> Floats:
        """Single ratings on one criterion (an index), shape (n stories, columns); NaN = none. A column is a repeat of
        the judge; for people, it is a person or a position, as stored."""
        row = self.rows[criterion]
        return self.matrix.by_position(row) if self.is_people else self.matrix.wide(row)

    def part(self, criteria: Sequence[str]) -> Source:
        """The source with these criteria, in this order; letter case is ignored."""
        position = {name.casefold(): k for k, name in enumerate(self.criteria)}
        keep = [position[name.casefold()] for name in criteria]
        return Source(
            self.matrix,
            self.run,
            self.judge,
            self.eval_prompt,
            tuple(self.criteria[k] for k in keep),
            tuple(self.rows[k] for k in keep),
            self.by_story[keep],
            self.counts[keep],
            self.wanted[keep],
        )


def sources(matrix: RatingMatrix) -> list[Source]:
    """People, if they rated, then each judge x Eval-Prompt in order of appearance."""
    matrix_sources = []
    if matrix.criteria:
        rows = tuple(range(len(matrix.criteria)))
        everything = np.ones(matrix.people.shape, dtype=np.bool_)
        matrix_sources.append(
            Source(matrix, None, PEOPLE, None, matrix.criteria, rows, matrix.people, matrix.raters, everything)
        )
    groups: dict[tuple[str, str, str], list[int]] = {}
    for i, cell in enumerate(matrix.cells):
        groups.setdefault((cell.run, cell.judge, cell.eval_prompt), []).append(i)
    for (run, judge, eval_prompt), cells in groups.items():
        criteria = tuple(matrix.cells[i].criterion for i in cells)
        asked = matrix.asked[cells] > 0
        values, counts = matrix.judge[cells], matrix.valid[cells]
        matrix_sources.append(Source(matrix, run, judge, eval_prompt, criteria, tuple(cells), values, counts, asked))
    return matrix_sources


def common_criteria(source: Source, other: Source) -> list[str]:
    """Criteria that both rated, in the order of `source`; letter case is ignored."""
    others = {name.casefold() for name in other.criteria}
    return [name for name in source.criteria if name.casefold() in others]
