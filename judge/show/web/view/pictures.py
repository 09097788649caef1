"""Forest plots as plain data in `derived/`, and drawn from them: stored HTML is never shown, as files may be
untrusted."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from markupsafe import Markup
from pydantic import TypeAdapter, ValidationError

from judge.questions.charts.forest import Forest
from judge.show.pages import charts

# Of a panel: a page has room for what a sheet of paper has not.
_WIDTH = 230.0


def drawn(values: Iterable[Any]) -> list[tuple[Markup, str]]:
    """(HTML, caption) of stored plots; values that describe none are left out."""
    figures = []
    for position, value in enumerate(values):
        try:
            forest = _form().validate_python(value)
        except ValidationError:
            continue
        figures.append((charts.forest(forest, f"picture-{position}", width=_WIDTH), forest.caption))
    return figures


@cache
def _form() -> TypeAdapter[Forest]:
    return TypeAdapter(Forest)
