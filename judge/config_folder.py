"""Where the user's own settings lie. Never creates the folder."""

from __future__ import annotations

import os
from pathlib import Path


def config_folder() -> Path:
    """JUDGE_HOME, or ~/.config/judge; the folder need not exist."""
    home = os.environ.get("JUDGE_HOME")
    return Path(home) if home else Path.home() / ".config" / "judge"
