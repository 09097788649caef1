"""Reader of answers that compare two stories, made by other programs, as a run that replays them: the verdict parser
reads them here, they are kept as answers, and later parsers read them again."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from judge.answers.parsing.verdict import CHOICES
from judge.base.errors import DataError, RunFolderError, SpecError
from judge.base.files import write_whole, writing
from judge.base.wording import Advice
from judge.exchange.foreign_answers import KEYS, NO_NAME, NO_PROMPT, ForeignAnswersWords, criteria_file
from judge.exchange.logs.comparisons import LoggedStory
from judge.exchange.reader import Look, Reader, Say, folder_for
from judge.exchange.released import refuse_taken, write_recorded_run
from judge.exchange.tables.compared_table import ComparedMap, story_in_row, text_in_row
from judge.inputs.datasets.files.cell_patterns import fits
from judge.inputs.datasets.files.column_map import UNKNOWN
from judge.inputs.datasets.files.column_names import bare
from judge.inputs.datasets.files.column_words import NAMES
from judge.inputs.datasets.files.pair_table import CRITERION
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.table_file import cell, table_rows
from judge.inputs.datasets.files.verdict_codes import column_pairs

# Keys of an answer that are never a story's.
_ANSWERS = (*KEYS["answer"], "raw_answer", "judgment", "judgement", "judge_answer")
_TURNED = ("swapped", "reversed", "flipped", "turned")
_YES = ("true", "1", "yes", "1.0")
_SIDES = ("first", "second")
_FIELDS = ("answer", *_SIDES, *(f"{side}_{of}" for side in _SIDES for of in ("id", "system")), "story_prompt", "id",
           "criterion", "judge", "eval_prompt", "repeat", "finish_reason", "reasoning", "turned")  # fmt: skip
_OWN = ("criterion", "judge", "eval_prompt", "repeat", "finish_reason", "reasoning")


@dataclass(frozen=True, slots=True)
class _Answered:
    """One answer: the stories in the order in which they were shown, and the line that is recorded."""

    first: LoggedStory
    second: LoggedStory
    story_prompt: str
    judge: str
    line: dict[str, Any]


def _fits(look: Look) -> bool:
    """Whether records hold an answer in words beside two stories, and no verdict."""
    record = look.record()
    answer = next((record[key] for key in _ANSWERS if isinstance(record.get(key), str)), None)
    columns = [*(record or look.columns)]
    named = bool({*_ANSWERS} & {*columns}) if look.columns else answer is not None and " " in answer.strip()
    verdicts = {"preference", "winner", "g1_winner", "rating", "score", "chosen"} & {*columns}
    return named and bool(column_pairs(columns)) and not verdicts


def _read(files: Sequence[Path], words: ForeignAnswersWords, target: Path | None, say: Say) -> None:
    if len(files) > 1:
        raise SpecError(f"{len(files)} files of answers: they are imported one by one")
    file, folder = files[0], folder_for(files, target)
    if words.labels:
        shown = ",".join(CHOICES)
        told = {"pair": True, "labels": ",".join(words.labels), "output": "verdicts.csv"}
        way = Advice("judge parse {} {pair} {labels} {output}, then judge import verdicts.csv", str(file), **told)
        raise SpecError(f"a run's stories are called {shown}, or by a noun with a letter or number", hint=way)
    table = TableCells.at(file, None)
    columns = _columns(table, words)
    say(f"read as: {', '.join(f'{name} {column}' for name, column in columns.fields.items())}")
    left = [name for name in table.columns if name not in columns.fields.values()]
    if left:
        verdicts = "not read: {}; people's verdicts among them: judge import {} {as_}"
        say(Advice(verdicts, ", ".join(left), str(file), as_="ratings"))
    by_judge: dict[str, list[_Answered]] = {}
    for answered in _answers(file, columns):
        by_judge.setdefault(answered.judge, []).append(answered)
    for judge, answers in by_judge.items():
        at = folder if len(by_judge) == 1 else folder / NO_NAME.sub("-", judge)
        refuse_taken(at)
        definition = _definition(at, file, columns, words, answers)
        path = write_recorded_run(at, judge, [answered.line for answered in answers], definition)
        say(f"{len(answers):,} answers of {judge} on two stories each; next: judge run {path.parent}")


def _columns(table: TableCells, words: ForeignAnswersWords) -> ComparedMap:
    """The columns of fields: as said, else by their names."""
    fields = dict(words.column_map)
    for name, column in fields.items():
        if name not in _FIELDS:
            hint = f"fields: {', '.join(_FIELDS)}"
            raise SpecError(Advice("{columns} names no field of answers", columns={name: column}), hint=hint)
    free = [column for column in table.columns if column not in fields.values()]
    for name, keys in ({"answer": _ANSWERS, "turned": _TURNED} | {name: KEYS[name] for name in _OWN}).items():
        usual = next((column for key in keys for column in free if column.lower() == key), None)
        if name == "eval_prompt" and usual is not None and 2 * len({*map(str, table.values(usual))}) > len(table.rows):
            continue  # it names what the stories answer
        if name not in fields and usual is not None:
            fields[name] = usual
            free.remove(usual)
    pairs = sorted(column_pairs(free), key=lambda pair: -sum(len(str(value)) for value in table.values(pair[0])))
    for kind, named in (("_system", r"model|system|generator"), ("_id", r"(?:^|[^a-z])id(?:[^a-z]|$)"), ("", "")):
        pair = next((pair for pair in pairs if re.search(named, pair[0].lower())), None)
        if pair is not None and not {f"{side}{kind}" for side in _SIDES} & {*fields}:
            fields |= {f"{side}{kind}": column for side, column in zip(_SIDES, pair, strict=True)}
            pairs.remove(pair)
    for kind in ("_id", "_system"):
        fields |= {side: fields[f"{side}{kind}"] for side in _SIDES if side not in fields and f"{side}{kind}" in fields}
    for name in ("story_prompt", "id"):
        usual = next((c for word in NAMES[name] for c in free if bare(c) == word and c not in fields.values()), None)
        if name not in fields and usual is not None:
            fields[name] = usual
    for needed in ("answer", *_SIDES):
        if needed not in fields:
            hint = Advice("{columns}", columns={needed: "KEY"})
            raise DataError(f"no key holds the {needed}", file=table.path, hint=hint)
    texts = fits("text", table.values(fields["first"]))
    return ComparedMap(fields, (), (), CRITERION, {}, texts, ordered=True)


def _answers(file: Path, columns: ComparedMap) -> Iterator[_Answered]:
    done: dict[tuple[str, ...], int] = {}
    seen: dict[tuple[str, ...], int] = {}
    for row, cells in table_rows(file):
        stories = [story_in_row(cells, columns, side, file, row) for side in _SIDES]
        turned = str(text_in_row(cells, columns, "turned") or "").casefold() in _YES
        first, second = reversed(stories) if turned else stories
        own = {name: text_in_row(cells, columns, name) for name in _OWN}
        judge, criterion = own["judge"] or file.stem, own["criterion"] or CRITERION
        prompt = NO_NAME.sub("-", own["eval_prompt"] or NO_PROMPT)
        key = (judge, first.id, second.id, criterion, prompt)
        repeat = done.get(key, 0) if own["repeat"] is None else int(float(own["repeat"]))
        done[key] = done.get(key, 0) + 1
        if seen.setdefault((*key, str(repeat)), row) != row:
            message = f"answers the same as row {seen[*key, str(repeat)]}: repeats are numbered 0, 1, 2, ..."
            raise DataError(message, file=file, row=row, column=columns.fields.get("repeat"))
        value = cell(cells, columns.fields["answer"])
        line: dict[str, Any] = {"story": first.id, "second": second.id, "criterion": criterion, "eval_prompt": prompt}
        line |= {"repeat": repeat, "text": "" if value is None else str(value)}
        line |= {name: own[name] for name in ("finish_reason", "reasoning") if own[name]}
        about = text_in_row(cells, columns, "story_prompt") or text_in_row(cells, columns, "id") or ""
        yield _Answered(first, second, about, judge, line)


def _definition(
    folder: Path, file: Path, columns: ComparedMap, words: ForeignAnswersWords, answers: Sequence[_Answered]
) -> dict[str, Any]:
    """The run's definition; stories, pairs, criteria and stand-ins for prompts are written beside it. Where each pair
    has both orders they are one pair's; else each order that occurs is a pair of its own."""
    names, prompts = (list(dict.fromkeys(str(a.line[key]) for a in answers)) for key in ("criterion", "eval_prompt"))
    shown = list(dict.fromkeys((a.first.id, a.second.id) for a in answers))
    both = all((second, first) in {*shown} for first, second in shown)
    pairs = [pair for at, pair in enumerate(shown) if not both or pair[::-1] not in shown[:at]]
    facts = _stories(answers, file)
    listed = [{"first": first, "second": second, "id": f"{first}|{second}"} for first, second in pairs]
    with writing(folder, RunFolderError):
        folder.mkdir(parents=True, exist_ok=True)
        criteria = criteria_file(folder, names, replace(words, scale=words.scale or "1-5"), file)
        for prompt in prompts:
            write_whole(folder / f"{prompt}.jinja", _STAND_IN.format(file=file.name, name=prompt))
        write_whole(folder / "stories.csv", _written(facts))
        write_whole(folder / "pairs.jsonl", b"".join(orjson.dumps(pair) + b"\n" for pair in listed))
    told = {name: name for name in ("id", "system", "story_prompt")}
    across = any(facts[first][1] != facts[second][1] for first, second in pairs)
    return {
        "dataset": "stories.csv",
        "columns": told | {"text": "text" if columns.texts else UNKNOWN},
        "criteria": {"set": criteria, "only": names},
        "eval_prompts": [f"{prompt}.jinja" for prompt in prompts],
        "pairs": {"file": "pairs.jsonl"},
        "orders": "both" if both else "as-given",
        **({"across": True} if across else {}),
        "repeats": 1 + max(int(answered.line["repeat"]) for answered in answers),
        "note": f"answers made elsewhere ({file.name}); the words of the prompts are not known",
    }


