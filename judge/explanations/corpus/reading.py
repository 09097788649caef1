"""Reader of explanations from the sources named on the command line: runs, a user's table, or a study's own file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.answers.parsing import Parser
from judge.answers.parsing import parser as load_parser
from judge.base.errors import DataError, SpecError, unknown
from judge.base.records import Criterion, Response
from judge.base.wording import Advice
from judge.explanations.corpus.corpus import ExplanationTexts, cells_of_judgment, frame_of, read_runs, stories_of
from judge.explanations.corpus.from_studies import NAME, NAMES, study_of
from judge.inputs.datasets.files.source_file import rating_value
from judge.inputs.datasets.files.table_file import SUFFIXES, cell, table_columns, table_rows

# Reader of explanations from a user's table, in any supported file format, with a column map.

# What a column can hold. `story` is an id; `story_text` and `reference` are whole texts; `side` is `expert` for what
# people wrote, else who judged; `people` is the mean of people's ratings of the story.
FIELDS = (
    "text",
    "answer",
    "criterion",
    "rating",
    "story",
    "story_prompt",
    "story_text",
    "reference",
    "system",
    "judge",
    "eval_prompt",
    "repeat",
    "side",
    "people",
)

_HINT = Advice("name the column of each field, e.g. {columns}", columns={"text": "Comment", "criterion": "Aspect"})


def read_file(named: str | Path, parser: str = "ours", columns: Mapping[str, str] | None = None) -> ExplanationTexts:
    """Explanations in one file; without `columns`, a study's file is recognised by its name or its columns. `parser`
    reads rating and explanation from whole answers, where there is no column of explanations."""
    if not columns:
        study = study_of(named)
        if study is not None:
            return study
    path = Path(named)
    if not path.is_file():
        raise DataError("there is no such file", file=path)
    return _Reader(path, load_parser(parser), columns or {}).read()


class _Reader:
    def __init__(self, path: Path, parser: Parser, columns: Mapping[str, str]) -> None:
        self.path, self.parser = path, parser
        self.asked = columns
        for field in columns:
            if field not in FIELDS:
                raise SpecError(unknown("column map field", field, FIELDS))

    def read(self) -> ExplanationTexts:
        rows: list[dict[str, Any]] = []
        stories: list[tuple[Any, ...]] = []
        self.columns = self._columns(table_columns(self.path))
        for number, cells in table_rows(self.path):
            rows.append(self._row(number, cells))
            row = rows[-1]
            if text := self._cell(cells, "story_text"):
                place = (row["dataset"], row["story"], row["story_prompt"] or None, row["system"] or None)
                stories.append((*place, text, self._cell(cells, "reference")))
        frame = frame_of(rows)
        empty = int(frame["text"].isna().sum())
        notes = [f"{empty} of {len(frame)} rows hold no explanation"] if empty else []
        if "text" not in self.columns:
            notes.append(f"ratings and explanations were read out of whole answers by parser {self.parser.version}")
        return ExplanationTexts(frame, stories_of(stories), (), (), tuple(notes))

    def _columns(self, present: list[str]) -> dict[str, str]:
        chosen = {field: field for field in FIELDS if field in present} | dict(self.asked)
        for field, column in chosen.items():
            if not column.startswith("=") and column not in present:
                message = unknown("column", column, present) + f", wanted as {field}"
                raise DataError(message, file=self.path, hint=_HINT)
        if "text" not in chosen and "answer" not in chosen:
            columns = ", ".join(present)
            raise DataError("the column that holds the texts is not named", file=self.path, found=columns, hint=_HINT)
        return chosen

    def _row(self, number: int, cells: Mapping[str, Any]) -> dict[str, Any]:
        name = self.path.stem
        row: dict[str, Any] = {"run": name, "dataset": name}
        for field in ("criterion", "story", "story_prompt", "system", "judge", "eval_prompt", "side"):
            row[field] = self._text(cells, field, number) or ""
        row["story"] = row["story"] or str(number)
        row["answer"] = self._text(cells, "answer", number)
        row["repeat"] = self._repeat(cells, number)
        row["people"] = self._rating(cells, number, "people")
        if "text" in self.columns:
            row["explanation"] = self._text(cells, "text", number)
            row["rating"] = self._rating(cells, number)
            row["status"] = "imported" if not math.isnan(row["rating"]) else "no_rating"
            return row
        criterion = Criterion(row["criterion"] or "the story", "", "")
        judgment = self.parser.parse(Response(row["answer"] or "", None), criterion)
        given = self._rating(cells, number)
        rating = judgment.rating if math.isnan(given) else given
        return row | cells_of_judgment(judgment) | {"rating": math.nan if rating is None else rating}

    def _text(self, cells: Mapping[str, Any], field: str, number: int) -> str | None:
        value = self._cell(cells, field)
        if value is None or value == "":
            return None
        if isinstance(value, bool | list | dict):
            raise DataError("not a text", file=self.path, row=number, column=self.columns[field], found=value)
        return value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)

    def _rating(self, cells: Mapping[str, Any], number: int, field: str = "rating") -> float:
        value = self._cell(cells, field)
        if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
            return math.nan
        return rating_value(value, None, self.path, number, self.columns[field])

    def _repeat(self, cells: Mapping[str, Any], number: int) -> int | None:
        value = self._cell(cells, "repeat")
        if value is None or value == "":
            return None
        try:
            return int(value)
        except (TypeError, ValueError):
            column = self.columns["repeat"]
            raise DataError("not a whole number", file=self.path, row=number, column=column, found=value) from None

    def _cell(self, cells: Mapping[str, Any], field: str) -> Any:
        return cell(cells, self.columns[field]) if field in self.columns else None


def read_texts(
    runs_or_file: str | Path | Sequence[str | Path], *, parser: str = "ours", columns: Mapping[str, str] | None = None
) -> ExplanationTexts:
    """Explanations from runs, from one table, or from a study's file given by the study's name. `columns` maps a field
    of `explanations.corpus.from_file.FIELDS` to the table's column. Raises RunFolderError, DataError or SpecError."""
    given = [runs_or_file] if isinstance(runs_or_file, str | Path) else list(runs_or_file)
    if not given:
        raise SpecError("nothing to read: name a RUN or a FILE")
    files = [path for path in given if is_file(path)]
    if not files:
        if columns:
            raise SpecError(Advice("{columns} is for a file of explanations; runs need none"))
        return read_runs(given, parser)
    if len(given) > 1:
        raise SpecError(f"{files[0]} is a file of explanations: give one file alone, or RUNs alone")
    return read_file(files[0], parser, columns)


def is_file(named: str | Path) -> bool:
    """Whether an argument names a file of explanations (by its path or a study's name) and not a run."""
    return str(named) in (*NAMES, NAME) or Path(named).suffix.lower() in SUFFIXES
