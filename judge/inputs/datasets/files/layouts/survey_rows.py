"""Exports of surveys, whose rows are respondents and whose columns are questions about items, as a row for each
respondent and item: Qualtrics (three header rows, loops too) and grids of Google Forms (`Question [criterion]`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from judge.base.late_pattern import late
from judge.base.wording import few
from judge.inputs.datasets.files.column_words import NO_ANSWERS, fold

Rows = Iterator[tuple[int, dict[str, Any]]]

# Columns of the rows that are made, beside one for each criterion.
RESPONDENT, ITEM, TEXT = "respondent", "item", "text"
# Start of the cells of Qualtrics' third header row, and the id of a statement of a question, in a loop or not.
_IMPORT_ID = '{"ImportId"'
_STATEMENT = late(r'"ImportId":\s*"(?:(?P<loop>\d+)_)?(?P<question>QID\d+)_(?P<statement>\d+)"')
# Google Forms: first column in the languages of its interface, and a grid's question with its row in brackets.
_TIMESTAMPS = frozenset(
    ("timestamp", "zeitstempel", "horodateur", "marca temporal", "informazioni cronologiche", "carimbo de data/hora")
)
_GRID = late(r"^(?P<item>.+?)\s*\[(?P<criterion>[^\[\]]+)\]\s*$", re.DOTALL)
_SHORT = late(r"^([^–—:“\"]{1,30}?)\s*[–—:-]\s")
_NUMBER_FIRST = late(r"^\s*\d+\s*[:.)]\s*")
# Names of columns that tell respondents apart, the surest first.
_PERSONS = (
    *("responseid", "response id", "prolific_pid", "prolific id", "email address", "e-mail-adresse", "username"),
    *("your initials", "initials", "your name", "name", "participant", "participant id"),
)
_LEAST_ITEMS = 2
# Words of a sentence at the least, and what a question asks for.
_LEAST_WORDS, _ASKED = 4, late(r"(?i)\b(?:how|wie|combien|cuán|qué tan)\s+(\w+)")
_NAMED = 4


@dataclass(frozen=True, slots=True)
class _Survey:
    """The answers of a survey: (item, criterion) -> column; what the items' questions show; who answered."""

    what: str
    answers: Mapping[tuple[str, str], str]
    texts: Mapping[str, str]
    person: str | None
    kept: tuple[str, ...]
    left: tuple[str, ...]

    def rows(self, number: int, cells: Mapping[str, Any]) -> Rows:
        """A row for each item that the respondent answered anything about."""
        who = str(cells.get(self.person) or "").strip() if self.person else ""
        base = {RESPONDENT: who or f"row {number}", **{name: cells[name] for name in self.kept}}
        for item in dict.fromkeys(item for item, _ in self.answers):
            given = {criterion: cells[column] for (of, criterion), column in self.answers.items() if of == item}
            if any(value not in (None, "") for value in given.values()):
                text = {TEXT: self.texts[item]} if self.texts else {}
                yield number, base | {ITEM: item} | text | given

    def told(self) -> str:
        items = {item for item, _ in self.answers}
        left = f"; not read, of the respondent: {few(self.left, _NAMED)}" if self.left else ""
        who = f"respondents by {self.person}" if self.person else "respondents by rows"
        return f"{self.what}: a row is a respondent, here one for each of {len(items)} items ({who}){left}"


def answers_in_rows(rows: Rows, told: list[str] | None = None) -> Rows:
    """The rows; those of a survey's export as one for each respondent and item. `told` is given a sentence on it."""
    first = [*islice(rows, 2)]
    survey = _survey([cells for _, cells in first]) if first else None
    if survey is None:
        yield from chain(first, rows)
        return
    if told is not None:
        told.append(survey.told())
    below = rows if survey.what.startswith("an export of Q") else chain(first, rows)
    for number, cells in below:
        yield from survey.rows(number, cells)


def _survey(first: Sequence[Mapping[str, Any]]) -> _Survey | None:
    columns = [*first[0]]
    if len(first) > 1 and any(str(value).startswith(_IMPORT_ID) for value in first[1].values()):
        return _qualtrics(columns, first[0], first[1])
    return _grid(columns) if columns and fold(columns[0]) in _TIMESTAMPS else None


