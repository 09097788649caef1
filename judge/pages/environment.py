"""The template environment of pages: everything is escaped except our own markup."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from judge.printing.dollars import dollars

_FOLDER = Path(__file__).parent


def environment(folder: Path) -> Environment:
    """Jinja over the templates in `folder` and the shared ones (`base.html`): escaping on, unknown names are errors.

    Stories and answers are given to templates as values. What is put in as `markupsafe.Markup` must have been made by
    our own code from escaped parts.
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
    """The one stylesheet: light, dark, print, narrow screens. No address in it, so a page with it works offline."""
    return (_FOLDER / "style.css").read_text(encoding="utf-8")


def count(number: float) -> str:
    """A count with thousands apart by commas, as in running text: 150,000."""
    return f"{number:,.0f}"
