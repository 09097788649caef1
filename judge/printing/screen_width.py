"""The width of the screen, or None where output is not a terminal."""

from __future__ import annotations

import os
import shutil
import sys

NARROW = 60
"""Below this many columns, tables and lists are laid out one under another."""


def columns() -> int | None:
    """Columns of the terminal that is printed on, or of COLUMNS where that is set; None for files and pipes."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def narrow() -> int | None:
    """Width in columns where the screen is narrow; None elsewhere."""
    width = columns()
    return width if width is not None and width < NARROW else None