_STAND_IN = """---
description: Stands for the prompt {name} of {file}, whose words are not known; the answers were made elsewhere
compares: true
---
(The words that the judge was asked in are not known.)
{{{{ criterion.name }}}} of {{{{ first }}}} and {{{{ second }}}}: {{{{ labels.first }}}} or {{{{ labels.second }}}}
"""


def _stories(answers: Sequence[_Answered], file: Path) -> dict[str, tuple[str, str, str]]:
    """Story -> system, story-prompt and text. A story that was compared for several prompts has none of its own."""
    facts: dict[str, tuple[str, str, str]] = {}
    for answered in answers:
        for story in (answered.first, answered.second):
            text = story.text or ""
            system, prompt, earlier = facts.setdefault(story.id, (story.system, answered.story_prompt, text))
            if (system, earlier) != (story.system, text):
                raise DataError(f"story {story.id!r} has two texts or systems", file=file)
            if prompt != answered.story_prompt:
                facts[story.id] = (system, "", earlier)
    return facts


def _written(facts: Mapping[str, tuple[str, str, str]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("id", "system", "story_prompt", "text"))
    writer.writerows((story, *told) for story, told in facts.items())
    return buffer.getvalue()


READERS = (
    Reader(
        "verdict-answers",
        "answers made elsewhere that compare two stories (text, two stories or ids), as a run that replays them",
        ForeignAnswersWords,
        _fits,
        _read,
    ),
)
