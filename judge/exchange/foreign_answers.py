"""Reader of answers that other programs got from judges (JSON Lines), as a run that replays them: they are parsed here,
kept as answers, and read again by later parsers."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from judge.analysis.options.alternatives import option
from judge.answers.parsing.answers_file import parse_labels, parse_scale
from judge.base.errors import DataError, RunFolderError, SpecError
from judge.base.files import write_whole, writing
from judge.base.late_pattern import late
from judge.base.wording import Advice
from judge.exchange.reader import Look, Reader, Say, TableWords, folder_for
from judge.exchange.released import refuse_taken, write_recorded_run
from judge.inputs.criteria import load_criteria, shipped_criteria
from judge.inputs.datasets.files.cell_patterns import finest, fits
from judge.inputs.datasets.files.column_map import UNKNOWN, label
from judge.inputs.datasets.files.column_names import bare, is_count, named
from judge.inputs.datasets.files.column_words import NAMES
from judge.inputs.datasets.files.source_file import is_missing
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.table_file import cell, table_rows
from judge.inputs.datasets.files.verdict_codes import column_pairs

# Field -> names of its key, likeliest first.
KEYS: Mapping[str, tuple[str, ...]] = {
    "answer": ("text", "response", "answer", "completion", "output", "raw_output", "raw_response", "generation"),
    "criterion": ("criterion", "aspect", "dimension", "metric"),
    "judge": ("judge", "evaluator", "model"),
    "eval_prompt": ("eval_prompt", "prompt_name", "prompt_id", "template", "variant"),
    "repeat": ("repeat", "try", "sample", "trial", "iteration", "n"),
    "finish_reason": ("finish_reason", "stop_reason"),
    "reasoning": ("reasoning", "thinking"),
    "system": ("system", "generator", "writer"),
    "story_prompt": ("story_prompt", "writing_prompt", "premise"),
}
_FIELDS = (*KEYS, "story", "text", "people")
NO_PROMPT = "elsewhere"
NO_NAME = late(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True)
class ForeignAnswersWords(TableWords):
    """Options of the reader of answers made elsewhere."""

    scale: str | None = option("scale of numeric scores that have none in the criteria set", metavar="LOW-HIGH[:STEP]")


@dataclass(frozen=True, slots=True)
class _Places:
    """Column of each field; `people` are columns of people's ratings of the row's story and criterion."""

    fields: Mapping[str, str]
    people: Sequence[str]


def _fits(look: Look) -> bool:
    record = look.record()
    answer = next((key for key in KEYS["answer"] if isinstance(record.get(key), str)), None)
    one = not {"rating", "score"} & record.keys() and not column_pairs([*record])
    return answer is not None and "criterion" in record and one


def _read(files: Sequence[Path], words: ForeignAnswersWords, target: Path | None, say: Say) -> None:
    if len(files) > 1:
        raise SpecError(f"{len(files)} files of answers: they are imported one by one")
    file, folder = files[0], folder_for(files, target)
    table = TableCells.at(file, None)
    places = _places(table, words)
    read = ", ".join(f"{name} {column}" for name, column in places.fields.items())
    say(f"read as: {read}" + (f"; people: {', '.join(places.people)}" if places.people else ""))
    left = [name for name in table.columns if name not in {*places.fields.values(), *places.people}]
    if left:
        say(f"not read: {', '.join(left)}")
    answers = _answers(places, file)
    for judge, lines in answers.items():
        at = folder if len(answers) == 1 else folder / NO_NAME.sub("-", judge)
        refuse_taken(at)
        definition = _definition(at, file, table, places, words, lines)
        path = write_recorded_run(at, judge, lines, definition)
        say(f"{len(lines):,} answers of {judge}; next: judge run {path.parent}")


def _places(table: TableCells, words: ForeignAnswersWords) -> _Places:
    given = {key: column for key, column in words.column_map.items() if not key.startswith("labels")}
    for key, column in given.items():
        if key not in _FIELDS:
            raise SpecError(Advice("{columns} names no field of answers", columns={key: column}), hint=_allowed())
    fields = {key: column for key, column in given.items() if key != "people"}
    free = [column for column in table.columns if column not in fields.values()]
    for name, keys in KEYS.items():
        usual = next((column for key in keys for column in free if column.lower() == key), None)
        if name not in fields and usual is not None:
            fields[name] = usual
            free.remove(usual)
    sided = [column for column in free if named(column).side == "human" and table.holds_ratings(column)]
    people = [part.strip() for part in given["people"].split(",")] if "people" in given else sided
    free = [column for column in free if column not in people]
    if "story" not in fields:
        short = [column for column in free if fits("id", table.values(column)) and not is_count(column)]
        short += [column for column in free if bare(column) in NAMES["id"] and column not in short and is_count(column)]
        named_so = [column for name in NAMES["id"] for column in short if bare(column) == name]
        ids = named_so[0] if named_so else finest(short, table.values)
        if ids is None:
            raise DataError("no key holds an id for each story", file=table.path, hint=_column("story"))
        fields["story"] = ids
        free = [column for column in free if column != ids]
    long = [column for column in free if fits("text", table.values(column)) and bare(column) in NAMES["text"]]
    if "text" not in fields and long:
        fields["text"] = long[0]
    for needed in ("answer", "criterion"):
        if needed not in fields:
            raise DataError(f"no key holds the {needed}", file=table.path, hint=_column(needed))
    return _Places(fields, people)


def _allowed() -> str:
    return f"fields: {', '.join(_FIELDS)}"


def _column(name: str) -> str:
    return Advice("{columns}", columns={name: "KEY"})


def _text(cells: Mapping[str, Any], places: _Places, name: str) -> str | None:
    value = cell(cells, places.fields[name]) if name in places.fields else None
    return None if is_missing(value, ()) else str(label(value))


def _answers(places: _Places, file: Path) -> dict[str, list[dict[str, Any]]]:
    """Judge -> lines of recorded answers. Repeats without a number are numbered in the file's order."""
    lines: dict[str, list[dict[str, Any]]] = {}
    done: dict[tuple[str, ...], int] = {}
    seen: dict[tuple[str, ...], int] = {}
    for row, cells in table_rows(file):
        story, criterion = _text(cells, places, "story"), _text(cells, places, "criterion")
        for name, value in (("story", story), ("criterion", criterion)):
            if value is None:
                raise DataError("the cell is empty", file=file, row=row, column=places.fields[name])
        judge = _text(cells, places, "judge") or file.stem
        prompt = NO_NAME.sub("-", _text(cells, places, "eval_prompt") or NO_PROMPT)
        key = (judge, str(story), str(criterion), prompt)
        number = _text(cells, places, "repeat")
        repeat = int(float(number)) if number is not None else done.get(key, 0)
        done[key] = done.get(key, 0) + 1
        if seen.setdefault((*key, str(repeat)), row) != row:
            message = f"answers the same as row {seen[*key, str(repeat)]}: repeats are numbered 0, 1, 2, ..."
            raise DataError(message, file=file, row=row, column=places.fields.get("repeat"))
        line = {"story": story, "criterion": criterion, "eval_prompt": prompt, "repeat": repeat}
        line["text"] = _text(cells, places, "answer") or ""
        line |= {name: value for name in ("finish_reason", "reasoning") if (value := _text(cells, places, name))}
        lines.setdefault(judge, []).append(line)
    return lines


