"""Two-column tables of names and texts, wrapped to the width of the screen."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from judge.base.printing.tables import Column, Table

_WIDEST, _NARROWEST = 80, 30


def listing(title: str, facts: Sequence[tuple[str, str]], signature: str = "") -> Table:
    """Table of names and texts without headings; long texts wrap at the screen, at most at 80 columns."""
    screen = min(_WIDEST, max(_NARROWEST, shutil.get_terminal_size((_WIDEST, 24)).columns))
    beside = max((len(name) for name, _ in facts), default=0) + 2
    columns = [Column("name", ""), Column("text", "", wrap=screen - beside)]
    return Table(title, columns, [{"name": name, "text": text} for name, text in facts], signature)
