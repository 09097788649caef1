"""All hashes of the program. They identify content and protect no secret.

A fingerprint is written `b2:` + 32 hex digits: BLAKE2b, 128 bits, of bytes, or of plain data as canonical JSON (sorted
keys, no blanks, UTF-8). The tag names the algorithm, so that a later change can be told from a changed content. SHA-256
stands where others look it up: checksums of released files and of bundles, scripts of a page.
"""

from __future__ import annotations

import base64
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


def fingerprint_text(text: str) -> str:
    """Tagged hash of a text's UTF-8."""
    return TAG + text_key(text)


def text_key(text: str) -> str:
    """Hexadecimal hash of a text without a tag, as used in caches and columns."""
    return digest(text).hex()


def digest(content: str | bytes, size: int = 16) -> bytes:
    """BLAKE2b hash of `size` bytes. A lone surrogate, which a text from elsewhere may contain, is hashed as it is."""
    return hashlib.blake2b(_bytes(content), digest_size=size).digest()


def sha256(content: str | bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(_bytes(content)).hexdigest()


def sha256_text(text: str) -> str:
    """SHA-256 of a text, prefixed with the algorithm's name; it stands for a text that is left out."""
    return f"sha256:{sha256(text)}"


def sha256_script(script: str) -> str:
    """SHA-256 of a script in base64, as a Content-Security-Policy needs it to allow the script."""
    return base64.b64encode(bytes.fromhex(sha256(script))).decode("ascii")


def sha256_file(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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


def fingerprint_weights(folder: Path) -> str:
    """Tagged hash of the files that determine a model's output for a text: weights, tokenizer, configuration."""
    endings = (".safetensors", ".bin", ".json", ".txt", ".model")
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in endings)
    return fingerprint([(p.relative_to(folder).as_posix(), fingerprint_file(p)) for p in files])


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
