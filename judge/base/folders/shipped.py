"""Locations of the files that ship with the program: Eval-Prompts, criteria sets, run definitions."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]


def shipped(folder: str) -> Path:
    """The shipped folder `prompts` or `runs`: inside the package of a wheel, next to it in a checkout."""
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


def package_file(*parts: str) -> Path:
    """A data file inside the package, e.g. `package_file("inputs", "datasets", "demo_stories.jsonl")`."""
    return _PACKAGE.joinpath(*parts)
