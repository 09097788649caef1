"""The template environment of pages: everything is escaped except markup that the program itself creates."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from judge.base.printing.dollars import dollars

_FOLDER = Path(__file__).parent


def environment(folder: Path) -> Environment:
    """Jinja environment with the templates in `folder` and the shared ones (`base.html`). Text is escaped, and unknown
    names are errors.

    Stories and answers are given to templates as plain strings. A `markupsafe.Markup` object must come from the
    program's own code, made of escaped parts.
    """
    jinja = Environment(
        loader=FileSystemLoader([folder, _FOLDER / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters["count"] = count
    jinja.filters["dollars"] = dollars
    return jinja


@cache
def stylesheet() -> str:
    """The stylesheet of all pages, for light and dark mode, print and narrow screens. It refers to no web address, so
    pages work offline.
    """
    return (_FOLDER / "style.css").read_text(encoding="utf-8")


def count(number: float) -> str:
    """A count with commas between thousands: 150,000."""
    return f"{number:,.0f}"
