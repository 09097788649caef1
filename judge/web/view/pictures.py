"""Pictures as plain values and back, so that what lies in `derived/` is drawn anew and never shown as it is there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from typing import Any

from markupsafe import Markup
from pydantic import TypeAdapter, ValidationError

from judge.charts.forest import Forest
from judge.pages import charts

_WIDTH = 230.0
"""Of a panel: a page has room for what a sheet of paper has not."""


def plain(one: Forest) -> dict[str, Any]:
    """The picture as values that JSON has."""
    return asdict(one)


def drawn(values: Iterable[Any]) -> list[tuple[Markup, str]]:
    """Each picture with its caption; values that are none are left out."""
    made = []
    for place, value in enumerate(values):
        try:
            one = _form().validate_python(value)
        except ValidationError:
            continue
        made.append((charts.forest(one, f"picture-{place}", width=_WIDTH), one.caption))
    return made


@cache
def _form() -> TypeAdapter[Forest]:
    return TypeAdapter(Forest)
