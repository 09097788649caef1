"""Reads HANNA's files: rated stories, language models' stories, scores, raw answers and audited explanations.

The score file has 11 systems x 254 columns of 96 numbers. The study's judges have a mean rating per story, in which an
answer that did not parse counts as -1. `Human 1` to `Human 3` are positions in the release's row order, not persons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError, nearest, unknown
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, csv_rows, rating_value, read_json, text_value
from judge.inputs.datasets.studies import released

CRITERIA = {
    "Relevance": "RE",
    "Coherence": "CH",
    "Empathy": "EM",
    "Surprise": "SU",
    "Engagement": "EG",
    "Complexity": "CX",
}
SYSTEMS = (
    "Human",
    "BertGeneration",
    "CTRL",
    "GPT",
    "GPT-2 (tag)",
    "GPT-2",
    "RoBERTa",
    "XLNet",
    "Fusion",
    "HINT",
    "TD-VAE",
)
STORY_PROMPTS = 96
POSITIONS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """A score file. `values[column][system]` holds one number for each story-prompt (96 in the release)."""

    path: Path
    systems: tuple[str, ...]
    values: Mapping[str, Mapping[str, list[float]]]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.values)

    def column(self, name: str) -> dict[str, list[float]]:
        """A column's numbers by system, one per story-prompt. Names are such as `Relevance`, `Human 1 RE` or
        `Beluga-13B CH 3`."""
        if name not in self.values:
            # All 254 names would bury the one that was meant.
            close = nearest(name, self.values)
            guess = f"; did you mean {close!r}?" if close else ""
            raise DataError(f"there is no column {name!r} among its {len(self.values)}{guess}", file=self.path)
        return {system: list(numbers) for system, numbers in self.values[name].items()}

    def human_positions(self, criterion: str) -> dict[str, list[list[float]]]:
        """A criterion's human ratings by system: three lists of 96, one for each position, which is not one fixed
        person."""
        if criterion not in CRITERIA:
            raise DataError(unknown("criterion", criterion, CRITERIA), file=self.path)
        columns = [self.column(f"Human {i} {CRITERIA[criterion]}") for i in POSITIONS]
        return {system: [column[system] for column in columns] for system in self.systems}


def read_score_file(path: Path, *, stories: int = STORY_PROMPTS) -> ScoreFile:
    """`hanna_metric_scores_llm.csv`. Raises DataError, naming row (the system) and column, unless cells are lists of
    `stories` finite numbers, and for a system that occurs twice."""
    values: dict[str, dict[str, list[float]]] = {}
    systems: list[str] = []
    required = ("Model", *CRITERIA, *(f"Human {i} {a}" for i in POSITIONS for a in CRITERIA.values()))
    for row, cells in csv_rows(path, required):
        system = cells.pop("Model")
        if system in systems:
            raise DataError("a system occurs twice", file=path, row=row, column="Model", found=system)
        systems.append(system)
        for column, cell in cells.items():
            values.setdefault(column, {})[system] = _numbers(cell, stories, path, row, column)
    check_count("systems", len(systems), len(SYSTEMS), path)
    if set(systems) != set(SYSTEMS):
        strange = sorted(set(systems) - set(SYSTEMS))
        raise DataError("not HANNA's systems", file=path, column="Model", found=strange, allowed=", ".join(SYSTEMS))
    return ScoreFile(path, tuple(systems), values)


def _numbers(cell: str, count: int, path: Path, row: int, column: str) -> list[float]:
    try:
        numbers = orjson.loads(cell)
    except orjson.JSONDecodeError as error:
        raise DataError("not a list of numbers", file=path, row=row, column=column, found=cell) from error
    if not isinstance(numbers, list) or len(numbers) != count:
        size = len(numbers) if isinstance(numbers, list) else numbers
        raise DataError(f"not {count} numbers", file=path, row=row, column=column, found=size)
    for number in numbers:
        if not isinstance(number, int | float) or isinstance(number, bool) or not math.isfinite(number):
            raise DataError("not a number", file=path, row=row, column=column, found=number)
    return [float(n) for n in numbers]


# Reads the HANNA study's raw answers: `answers[i][criterion]["Task k"][j]`, plain strings.

EVAL_PROMPTS = {"Task 0": "ep1", "Task 1": "ep2", "Task 2": "ep3", "Task 3": "ep4"}


@dataclass(frozen=True, slots=True)
class HannaAnswer:
    """One answer of a language model. `story` is its index, `eval_prompt` `ep1` to `ep4`, and `repeat` counts from
    0."""

    story: int
    criterion: str
    eval_prompt: str
    repeat: int
    text: str


def read_answers(path: Path) -> Iterator[HannaAnswer]:
    """Every answer in the file's order, empty strings too. The JSON file is a list, or an object with stories' indices
    as keys. Raises DataError otherwise."""
    content = read_json(path)
    if isinstance(content, list):
        stories = list(enumerate(content))
    elif isinstance(content, dict):
        stories = [(_index(key, path), value) for key, value in content.items()]
    else:
        raise DataError("neither a list nor an object of stories", file=path, found=type(content).__name__)
    for story, criteria in stories:
        row = f"of story {story}"
        for criterion, tasks in _items(criteria, path, row):
            if criterion not in CRITERIA:
                raise DataError(unknown("criterion", criterion, CRITERIA), file=path, row=row)
            for task, texts in _items(tasks, path, f"{row}, {criterion}"):
                if task not in EVAL_PROMPTS:
                    raise DataError(unknown("task", task, EVAL_PROMPTS), file=path, row=row, column=criterion)
                yield from _answers(story, criterion, task, texts, path)


def _answers(story: int, criterion: str, task: str, texts: Any, path: Path) -> Iterator[HannaAnswer]:
    where = f"of story {story}, {criterion}, {task}"
    if not isinstance(texts, list):
        raise DataError("not a list of answers", file=path, row=where, found=texts)
    for repeat, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError("an answer that is not a text", file=path, row=where, column=str(repeat), found=text)
        yield HannaAnswer(story, criterion, EVAL_PROMPTS[task], repeat, text)


def _index(key: str, path: Path) -> int:
    if not (key.isascii() and key.isdecimal()):
        raise DataError("not a story's index", file=path, row=key, found=key, allowed="0, 1, 2, ...")
    return int(key)


def _items(value: Any, path: Path, row: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise DataError("not an object", file=path, row=row, found=value)
    yield from value.items()


# The audit file: 100 explanations, six questions, three annotator positions.

ITEMS, ANNOTATORS = 100, 3

# Error as printed -> column, and whether 1 means that the error is absent.
QUESTIONS: Mapping[str, tuple[str, bool]] = {
    "Poor Syntax": ("Answer.a-2-syntax.1", False),
    "Incoherence": ("Answer.a-6-incoherence.1", False),
    "Wrong Guideline": ("Answer.a-1-guidelines.1", True),
    "Superfluous Text": ("Answer.a-3-superfluous.1", False),
    "Unsubstantiated Claims": ("Answer.a-5-unsubstantiated.1", False),
}

UNUSED = "Answer.a-4-incorrectness.1"

_AUDITED = ("Input.story_id", "Input.explanation")


@dataclass(frozen=True, slots=True)
class AuditedItem:
    """An explanation that people audited: the whole answer, and each error's marks by the three annotator positions (1
    = present). `unused` answers the question that the study dropped; None if it was not asked, as in this program's
    exports."""

    story: str
    answer: str
    errors: Mapping[str, tuple[int, ...]]
    unused: tuple[int | None, ...]


def read_items(path: Path) -> list[AuditedItem]:
    """The 100 audited explanations, in the file's order. Raises DataError unless each block of three rows is about one
    and marks are 0 or 1."""
    columns = [column for column, _ in QUESTIONS.values()] + [UNUSED]
    items: list[AuditedItem] = []
    block: list[dict[str, str]] = []
    count = 0
    for row, cells in csv_rows(path, (*_AUDITED, *columns)):
        if block and any(cells[column] != block[0][column] for column in _AUDITED):
            raise DataError(
                "not the explanation of the row above",
                file=path,
                row=row,
                found=cells[_AUDITED[0]],
                allowed=block[0][_AUDITED[0]],
            )
        for column in columns:
            if column == UNUSED and not cells[column]:
                continue
            if cells[column] not in ("0", "1"):
                raise DataError("not an answer", file=path, row=row, column=column, found=cells[column], allowed="0, 1")
        count += 1
        block.append(cells)
        if len(block) == ANNOTATORS:
            items.append(_item(block))
            block = []
    check_count("answers", count, ITEMS * ANNOTATORS, path)
    return items


def _item(block: list[dict[str, str]]) -> AuditedItem:
    errors = {
        name: tuple(1 - int(cells[column]) if turned else int(cells[column]) for cells in block)
        for name, (column, turned) in QUESTIONS.items()
    }
    story, answer = (block[0][column] for column in _AUDITED)
    unused = tuple(int(cells[UNUSED]) if cells[UNUSED] else None for cells in block)
    return AuditedItem(story, answer, errors, unused)


# Reads HANNA: 1,056 stories, each rated by three workers on six criteria (`hanna_stories_annotations.csv`). Ids are
# the Story IDs, "0" to "1055"; "0" to "95" are human. Texts keep blanks at their beginning.

SCALE = Scale(1, 5, 1)
STORIES = 1056
RATERS = 3
_TEXTS = ("Prompt", "Human", "Story", "Model")
COLUMNS = ("Story ID", *_TEXTS, *CRITERIA, "Worker ID", "Assignment ID", "Work time in seconds", "Name")


def load(name: str) -> Dataset:
    return released(
        name,
        read_stories,
        rater_identity=True,
        scale=SCALE,
        expected={"stories": STORIES, "systems": len(SYSTEMS), "story_prompts": 96, "ratings": STORIES * RATERS * 6},
    )


def read_stories(path: Path) -> Iterator[Story]:
    """All 1,056 stories by Story ID, each with 18 ratings by three workers. Raises DataError unless each has 3 rows
    with the same texts, and ratings are 1, 2, 3, 4 or 5."""
    texts: dict[str, dict[str, str]] = {}
    ratings: dict[str, list[Rating]] = {}
    rows = 0
    for row, cells in csv_rows(path, COLUMNS):
        rows += 1
        story = _story_id(cells["Story ID"], path, row)
        first = texts.setdefault(story, {c: text_value(cells[c], path, row, c) for c in _TEXTS})
        for column in _TEXTS:
            if cells[column] != first[column]:
                message = f"differs from the other rows of story {story}"
                raise DataError(message, file=path, row=row, column=column, found=cells[column])
        if first["Model"] not in SYSTEMS:
            allowed = ", ".join(SYSTEMS)
            raise DataError(
                "not HANNA's system", file=path, row=row, column="Model", found=first["Model"], allowed=allowed
            )
        worker = text_value(cells["Worker ID"], path, row, "Worker ID")
        ratings.setdefault(story, []).extend(
            Rating(criterion, rating_value(cells[criterion], SCALE, path, row, criterion), worker)
            for criterion in CRITERIA
        )
    check_count("rows", rows, STORIES * RATERS, path)
    check_count("stories", len(texts), STORIES, path)
    for story in sorted(texts, key=int):
        if len(ratings[story]) != RATERS * len(CRITERIA):
            count = len(ratings[story]) // len(CRITERIA)
            raise DataError("not three rows", file=path, row=f"of story {story}", column="Story ID", found=count)
        t = texts[story]
        yield Story(story, t["Prompt"], t["Model"], t["Story"], t["Human"], tuple(ratings[story]))


def _story_id(cell: str, path: Path, row: int) -> str:
    if not cell.isdecimal() or not cell.isascii() or int(cell) >= STORIES:
        raise DataError(
            "not a Story ID", file=path, row=row, column="Story ID", found=cell, allowed=f"0 to {STORIES - 1}"
        )
    return str(int(cell))


# Reads six language models' 576 unrated stories (`hanna_llm`, ids `llm-0` to `llm-575`, the rows' numbers) for
# HANNA's 96 story-prompts. `hanna_llm+human` puts the 96 human stories before them (ids as in `hanna`), with ratings
# from the score file's three positions, which are not fixed persons, so raters are unknown.

LLMS = ("Llama-7b", "Mistral-7b", "Beluga-13b", "OrcaPlatypus-13b", "LlamaInstruct-30b", "Platypus2-70b")
_LLM_COLUMNS = ("", "Prompt", "Human", "Story", "Model")


def load_llm(name: str) -> Dataset:
    human = STORY_PROMPTS if name == "hanna_llm+human" else 0
    stories = STORY_PROMPTS * len(LLMS) + human
    return released(
        name,
        read_llm_stories,
        rater_identity=False if human else None,
        scale=SCALE,
        expected={
            "stories": stories,
            "systems": len(LLMS) + (1 if human else 0),
            "story_prompts": STORY_PROMPTS,
            "ratings": human * 3 * len(CRITERIA),
        },
    )


def read_llm_stories(stories: Path, scores: Path | None = None) -> Iterator[Story]:
    """The 576 unrated stories as released; with HANNA's score file, the 96 rated human ones before them."""
    if scores is not None:
        yield from read_human_stories(stories, scores)
    for row, cells in _llm_rows(stories):
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
        for criterion, short in CRITERIA.items():
            for position, numbers in enumerate(table.human_positions(criterion)["Human"], start=1):
                column = f"Human {position} {short}"
                for index, number in enumerate(numbers):
                    value = rating_value(number, SCALE, scores, f"Human, entry {index}", column)
                    ratings[index].append(Rating(criterion, value))
    stories_read: list[Story] = []
    for row, cells in _llm_rows(stories):
        if len(stories_read) == STORY_PROMPTS:
            break
        prompt, text = (text_value(cells[c], stories, row, c) for c in ("Prompt", "Human"))
        stories_read.append(
            Story(str(len(stories_read)), prompt, "Human", text, text, tuple(ratings[len(stories_read)]))
        )
    return stories_read


def _llm_rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    # 6 models of 96 rows each, all on the same story-prompts in the same order.
    rows = list(csv_rows(path, _LLM_COLUMNS))
    check_count("stories", len(rows), STORY_PROMPTS * len(LLMS), path)
    for index, (row, cells) in enumerate(rows):
        if cells[""] != str(index):
            raise DataError("not the row's number", file=path, row=row, column="", found=cells[""], allowed=str(index))
        system = LLMS[index // STORY_PROMPTS]
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
