"""Folder of the user's own files. This module does not create it."""

from __future__ import annotations

from pathlib import Path


def home() -> Path:
    """The user's home folder; the root folder for a user without one, as in containers that run under a bare number."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")
