"""The practice round of an audit: its answers get feedback, are stored separately, and are not counted in any rate."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from judge.base.errors import DataError
from judge.explanations.audit.items import PracticeItem
from judge.explanations.audit.rows import check_values, clean_name
from judge.explanations.audit.store import AuditSnapshot, AuditStore


@dataclass(frozen=True, slots=True)
class Feedback:
    """Answers given and expected on a practice item, whether each is `right`, and the reason (`sentence`). `complete`:
    every category of the audit was answered."""

    values: dict[str, int]
    expected: dict[str, int]
    right: dict[str, bool]
    sentence: str
    complete: bool


def practise(store: AuditStore, annotator: str, practice: int, values: Mapping[str, int | None]) -> Feedback:
    """The current practice answers after storing `values` (1, 0, or None to delete one), with the expected ones. Raises
    SpecError for an unknown category or value, DataError for an unknown practice item."""
    name = store.register(annotator)
    changed = check_values(values, [c.key for c in store.categories])
    _known(store, practice)
    with store.transaction() as db:
        for key, value in changed.items():
            if value is None:
                sql = "DELETE FROM practice_answers WHERE annotator = ? AND practice = ? AND category = ?"
                db.execute(sql, (name, practice, key))
            else:
                row = (name, practice, key, value, time.time())
                db.execute("INSERT OR REPLACE INTO practice_answers VALUES (?, ?, ?, ?, ?)", row)
    return feedback(store, name, practice)


def feedback(store: AuditStore, annotator: str, practice: int) -> Feedback:
    """Current answers of the annotator on a practice item, with the expected answers."""
    item = _known(store, practice)
    sql = "SELECT category, value FROM practice_answers WHERE annotator = ? AND practice = ?"
    values = {str(key): int(value) for key, value in store.select(sql, clean_name(annotator), practice)}
    complete = len(values) == len(store.categories)
    return Feedback(values, dict(item.expected), _right(item, values), item.feedback, complete)


def practice_score(audit: AuditSnapshot, annotator: str) -> tuple[int, int]:
    """(answers as expected, all answers) in the practice round, without categories that have no expected answer."""
    given = audit.practised.get(annotator, {})
    results = [_right(item, given.get(item.id, {})) for item in audit.practice]
    return sum(sum(right.values()) for right in results), sum(len(right) for right in results)


def _right(item: PracticeItem, values: Mapping[str, int]) -> dict[str, bool]:
    return {key: values[key] == wanted for key, wanted in item.expected.items() if key in values}


def _known(store: AuditStore, practice: int) -> PracticeItem:
    for item in store.practice:
        if item.id == practice:
            return item
    raise DataError(f"has no practice item {practice}", file=store.path, allowed=f"1 to {len(store.practice)}")
