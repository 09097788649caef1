"""An audit's annotators: their personal links, and the data of their pages."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judge.base.records import Criterion
from judge.explanations.audit.adjudication import Dispute, disputes
from judge.explanations.audit.answers_file import FORMAT
from judge.explanations.audit.items import Item, Subject, visible_facts
from judge.explanations.audit.rows import clean_name
from judge.explanations.audit.store import ADJUDICATION, ANNOTATION, AuditSnapshot, AuditStore, Round, snapshot
from judge.show.web.owners import NotOwnerError, Owners


class Annotators(Owners):
    """The annotators' personal keys, and the names that are taken."""

    def __init__(self, store: AuditStore) -> None:
        super().__init__(store, store.audit_id, "/annotate")
        self._audit = store
        self._lock = threading.Lock()
        self._claimed: set[str] = set()

    def key(self, name: str) -> str:
        return super().key(clean_name(name))

    def cookie(self, name: str) -> str:
        return super().cookie(clean_name(name))

    def take(self, given: str, cookies: Mapping[str, str], *, register: bool) -> str:
        """Claim the name, as it is registered; the first to request it gets it, and may again by its cookie. Raises
        NotOwnerError for anybody else, SpecError for an invalid name. With `register`, the audit stores it. Names that
        differ only in case are the same."""
        with self._lock:
            names = [*self._audit.registered(), *self._claimed]
            name = clean_name(given)
            name = next((other for other in names if other.casefold() == name.casefold()), name)
            if name in names and not self.owns(name, cookies.get(self.cookie(name), "")):
                raise NotOwnerError(name)
            self._claimed.add(name)
            return self._audit.register(name) if register else name


_NAMES = {"judge": "Judge", "eval_prompt": "Eval-Prompt", "rating": "Rating"}


def annotation_task(store: AuditStore, annotator: str) -> dict[str, Any]:
    """Data of round 1 for the page's script audit.js. `stories` and `criteria` hold each text once; items refer to
    positions. `states` and `practised` are earlier answers; `save` and `savePractice` are addresses."""
    texts, audit = _Texts(), snapshot(store)
    by_number = {item.id: item for item in audit.items}
    keys = [category.key for category in audit.categories]
    items = [texts.item(by_number[number], audit.blind) | {"categories": keys} for number in store.order(annotator)]
    practice = [
        texts.shown(example.subject, audit.blind)
        | {"id": example.id, "expected": example.expected, "feedback": example.feedback}
        for example in audit.practice
    ]
    return _whole(audit, annotator, ANNOTATION, texts, items) | {
        "practice": practice,
        "practised": {str(number): values for number, values in audit.practised.get(annotator, {}).items()},
        "save": "/answers",
        "savePractice": "/practice",
        "home": ("/", "All annotators"),
    }


def adjudication_task(store: AuditStore, adjudicator: str) -> dict[str, Any]:
    """Data of round 2: disputed items and categories only, with each annotator's answers."""
    texts, audit = _Texts(), snapshot(store)
    by_number = {item.id: item for item in audit.items}
    settled = {(entry.item, entry.category): entry.annotator for entry in audit.adjudication.answers}
    items = []
    closed: dict[str, dict[str, Any]] = {}
    for dispute in disputes(audit):
        mine = [key for key in dispute.disputed if settled.get((dispute.item, key), adjudicator) == adjudicator]
        shown = texts.item(by_number[dispute.item], audit.blind)
        shown |= {"categories": mine or list(dispute.disputed), "given": _given(dispute, audit.annotation), "by": None}
        if not mine:
            shown["by"] = ", ".join(dispute.by)
            closed[str(dispute.item)] = _empty() | {"values": dispute.settled}
        items.append(shown)
    task = _whole(audit, adjudicator, ADJUDICATION, texts, items)
    asked = {str(entry["id"]): entry["categories"] for entry in items}
    # What was settled of a category that nobody disputes any longer stays in the file and is not shown.
    for number, state in task["states"].items():
        state["values"] = {k: v for k, v in state["values"].items() if k in asked.get(number, ())}
    task["states"] |= closed
    return task | {
        "practice": [],
        "practised": {},
        "save": "/settled",
        "savePractice": None,
        "home": ("/results", "Results"),
    }