def _definition(
    folder: Path,
    file: Path,
    table: TableCells,
    places: _Places,
    words: ForeignAnswersWords,
    lines: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The run's definition; stories, criteria and stand-ins for prompts are written beside it where none is named."""
    names = list(dict.fromkeys(str(line["criterion"]) for line in lines))
    prompts = list(dict.fromkeys(str(line["eval_prompt"]) for line in lines))
    with writing(folder, RunFolderError):
        folder.mkdir(parents=True, exist_ok=True)
        criteria = criteria_file(folder, names, words, file)
        for prompt in prompts:
            write_whole(folder / f"{prompt}.jinja", _STAND_IN.format(file=file.name, name=prompt))
        dataset: dict[str, Any] = {"dataset": words.dataset}
        if words.dataset is None:
            dataset = _stories(folder, table, places)
    return {
        **dataset,
        "criteria": {"set": criteria, "only": names},
        "eval_prompts": [f"{prompt}.jinja" for prompt in prompts],
        "repeats": 1 + max(int(line["repeat"]) for line in lines),
        "note": f"answers made elsewhere ({file.name}); the words of the prompts are not known",
    }


_STAND_IN = """---
description: Stands for the prompt {name} of {file}, whose words are not known; the answers were made elsewhere
---
(The words that the judge was asked in are not known.)
{{{{ criterion.name }}}} of {{{{ story }}}}
"""


def criteria_file(folder: Path, names: Sequence[str], words: ForeignAnswersWords, file: Path) -> str:
    """The set that was named, or the shipped one that has all criteria; else a file with the scale that was said."""
    if words.criteria is not None:
        return words.criteria
    if words.scale is None and not words.labels:
        for name in shipped_criteria():
            if {*names} <= {criterion.name for criterion in load_criteria(name).criteria}:
                return name
        hint = Advice(
            "say the scale ({scale}), the labels ({labels}), or a set ({criteria})",
            scale="1-5",
            labels="No,Yes",
            criteria="SET",
        )
        raise DataError(
            f"no shipped set of criteria has {', '.join(names)}: their scale is not known", file=file, hint=hint
        )
    entry: dict[str, Any] = {"name": f"{file.stem}-criteria", "description": f"criteria of {file.name}"}
    if words.labels:
        labels = parse_labels(words.labels[0].rpartition("=")[2]).labels
        scale: dict[str, Any] = {"labels": list(labels)}
    else:
        numbers = parse_scale(str(words.scale).replace(":", "/"))
        scale = {"min": numbers.min, "max": numbers.max, "step": numbers.step}
    entry["scale"] = scale
    entry["criteria"] = [
        {"name": n, "abbreviation": f"C{at}", "definition": "not known"} for at, n in enumerate(names, 1)
    ]
    write_whole(folder / "criteria.yaml", yaml.safe_dump(entry, sort_keys=False, allow_unicode=True))
    return "criteria.yaml"


def _stories(folder: Path, table: TableCells, places: _Places) -> dict[str, Any]:
    """A table of the stories that the answers are about, with people's ratings, and its column map."""
    told = ("system", "story_prompt", "text")
    stories: dict[str, dict[str, str | None]] = {}
    ratings: dict[tuple[str, str, str], str] = {}
    for at, cells in enumerate(table.rows, 1):
        story = str(_text(cells, places, "story"))
        facts = stories.setdefault(story, dict.fromkeys(told))
        for name in told:
            value = _text(cells, places, name)
            if value is not None and facts[name] not in (None, value):
                message = f"the {name} of story {story!r} differs from an earlier row's"
                raise DataError(message, file=table.path, row=at, column=places.fields[name], found=value)
            facts[name] = facts[name] or value
        for column in places.people:
            value = cell(cells, column)
            if not is_missing(value, ()):
                key = (story, named(column).who, str(_text(cells, places, "criterion")))
                if ratings.setdefault(key, str(value)) != str(value):
                    message = f"people's rating of story {story!r} differs from an earlier row's"
                    raise DataError(message, file=table.path, row=at, column=column, found=value)
    buffer = io.StringIO()
    rated = [(*key, value) for key, value in ratings.items()]
    head = ["id", *told, *(("rater", "criterion", "rating") if rated else ())]
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(head)
    with_ratings = {story for story, *_ in rated}
    for story, facts in stories.items():
        row = [story, *(facts[name] or ("-" if name == "system" else "") for name in told)]
        mine = [rating for rating in rated if rating[0] == story] if story in with_ratings else []
        if not rated:
            writer.writerow(row)
        elif not mine:
            writer.writerow([*row, rated[0][1], rated[0][2], ""])
        for _, rater, criterion, value in mine:
            writer.writerow([*row, rater, criterion, value])
    write_whole(folder / "stories.csv", buffer.getvalue())
    columns = {name: name for name in head}
    if not any(facts["text"] for facts in stories.values()):
        columns["text"] = UNKNOWN
    return {"dataset": "stories.csv", "columns": columns}


READERS = (
    Reader(
        "answers",
        "answers made elsewhere (text, story, criterion, judge, repeat), as a run that replays them",
        ForeignAnswersWords,
        _fits,
        _read,
    ),
)
