"""The content of an audit at one moment, from which all tables, exports and pages are built. It is read in one
transaction, since annotators may answer meanwhile and a table could count answers that its note does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.explanations.audit.file.categories import Category, PracticeItem
from judge.explanations.audit.file.items import Item
from judge.explanations.audit.file.rows import Answer
from judge.explanations.audit.file.store import ADJUDICATION, ANNOTATION, AuditStore


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Answers and remarks of one round; `annotators` have at least one answer, in the order of registration. `answers`
    are sorted by annotator and item. `remarks` maps (annotator, item) to (note, seconds), if there is either."""

    annotators: tuple[str, ...]
    answers: tuple[Answer, ...]
    remarks: Mapping[tuple[str, int], tuple[str, float | None]]

    def note(self, annotator: str, item: int) -> str:
        """Note of the annotator on the item; empty if there is none."""
        return self.remarks.get((annotator, item), ("", None))[0]

    def seconds(self, annotator: str, item: int) -> float | None:
        """Time that the annotator spent on the item; None if it was not measured."""
        return self.remarks.get((annotator, item), ("", None))[1]


@dataclass(frozen=True, slots=True, eq=False)
class AuditSnapshot:
    """The content of an audit file at one moment; `notes` are sentences about the sample and imported files. `sampling`
    says how the items were drawn, {} if not by this program. `practised`: annotator -> item -> category -> value."""

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
    """The current content of an open audit, read in one transaction."""
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
    """The current content of an audit file or of a run's audit. Raises DataError if it is not an audit."""
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
