"""Path of the folder of downloaded and unpacked files. This module does not create the folder."""

from __future__ import annotations

import os
from pathlib import Path

from judge.base.folders.home import home


def cache_folder() -> Path:
    """The folder named by the environment variable JUDGE_CACHE, otherwise the user's cache folder for `judge`. It need
    not exist.
    """
    if cache := os.environ.get("JUDGE_CACHE"):
        return Path(cache)
    # pooch.os_cache("judge") is this very folder; importing pooch here would cost every `judge run` its start.
    import platformdirs

    try:
        return Path(platformdirs.user_cache_dir("judge"))
    except RuntimeError:  # a user without a home folder
        return home() / ".cache" / "judge"