def _grid(columns: Sequence[str]) -> _Survey | None:
    parts = {column: match for column in columns if (match := _GRID.match(column))}
    items = list(dict.fromkeys(match["item"] for match in parts.values()))
    if len(items) == 1 and _are_texts([match["criterion"] for match in parts.values()]):
        return _of_one_question(columns, items[0], {column: match["criterion"] for column, match in parts.items()})
    criteria = {match["criterion"] for match in parts.values()}
    if len(items) < _LEAST_ITEMS or len(items) * len(criteria) != len(parts):
        return None
    short = {item: match[1] if (match := _SHORT.match(item)) else item for item in items}
    names = short if len({*short.values()}) == len(items) else dict(zip(items, items, strict=True))
    answers = {(names[match["item"]], match["criterion"]): column for column, match in parts.items()}
    return _made("an export of a form", columns, answers, {})


def _are_texts(rows: Sequence[str]) -> bool:
    """Whether the rows of a question's grid are mostly sentences: items, and no criteria."""
    return len(rows) >= _LEAST_ITEMS and 2 * sum(len(row.split()) >= _LEAST_WORDS for row in rows) > len(rows)


def _of_one_question(columns: Sequence[str], question: str, texts: Mapping[str, str]) -> _Survey:
    """One question asked about each of several texts: these are the items, and its adjective the criterion."""
    asked = _ASKED.search(question)
    criterion = asked[1] if asked else question
    items = {column: f"item {at}" for at, column in enumerate(texts, 1)}
    answers = {(item, criterion): column for column, item in items.items()}
    return _made("an export of a form", columns, answers, {items[column]: text for column, text in texts.items()})


def _qualtrics(columns: Sequence[str], questions: Mapping[str, Any], ids: Mapping[str, Any]) -> _Survey | None:
    """Statements of matrix questions; a question that is looped, or several with the same statements, are items."""
    found = {column: match for column in columns if (match := _STATEMENT.search(str(ids[column])))}
    said = {column: str(questions[column]).rpartition(" - ") for column in found}
    looped = {match["loop"] for match in found.values()} - {None}
    several = len({match["question"] for match in found.values()}) > 1
    answers: dict[tuple[str, str], str] = {}
    shown: dict[str, str] = {}
    for column, match in found.items():
        of = column.rpartition("_")[0]
        item = (f"{match['loop']} {match['question']}" if several else str(match["loop"])) if looped else of
        answers[item, said[column][2].strip()] = column
        shown.setdefault(item, said[column][0])
    asked: dict[frozenset[str], list[str]] = {}
    for item in shown:
        asked.setdefault(frozenset(name for of, name in answers if of == item), []).append(item)
    items = max(asked.values(), key=len, default=[])
    if len(items) < _LEAST_ITEMS:
        return None
    answers = {key: column for key, column in answers.items() if key[0] in items}
    return _made("an export of Qualtrics", columns, answers, _different({item: shown[item] for item in items}))


def _made(
    what: str, columns: Sequence[str], answers: Mapping[tuple[str, str], str], texts: Mapping[str, str]
) -> _Survey:
    low = {fold(column): column for column in reversed(columns)}
    person = next((low[name] for name in _PERSONS if name in low), None)
    kept = tuple(column for column in columns if fold(column) in NO_ANSWERS)
    used = {*answers.values(), *kept, person}
    return _Survey(what, answers, texts, person, kept, tuple(column for column in columns if column not in used))


def _different(shown: Mapping[str, str]) -> dict[str, str]:
    """What the items' questions show that is not the same for all: the texts themselves."""
    texts = [*shown.values()]
    start, end = shared_ends(texts)
    cut = {item: _NUMBER_FIRST.sub("", text[start : len(text) - end]).strip() for item, text in shown.items()}
    return cut if all(cut.values()) else {}


def shared_ends(texts: Sequence[str]) -> tuple[int, int]:
    """Number of characters with which all texts begin, and of those with which the rest of all ends."""
    start = _shared(texts)
    return start, _shared([text[start:][::-1] for text in texts])


def _shared(texts: Sequence[str]) -> int:
    return next(
        (at for at, letters in enumerate(zip(*texts, strict=False)) if len({*letters}) > 1), min(map(len, texts))
    )
