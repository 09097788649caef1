"""Locations of the files that ship with the program: Eval-Prompts, criteria sets, run definitions."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]


def shipped(folder: str) -> Path:
    """Path of the folder `prompts` or `runs` that is shipped with the program.

    In an installed wheel the folder is inside the package, in a checkout of the repository next to it.
    """
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


def package_file(*parts: str) -> Path:
    """A data file inside the package, e.g. `package_file("inputs", "datasets", "demo_stories.jsonl")`."""
    return _PACKAGE.joinpath(*parts)
