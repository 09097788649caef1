"""Path of the folder of the user's settings. This module does not create the folder."""

from __future__ import annotations

import os
from pathlib import Path

from judge.base.folders.home import home


def config_folder() -> Path:
    """The folder named by the environment variable JUDGE_HOME, otherwise ~/.config/judge. It need not exist."""
    own = os.environ.get("JUDGE_HOME")
    return Path(own) if own else home() / ".config" / "judge"
