"""Locations of files on this machine: shipped with the program, the user's home, cache, settings, and trusted folders.

Besides its own folder, a run definition may only name files in trusted ones, which only the user adds:
JUDGE_TRUSTED_FOLDERS lists folders or files, separated as in PATH; `trusted_folders.json` in the configuration folder
holds those passed to `judge init`. The folder of the studies' files is trusted too."""

from __future__ import annotations

import json
import os
from pathlib import Path

from judge.base.whole_file import write_whole

# Locations of the files that ship with the program: Eval-Prompts, criteria sets, run definitions.

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped(folder: str) -> Path:
    """The shipped folder `prompts` or `runs`: inside the package of a wheel, next to it in a checkout."""
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


def package_file(*parts: str) -> Path:
    """A data file inside the package, e.g. `package_file("inputs", "datasets", "demo_stories.jsonl")`."""
    return _PACKAGE.joinpath(*parts)


# Folders of the user; whoever writes there makes them.


def home() -> Path:
    """The user's home; the root folder for a user without one, such as a container's, with a number but no name."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def cache_folder() -> Path:
    """The folder in JUDGE_CACHE, otherwise the user's cache folder for `judge`. It need not exist."""
    if cache := os.environ.get("JUDGE_CACHE"):
        return Path(cache)
    # pooch.os_cache("judge") is this very folder; importing pooch here would cost every `judge run` its start.
    import platformdirs

    try:
        return Path(platformdirs.user_cache_dir("judge"))
    except RuntimeError:  # a user without a home folder
        return home() / ".cache" / "judge"


def config_folder() -> Path:
    """The folder in JUDGE_HOME, otherwise ~/.config/judge. It need not exist."""
    own = os.environ.get("JUDGE_HOME")
    return Path(own) if own else home() / ".config" / "judge"


VARIABLE = "JUDGE_TRUSTED_FOLDERS"


def trusted_folders() -> list[Path]:
    """Trusted folders and files, from which every run may read."""
    named = [entry for entry in os.environ.get(VARIABLE, "").split(os.pathsep) if entry]
    studies = [entry for entry in (os.environ.get("JUDGE_DATA"),) if entry]
    return [*(Path(entry).resolve() for entry in (*named, *studies, *_stored())), shipped("prompts").resolve()]


def is_trusted(file: Path, folder: Path) -> bool:
    """Whether a definition in `folder` may name this file: it is there or in a trusted folder, symbolic links
    resolved."""
    real = file.resolve()
    return any(real.is_relative_to(root) for root in (folder.resolve(), *trusted_folders()))


def lies_in_trusted(folder: Path) -> bool:
    """Whether a definition's own folder lies in a trusted folder, symbolic links resolved."""
    real = folder.resolve()
    return any(real.is_relative_to(root) for root in trusted_folders())


def trust(path: Path) -> None:
    """Store a path that the user named as trusted: every run may read it."""
    file = _file()
    stored = _stored()
    if not any(path.resolve().is_relative_to(root) for root in trusted_folders()):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps([*stored, str(path.resolve())], indent=2) + "\n")


def _file() -> Path:
    return config_folder() / "trusted_folders.json"


def _stored() -> list[str]:
    try:
        stored = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [entry for entry in stored if isinstance(entry, str)] if isinstance(stored, list) else []
