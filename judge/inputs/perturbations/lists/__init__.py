"""The program's own word lists for perturbations. Each list file names its sources."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from judge.base.fingerprint import fingerprint_bytes

_FOLDER = Path(__file__).parent


@cache
def word_list(name: str) -> dict[str, Any]:
    """The word list with this name, such as `negation`."""
    content: dict[str, Any] = yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return content


@cache
def lists_version() -> str:
    """A hash of all word lists."""
    return fingerprint_bytes(path.read_bytes() for path in sorted(_FOLDER.glob("*.yaml")))
