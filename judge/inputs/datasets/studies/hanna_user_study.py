"""Reads the HANNA study's audit file: 100 explanations, six questions, three annotator positions.

The first question asks whether the guideline was followed, and the other questions whether an error is present. The
answers to the first question are therefore inverted here. Rows come in blocks of three, one for each position; a
position is not a fixed person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import DataError
from judge.inputs.datasets.files.source_file import check_count, csv_rows

ITEMS, POSITIONS = 100, 3
QUESTIONS: Mapping[str, tuple[str, bool]] = {
    "Poor Syntax": ("Answer.a-2-syntax.1", False),
    "Incoherence": ("Answer.a-6-incoherence.1", False),
    "Wrong Guideline": ("Answer.a-1-guidelines.1", True),
    "Superfluous Text": ("Answer.a-3-superfluous.1", False),
    "Unsubstantiated Claims": ("Answer.a-5-unsubstantiated.1", False),
}
"""Error as printed -> column, and whether 1 means that the error is absent."""

UNUSED = "Answer.a-4-incorrectness.1"
_TEXTS = ("Input.story_id", "Input.explanation")


@dataclass(frozen=True, slots=True)
class AuditedItem:
    """One explanation of a language model that people audited in the HANNA study: the story's id, the whole answer, and
    for each kind of error the marks of the three annotator positions (1 = error present).

    `unused` holds the answers to the question that the study dropped. They are None if the question was not asked, as
    in audits that this program exports in the study's format.
    """

    story: str
    answer: str
    errors: Mapping[str, tuple[int, ...]]
    unused: tuple[int | None, ...]


def read_items(path: Path) -> list[AuditedItem]:
    """The 100 audited explanations of the HANNA study, in the file's order. Raises DataError unless each block of three
    rows is about one explanation and all marks are 0 or 1.
    """
    columns = [column for column, _ in QUESTIONS.values()] + [UNUSED]
    items: list[AuditedItem] = []
    block: list[dict[str, str]] = []
    count = 0
    for row, cells in csv_rows(path, (*_TEXTS, *columns)):
        if block and any(cells[column] != block[0][column] for column in _TEXTS):
            raise DataError(
                "not the explanation of the row above",
                file=path,
                row=row,
                found=cells[_TEXTS[0]],
                allowed=block[0][_TEXTS[0]],
            )
        for column in columns:
            if column == UNUSED and not cells[column]:
                continue
            if cells[column] not in ("0", "1"):
                raise DataError("not an answer", file=path, row=row, column=column, found=cells[column], allowed="0, 1")
        count += 1
        block.append(cells)
        if len(block) == POSITIONS:
            items.append(_item(block))
            block = []
    check_count("answers", count, ITEMS * POSITIONS, path)
    return items


def _item(block: list[dict[str, str]]) -> AuditedItem:
    errors = {
        name: tuple(1 - int(cells[column]) if turned else int(cells[column]) for cells in block)
        for name, (column, turned) in QUESTIONS.items()
    }
    story, answer = (block[0][column] for column in _TEXTS)
    unused = tuple(int(cells[UNUSED]) if cells[UNUSED] else None for cells in block)
    return AuditedItem(story, answer, errors, unused)
