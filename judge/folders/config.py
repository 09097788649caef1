"""Folder of the user's settings. This module does not create it."""

from __future__ import annotations

import os
from pathlib import Path

from judge.folders.home import home


def config_folder() -> Path:
    """The folder in JUDGE_HOME, or ~/.config/judge; the folder need not exist."""
    own = os.environ.get("JUDGE_HOME")
    return Path(own) if own else home() / ".config" / "judge"
