"""An audit at one moment, as one value: the data of all tables, exports and pages.

Annotators work while others look. What is read at two moments may not fit together: a table would count answers that
its note does not know. Everything here is therefore read in one transaction, and nothing made of it reads again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.audit.file.answers import Answer
from judge.audit.file.categories import Category, PracticeItem
from judge.audit.file.items import Item
from judge.audit.file.store import ADJUDICATION, ANNOTATION, AuditStore


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Answers and remarks of one round.

    `annotators` answered anything in it, in the order in which they came; `answers` are by annotator and item;
    `remarks`: (annotator, item) -> (note, seconds), where there is either.
    """

    annotators: tuple[str, ...]
    answers: tuple[Answer, ...]
    remarks: Mapping[tuple[str, int], tuple[str, float | None]]

    def note(self, annotator: str, item: int) -> str:
        """Note of the annotator on the item; empty where there is none."""
        return self.remarks.get((annotator, item), ("", None))[0]

    def seconds(self, annotator: str, item: int) -> float | None:
        """Time that the annotator spent on the item; None where it was not measured."""
        return self.remarks.get((annotator, item), ("", None))[1]


@dataclass(frozen=True, slots=True, eq=False)
class AuditSnapshot:
    """The content of an audit's file at one moment.

    `sampling` is what `judge.audit.sample.sampling` kept of the draw, empty where the audit was not drawn here;
    `notes` are sentences about the sample and about imported files; `practised` holds practice answers: annotator ->
    practice item -> category -> value.
    """

    path: Path
    audit_id: str
    seed: int
    blind: tuple[str, ...]
    sampling: Mapping[str, Any]
    notes: tuple[str, ...]
    categories: tuple[Category, ...]
    practice: tuple[PracticeItem, ...]
    items: tuple[Item, ...]
    registered: tuple[str, ...]
    annotation: Round
    adjudication: Round
    practised: Mapping[str, Mapping[int, Mapping[str, int]]]


def snapshot(store: AuditStore) -> AuditSnapshot:
    """Content of an open audit at this moment."""
    with store.reading():
        return AuditSnapshot(
            path=store.path,
            audit_id=store.audit_id,
            seed=store.seed,
            blind=store.blind,
            sampling=store.meta["sampling"],
            notes=tuple(store.notes),
            categories=store.categories,
            practice=store.practice,
            items=tuple(store.items()),
            registered=tuple(store.registered()),
            annotation=_round(store, ANNOTATION),
            adjudication=_round(store, ADJUDICATION),
            practised=_practised(store),
        )


def read_audit(path: Path | str) -> AuditSnapshot:
    """An audit's file, or that of a run's folder, as it stands now; DataError, a sentence, for a file that is none."""
    with AuditStore.open(path, writing=False) as store:
        return snapshot(store)


def _round(store: AuditStore, number: int) -> Round:
    return Round(tuple(store.annotators(number)), tuple(store.answers(round_no=number)), store.remarks(round_no=number))


def _practised(store: AuditStore) -> dict[str, dict[int, dict[str, int]]]:
    answers: dict[str, dict[int, dict[str, int]]] = {}
    for name, practice, category, value in store.select(
        "SELECT annotator, practice, category, value FROM practice_answers ORDER BY annotator, practice, category"
    ):
        answers.setdefault(name, {}).setdefault(practice, {})[category] = value
    return answers