def packed_task(store: AuditStore, annotator: str) -> dict[str, Any]:
    """Data of round 1 for an offline page, whose answers are saved as a file to import."""
    task = annotation_task(store, annotator)
    file = "answers-" + "".join(c if c.isalnum() else "_" for c in annotator) + ".json"
    nowhere: dict[str, Any] = {"save": None, "savePractice": None, "home": None, "states": {}, "practised": {}}
    return task | nowhere | {"download": {"format": FORMAT}, "file": file, "title": "Judge explanations of ratings"}


TASKS = {ANNOTATION: annotation_task, ADJUDICATION: adjudication_task}


@dataclass(slots=True)
class _Texts:
    """Texts that items show, each stored once."""

    stories: list[dict[str, str | None]] = field(default_factory=list)
    criteria: list[dict[str, Any]] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def item(self, item: Item, blind: tuple[str, ...]) -> dict[str, Any]:
        return self.shown(item.subject, blind) | {"id": item.id, "key": item.key}

    def shown(self, subject: Subject, blind: tuple[str, ...]) -> dict[str, Any]:
        texts = (subject.story_prompt, subject.text, subject.shown_reference)
        if texts not in self._places:
            self._places[texts] = len(self.stories)
            self.stories.append(dict(zip(("prompt", "text", "reference"), texts, strict=True)))
        facts = visible_facts(subject, blind)
        return {
            "story": self._places[texts],
            "criterion": self._criterion(subject.criterion),
            "explanation": subject.explanation,
            "rating": subject.labelled(facts.get("rating")),
            "facts": [(_NAMES[name], subject.text_of(value)) for name, value in facts.items()],
        }

    def _criterion(self, criterion: Criterion | None) -> int | None:
        if criterion is None:
            return None
        if criterion not in self._places:
            self._places[criterion] = len(self.criteria)
            points = criterion.scale.points()
            guidelines = criterion.guidelines or ("",) * len(points)
            named = criterion.scale.labels or [int(point) if point == int(point) else point for point in points]
            shown = [(point, text) for point, text in zip(named, guidelines, strict=False)]
            self.criteria.append({"name": criterion.name, "definition": criterion.definition, "points": shown})
        return self._places[criterion]


def _whole(
    audit: AuditSnapshot, name: str, round_no: int, texts: _Texts, items: list[dict[str, Any]]
) -> dict[str, Any]:
    answers_given = audit.annotation if round_no == ANNOTATION else audit.adjudication
    states: dict[str, dict[str, Any]] = {}
    for answer in answers_given.answers:
        if answer.annotator == name:
            states.setdefault(str(answer.item), _empty())["values"][answer.category] = answer.value
    for (annotator, item), (note, seconds) in answers_given.remarks.items():
        if annotator == name:
            states.setdefault(str(item), _empty()).update(note=note, seconds=seconds or 0)
    asked = [{"key": c.key, "label": c.label, "question": c.question, "press": c.press} for c in audit.categories]
    return {
        "audit": audit.audit_id,
        "annotator": name,
        "round": round_no,
        "categories": asked,
        "stories": texts.stories,
        "criteria": texts.criteria,
        "items": items,
        "states": states,
        "download": None,
    }


def _given(dispute: Dispute, annotation: Round) -> list[tuple[str, Any]]:
    names = sorted({name for by_annotator in dispute.given.values() for name in by_annotator})
    answers_by_name = []
    for name in names:
        values = {key: by_annotator[name] for key, by_annotator in dispute.given.items() if name in by_annotator}
        answers_by_name.append((name, {"values": values, "note": annotation.note(name, dispute.item)}))
    return answers_by_name


def _empty() -> dict[str, Any]:
    return {"values": {}, "note": "", "seconds": 0}
