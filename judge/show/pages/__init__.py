"""Parts that all HTML pages share: the template environment and the stylesheet. In templates everything is escaped
except markup that the program itself creates."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from judge.base.printing.text_layout import dollars

_FOLDER = Path(__file__).parent


def environment(folder: Path) -> Environment:
    """Jinja environment with the templates in `folder` and the shared ones. Unknown names are errors. Stories and
    answers are plain strings. A `markupsafe.Markup` must be made of escaped parts by the program's own code."""
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
    """The stylesheet of all pages, which refers to no web address, so pages work offline."""
    return (_FOLDER / "style.css").read_text(encoding="utf-8")


def count(number: float) -> str:
    """A count with commas between thousands: 150,000."""
    return f"{number:,.0f}"
