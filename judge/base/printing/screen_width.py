"""Width of the screen; None where output is not a terminal."""

from __future__ import annotations

import os
import shutil
import sys

NARROW = 60
"""Below this many columns, tables and lists are laid out one under another."""


def columns() -> int | None:
    """Number of columns of the terminal, or the value of the variable COLUMNS where it is set; None for files and
    pipes.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def narrow() -> int | None:
    """Width of the screen in columns if it is narrow (less than 60); None for wide screens, files and pipes."""
    width = columns()
    return width if width is not None and width < NARROW else None
