"""The JSON file of answers that the offline pages save, and the check that it belongs to the audit::

    {"format": "judge-audit-answers/1", "audit": "3f2a…", "annotator": "Ada",
     "answers": [{"item": 1, "key": "b2:…", "values": {"poor_syntax": 0}, "note": "", "seconds": 12.5}],
     "practice": [{"practice": 1, "values": {"poor_syntax": 0}}]}

`item` and `key` must both match. `note`, `seconds` and `practice` are optional.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.base.errors import DataError
from judge.base.files import write_whole
from judge.base.wording import Advice
from judge.explanations.audit import rows
from judge.explanations.audit.items import PracticeItem
from judge.explanations.audit.rows import check_values
from judge.explanations.audit.store import ANNOTATION, AuditSnapshot, AuditStore
from judge.inputs.datasets.files.source_file import read_json

# The practice round of an audit: its answers get feedback, are stored separately, and are not counted in any rate.


def practise(store: AuditStore, annotator: str, practice: int, values: Mapping[str, int | None]) -> bool:
    """Whether every category of a practice item is answered after storing `values` (1, 0, or None to delete one).
    Raises SpecError for an unknown category or value, DataError for an unknown practice item."""
    name = store.register(annotator)
    changed = check_values(values, [c.key for c in store.categories])
    if practice not in {item.id for item in store.practice}:
        raise DataError(f"has no practice item {practice}", file=store.path, allowed=f"1 to {len(store.practice)}")
    with store.transaction() as db:
        for key, value in changed.items():
            if value is None:
                sql = "DELETE FROM practice_answers WHERE annotator = ? AND practice = ? AND category = ?"
                db.execute(sql, (name, practice, key))
            else:
                row = (name, practice, key, value, time.time())
                db.execute("INSERT OR REPLACE INTO practice_answers VALUES (?, ?, ?, ?, ?)", row)
        sql = "SELECT count(*) FROM practice_answers WHERE annotator = ? AND practice = ?"
        return bool(db.execute(sql, (name, practice)).fetchone()[0] == len(store.categories))


def practice_score(audit: AuditSnapshot, annotator: str) -> tuple[int, int]:
    """(answers as expected, all answers) in the practice round, without categories that have no expected answer."""
    given = audit.practised.get(annotator, {})
    results = [_right(item, given.get(item.id, {})) for item in audit.practice]
    return sum(sum(right.values()) for right in results), sum(len(right) for right in results)


def _right(item: PracticeItem, values: Mapping[str, int]) -> dict[str, bool]:
    return {key: values[key] == wanted for key, wanted in item.expected.items() if key in values}


# Merges answers from files into an audit. A file is merged as a whole or not at all, and repeated imports change
# nothing. If an answer in the file differs from the one in the audit, the caller decides whether it is replaced.


@dataclass(frozen=True, slots=True)
class Given:
    """Answers of one annotator on one item, read from a file; unanswered categories are missing from `values`."""

    annotator: str
    item: int
    values: Mapping[str, int]
    note: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """Counts of imported answers (annotator x item x category); `same` ones were there, `replaced` ones differed."""

    annotators: tuple[str, ...]
    new: int
    same: int
    replaced: int

    def sentence(self) -> str:
        """Sentence that says how many imported answers are new, replaced or already there."""
        if not self.new and not self.replaced:
            return f"all {self.same} answers of {len(self.annotators)} annotators were there already; nothing changed"
        parts = [f"{self.new} answers of {len(self.annotators)} annotators"]
        parts += [f"{self.replaced} replaced"] if self.replaced else []
        parts += [f"{self.same} were there already"] if self.same else []
        return ", ".join(parts)


def merge(
    store: AuditStore, given: Sequence[Given], origin: Path, *, replace: bool = False, round_no: int = ANNOTATION
) -> Merged:
    """Store answers read from the file `origin` in one transaction. `round_no` is 1 for the annotation and 2 for the
    settling of disagreements. Raises DataError, and changes nothing, if the audit holds a different answer or note and
    `replace` is False."""
    keys = [category.key for category in store.categories]
    names = {row.annotator: "" for row in given}
    for name in names:
        names[name] = store.register(name, origin=origin.name)
    new = same = replaced = 0
    differing: list[str] = []
    with store.transaction() as db:
        for row in given:
            values = check_values(row.values, keys, row.seconds)
            key = (round_no, names[row.annotator], row.item)
            before = rows.state(db, store.path, len(keys), key[1], row.item, round_no)
            other = [k for k, v in values.items() if before.values.get(k, v) != v]
            note_differs = bool(row.note and before.note and row.note != before.note)
            if (other or note_differs) and not replace:
                differences = ", ".join(other) or "the note"
                differing.append(f"{key[1]}, item {row.item}: {differences}")
                continue
            fresh = not before.values and not before.note
            note = row.note if (fresh or replace or not before.note) and row.note else None
            # An annotator's time counts only on a fresh item, so that a second import does not add it again.
            rows.change(db, store.path, key, before, values, note, row.seconds if fresh else None)
            replaced += len(other)
            new += sum(k not in before.values for k in values)
            same += sum(before.values.get(k) == v for k, v in values.items())
        if differing:
            shown = "; ".join(differing[:3]) + (f" and {len(differing) - 3} more" if len(differing) > 3 else "")
            raise DataError(
                f"says otherwise than the audit holds ({shown}); nothing was imported",
                file=origin,
                hint=Advice("{replace} takes the file's word", replace=True),
            )
    return Merged(tuple(dict.fromkeys(names.values())), new, same, replaced)


FORMAT = "judge-audit-answers/1"

_Value = Annotated[int, Field(ge=0, le=1)]


def import_answers(store: AuditStore, path: Path, *, replace: bool = False) -> Merged:
    """Import an answers file with its practice answers, which are not counted. Raises DataError for another audit's
    file or item, and for different answers without `replace`."""
    answers_file = read_answers(path, read_json(path))
    if answers_file.audit != store.audit_id:
        raise DataError(
            f"belongs to another audit than {store.path}", file=path, found=answers_file.audit, allowed=store.audit_id
        )
    keys = {item.id: item.key for item in store.items()}
    for answer in answers_file.answers:
        if keys.get(answer.item) != answer.key:
            raise DataError(f"item {answer.item} is not this audit's item {answer.item}", file=path)
    given = [
        Given(answers_file.annotator, answer.item, answer.values, answer.note or None, answer.seconds)
        for answer in answers_file.answers
    ]
    merged = merge(store, given, path, replace=replace)
    for practised in answers_file.practice:
        practise(store, answers_file.annotator, practised.practice, practised.values)
    return merged


def write_answers(audit: AuditSnapshot, annotator: str, path: Path) -> None:
    """Write one annotator's answers to an answers file, for import into another copy of the audit."""
    remarks = audit.annotation.remarks
    keys = {item.id: item.key for item in audit.items}
    values: dict[int, dict[str, int]] = {}
    for answer in audit.annotation.answers:
        if answer.annotator == annotator:
            values.setdefault(answer.item, {})[answer.category] = answer.value
    answers = []
    for item in sorted(values):
        note, seconds = remarks.get((annotator, item), ("", None))
        row = {"item": item, "key": keys[item], "values": values[item], "note": note, "seconds": seconds}
        answers.append(row)
    whole = {"format": FORMAT, "audit": audit.audit_id, "annotator": annotator, "answers": answers, "practice": []}
    write_whole(path, orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


class AnswerRow(BaseModel):
    """One annotator's answers on one item; `values` maps categories to 1 (error) or 0, and `key` is the item's hash."""

    model_config = ConfigDict(extra="forbid", strict=True)
    item: int
    key: str
    values: dict[str, _Value]
    note: str = ""
    seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class PracticeRow(BaseModel):
    """One annotator's answers on the practice item of this number; `values` maps categories to 1 (error) or 0."""

    model_config = ConfigDict(extra="forbid", strict=True)
    practice: int
    values: dict[str, _Value]


class AnswersFile(BaseModel):
    """Content of an answers file; `audit` is the audit's id."""

    model_config = ConfigDict(extra="forbid", strict=True)
    format: Literal["judge-audit-answers/1"]
    audit: str
    annotator: str
    answers: list[AnswerRow]
    practice: list[PracticeRow] = Field(default_factory=list)


def read_answers(path: Path, content: Any) -> AnswersFile:
    """The content of an answers file, from parsed JSON. Raises DataError with the position of the first error."""
    try:
        return AnswersFile.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{where}: {first['msg']}", file=path, found=first.get("input")) from error
