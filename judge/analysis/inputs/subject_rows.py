"""Rows about judges, people and the control, flattened for frames and tables."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar, Protocol

from judge.analysis.inputs.candidates import Subject


class AboutSubject(Protocol):
    """A row of a result, a dataclass: whose it is, and numbers."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def subject(self) -> Subject: ...


def cells(row: AboutSubject) -> dict[str, Any]:
    """The row's labels of its subject, and its other fields by their names."""
    numbers = {field.name: getattr(row, field.name) for field in fields(row) if field.name != "subject"}
    return {**row.subject.labels, "kind": row.subject.kind, **numbers}
