"""Content hashes: canonical JSON in, a tagged digest out. Never hashes anything that is not plain data.

A hash is written `b2:` + 32 hex digits: BLAKE2b, 128 bits, over canonical JSON (sorted keys, no blanks, UTF-8). The tag
names the algorithm, so that a later change can be told from a changed content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

TAG = "b2:"


def canonical(value: Any) -> bytes:
    """Canonical JSON of plain data (dicts with string keys, lists, tuples, strings, numbers, booleans, None).

    Raises TypeError for anything else. NaN is written as null, as JSON has no other word for it.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def fingerprint(value: Any) -> str:
    """Tagged hash of plain data."""
    return TAG + hashlib.blake2b(canonical(value), digest_size=16).hexdigest()


def fingerprint_bytes(parts: Iterable[bytes]) -> str:
    """Tagged hash of raw bytes, fed part by part."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return TAG + digest.hexdigest()


def fingerprint_file(path: Path) -> str:
    """Tagged hash of a file's bytes, read in blocks of 1 MiB."""
    with path.open("rb") as stream:
        return fingerprint_bytes(iter(lambda: stream.read(1 << 20), b""))
