"""Forest plots as plain data for storage in the folder `derived/`, and drawn from these data. Stored HTML is never
shown, because the files may come from an untrusted source.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from typing import Any

from markupsafe import Markup
from pydantic import TypeAdapter, ValidationError

from judge.questions.charts.forest import Forest
from judge.show.pages import charts

# Of a panel: a page has room for what a sheet of paper has not.
_WIDTH = 230.0


def plain(forest: Forest) -> dict[str, Any]:
    """The forest plot as plain data that can be written as JSON."""
    return asdict(forest)


def drawn(values: Iterable[Any]) -> list[tuple[Markup, str]]:
    """Forest plots drawn from stored plain data, as pairs of HTML and caption. Values that do not describe a plot are
    left out.
    """
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
