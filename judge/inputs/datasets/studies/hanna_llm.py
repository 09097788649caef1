"""Reads six language models' 576 unrated stories (`hanna_llm`, ids `llm-0` to `llm-575`, the rows' numbers) for HANNA's
96 story-prompts. `hanna_llm+human` puts the 96 human stories before them (ids as in `hanna`), with ratings from the
score file's three positions, which are not fixed persons, so raters are unknown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from judge.base.errors import DataError
from judge.base.records import Rating, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, csv_rows, rating_value, text_value
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES, LICENCES
from judge.inputs.datasets.studies.hanna import CITATION, SCALE
from judge.inputs.datasets.studies.hanna_files import CRITERIA, read_score_file

SYSTEMS = ("Llama-7b", "Mistral-7b", "Beluga-13b", "OrcaPlatypus-13b", "LlamaInstruct-30b", "Platypus2-70b")
STORY_PROMPTS = 96
_COLUMNS = ("", "Prompt", "Human", "Story", "Model")


def load(name: str) -> Dataset:
    files = tuple(need(f, name) for f in FILES[name])
    human = STORY_PROMPTS if len(files) == 2 else 0
    stories = STORY_PROMPTS * len(SYSTEMS) + human
    return Dataset(
        name=name,
        files=files,
        stories=partial(read_stories, *files),
        rater_identity=False if human else None,
        citation=CITATION,
        licence_note=LICENCES[name],
        scale=SCALE,
        expected={
            "stories": stories,
            "systems": len(SYSTEMS) + (1 if human else 0),
            "story_prompts": STORY_PROMPTS,
            "ratings": human * 3 * len(CRITERIA),
        },
    )


def read_stories(stories: Path, scores: Path | None = None) -> Iterator[Story]:
    """The 576 unrated stories as released; with HANNA's score file, the 96 rated human ones before them."""
    if scores is not None:
        yield from read_human_stories(stories, scores)
    for row, cells in _rows(stories):
        yield Story(
            id=f"llm-{cells['']}",
            story_prompt=text_value(cells["Prompt"], stories, row, "Prompt"),
            system=cells["Model"],
            text=text_value(cells["Story"], stories, row, "Story"),
            reference=text_value(cells["Human"], stories, row, "Human"),
        )


def read_human_stories(stories: Path, scores: Path | None = None) -> list[Story]:
    """HANNA's 96 human stories, in the score file's order; with it, each has 18 ratings by unknown raters. Each is its
    own reference story, as for HANNA's system Human."""
    ratings: list[list[Rating]] = [[] for _ in range(STORY_PROMPTS)]
    if scores is not None:
        table = read_score_file(scores)
        for criterion in CRITERIA:
            for position, numbers in enumerate(table.human_positions(criterion)["Human"], start=1):
                column = f"Human {position} {CRITERIA[criterion]}"
                for index, number in enumerate(numbers):
                    value = rating_value(number, SCALE, scores, f"Human, entry {index}", column)
                    ratings[index].append(Rating(criterion, value))
    stories_read: list[Story] = []
    for row, cells in _rows(stories):
        if len(stories_read) == STORY_PROMPTS:
            break
        prompt, text = (text_value(cells[c], stories, row, c) for c in ("Prompt", "Human"))
        stories_read.append(
            Story(str(len(stories_read)), prompt, "Human", text, text, tuple(ratings[len(stories_read)]))
        )
    return stories_read


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    # 6 models of 96 rows each, all on the same story-prompts in the same order.
    rows = list(csv_rows(path, _COLUMNS))
    check_count("stories", len(rows), STORY_PROMPTS * len(SYSTEMS), path)
    for index, (row, cells) in enumerate(rows):
        if cells[""] != str(index):
            raise DataError("not the row's number", file=path, row=row, column="", found=cells[""], allowed=str(index))
        system = SYSTEMS[index // STORY_PROMPTS]
        if cells["Model"] != system:
            raise DataError(
                "not this block's model", file=path, row=row, column="Model", found=cells["Model"], allowed=system
            )
        first = rows[index % STORY_PROMPTS][1]
        for column in ("Prompt", "Human"):
            if cells[column] != first[column]:
                message = f"differs from the first model's row {index % STORY_PROMPTS + 2}"
                raise DataError(message, file=path, row=row, column=column, found=cells[column])
    return rows
