"""A reader of one form of file that other programs write, as one record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.analysis.options.alternatives import Form
from judge.exchange.reader.look import Look

Say = Callable[[str], None]
"""Is told what was read, a line at a time."""

Read = Callable[[Sequence[Path], Any, Path | None, Say], None]
"""Reads files with options, and writes a result folder or a run to a path; None takes `folder_for`."""


@dataclass(frozen=True, slots=True)
class Reader(Form):
    """A reader of one form of file.

    Attributes
    ----------
    fits : callable
        Takes a look at a file; returns whether it has this form.
    read : callable
        Reads the files and writes what they hold.
    general : bool
        Whether its form is so general that it is taken only where no other form fits.
    """

    fits: Callable[[Look], bool]
    read: Read
    general: bool = False


def folder_for(files: Sequence[Path], target: Path | None) -> Path:
    """The folder to write: `target`, or else runs/FILE, after the first file."""
    return target or Path("runs") / files[0].resolve().stem
