"""Items of an audit as values: an explanation with its story, and the facts that annotators may not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson
from pydantic import TypeAdapter

from judge.base.errors import unknown_value
from judge.base.fingerprint import fingerprint
from judge.base.records import Criterion

# Facts that annotators see unless the audit is blind to them; all other facts are never shown.
BLINDABLE = ("judge", "eval_prompt", "rating")


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about the origin of an explanation; None = not known. `people` is the mean human rating of the story, `gap`
    the judge's rating minus it (points), `cluster` that of `judge explain`, and `weight` the number of explanations of
    the population that it represents."""

    run: str | None = None
    judge: str | None = None
    eval_prompt: str | None = None
    repeat: int | None = None
    rating: float | None = None
    people: float | None = None
    gap: float | None = None
    cluster: str | None = None
    stratum: str | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """One explanation to be audited, before it has a number; texts and criterion are None if an imported file lacks
    them. `story` is the story's id, `text` its text and `reference` the text of the reference story."""

    explanation: str
    story: str | None = None
    dataset: str | None = None
    system: str | None = None
    story_prompt: str | None = None
    text: str | None = None
    reference: str | None = None
    criterion: Criterion | None = None
    facts: Facts = field(default_factory=Facts)

    @property
    def shown_reference(self) -> str | None:
        """The reference to show; None if it is the rated story, which would reveal that a human wrote it."""
        same = " ".join((self.reference or "").split()) == " ".join((self.text or "").split())
        return None if same else self.reference

    def text_of(self, value: Any) -> str:
        """A fact as text. A rating is replaced by its label if the criterion has labels."""
        if not isinstance(value, float):
            return str(value)
        return f"{value:g}" if self.criterion is None else self.criterion.scale.text_of(value)

    @property
    def key(self) -> str:
        """Hash of an explanation with its story and facts. It is the same in every file that holds all of these."""
        return fingerprint(asdict(self) | {"criterion": _plain(self.criterion)})


@dataclass(frozen=True, slots=True)
class Item:
    """An explanation to be audited (`subject`) with its number in the audit (from 1) and its hash `key`."""

    id: int
    key: str
    subject: Subject


def visible_facts(subject: Subject, blind: Sequence[str]) -> dict[str, Any]:
    """The known facts of `BLINDABLE` that an annotator may see: those not named in `blind`."""
    shown = {name: getattr(subject.facts, name) for name in BLINDABLE if name not in blind}
    return {name: value for name, value in shown.items() if value is not None}


def check_blind(blind: Sequence[str]) -> tuple[str, ...]:
    """The names of facts to hide, without duplicates. Raises SpecError for an unknown or never shown fact."""
    for name in blind:
        if name not in BLINDABLE:
            raise unknown_value("blind", name, BLINDABLE)
    return tuple(dict.fromkeys(blind))


def criterion_json(criterion: Criterion | None) -> str | None:
    """JSON of a criterion as stored in the audit file; None without a criterion."""
    return None if criterion is None else orjson.dumps(_plain(criterion)).decode()


def _plain(criterion: Criterion | None) -> dict[str, Any] | None:
    if criterion is None:
        return None
    record = asdict(criterion)
    # Without labels there is no entry, so that the hashes of criteria without labels do not change.
    if not criterion.scale.labels:
        record["scale"] = {name: record["scale"][name] for name in ("min", "max", "step")}
    return record


def criterion_of(text: str | None) -> Criterion | None:
    """Criterion read from its JSON in the audit file; None for None."""
    return None if text is None else Criterion.of(orjson.loads(text))


def facts_json(facts: Facts) -> str:
    """JSON of the facts about an explanation as stored in the audit file; unknown facts are left out."""
    return orjson.dumps({key: value for key, value in asdict(facts).items() if value is not None}).decode()


def facts_of(text: str) -> Facts:
    """Facts about an explanation, read from their JSON in the audit file. Raises ValueError for anything else."""
    return TypeAdapter(Facts).validate_json(text, strict=True)
