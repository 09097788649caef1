"""Path of the user's home folder. This module does not create the folder."""

from __future__ import annotations

from pathlib import Path


def home() -> Path:
    """The user's home folder; the root folder for a user without one, such as a container's user that has a number but
    no name.
    """
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")
