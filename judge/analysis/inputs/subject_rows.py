"""Rows of results about judges, people and the control judge, flattened for frames and tables."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar, Protocol

from judge.analysis.inputs.candidates import Subject


class AboutSubject(Protocol):
    """A row of a result, as a dataclass with a `subject` (the rater and criterion) and numbers."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def subject(self) -> Subject: ...


def cells(row: AboutSubject) -> dict[str, Any]:
    """Map from column names to values: the names of the row's rater and criterion, and the row's other fields."""
    numbers = {field.name: getattr(row, field.name) for field in fields(row) if field.name != "subject"}
    return {**row.subject.labels, "kind": row.subject.kind, **numbers}
