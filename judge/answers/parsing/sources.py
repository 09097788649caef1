"""Fingerprint of a parser's source code, whose changes can change how stored answers are read."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path

import orjson

from judge.answers.parsing import LOADED, PARSERS
from judge.base import records
from judge.base.fingerprint import fingerprint, fingerprint_file

_OURS = "judge.answers.parsing."
# Seconds by which a file's time may lag behind the clock.
_CLOCK = 0.05


def code_of(parser: str) -> str | None:
    """Fingerprint that changes whenever the named parser's code may have changed; None where none can be computed."""
    ours = _our_code()
    if ours is None:
        return None
    if parser in PARSERS:
        return fingerprint([parser, ours]) if PARSERS[parser].startswith(_OURS) else None
    entries = [entry for entry in entry_points(group="judge.parsers") if entry.name == parser]
    installed = _installed(entries[0]) if entries else None
    return None if installed is None else fingerprint([parser, ours, installed])


@lru_cache(maxsize=1)
def _our_code() -> str | None:
    # None where sources are newer than the code that this process imported.
    package = Path(__file__).parent
    try:
        files = [*sorted(package.rglob("*.py")), Path(str(records.__file__))]
        if Path(__file__) not in files:  # no sources were installed
            return None
        if max(file.stat().st_mtime for file in files) > LOADED - _CLOCK:
            return None
        sources = {file.relative_to(package.parents[1]).as_posix(): fingerprint_file(file) for file in files}
    except (OSError, ValueError):
        return None
    try:
        patterns = version("google-re2")
    except PackageNotFoundError:
        patterns = None
    return fingerprint([sys.version, patterns, sources])


def _installed(entry: EntryPoint) -> list[str] | None:
    # [entry point, package, version]; None without a version or for an editable install.
    package = entry.dist
    if package is None or not package.version:
        return None
    origin = package.read_text("direct_url.json")
    if origin and (orjson.loads(origin).get("dir_info") or {}).get("editable"):
        return None
    return [entry.value, package.name, package.version]
