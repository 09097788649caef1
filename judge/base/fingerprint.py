"""All hash functions. They identify content; they do not protect secrets. A fingerprint is `b2:` + 32 hexadecimal
digits: BLAKE2b with 128 bits, of bytes or of canonical JSON (sorted keys, no spaces, UTF-8). The tag tells a change of
algorithm from changed content. SHA-256 is for hashes that others verify: released files, bundles, a page's scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

TAG = "b2:"


def canonical(value: Any) -> bytes:
    """Canonical JSON of plain data. Raises TypeError for anything else. NaN is null, since JSON cannot express it."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def fingerprint(value: Any) -> str:
    """Fingerprint of plain data."""
    return TAG + hashlib.blake2b(canonical(value), digest_size=16).hexdigest()


def fingerprint_text(text: str) -> str:
    """Fingerprint of a text's UTF-8 encoding."""
    return TAG + text_key(text)


def text_key(text: str) -> str:
    """Fingerprint of a text without the tag "b2:", as used in caches and columns."""
    return digest(text).hex()


def digest(content: str | bytes, size: int = 16) -> bytes:
    """BLAKE2b hash with `size` bytes. Lone surrogates, which are invalid in UTF-8, are accepted."""
    return hashlib.blake2b(_bytes(content), digest_size=size).digest()


def sha256(content: str | bytes) -> str:
    """SHA-256 of a text or of bytes, in hexadecimal."""
    return hashlib.sha256(_bytes(content)).hexdigest()


def sha256_text(text: str) -> str:
    """SHA-256 with the prefix "sha256:"; it replaces a text that is left out of an export."""
    return f"sha256:{sha256(text)}"


def sha256_script(script: str) -> str:
    """SHA-256 of a script in base64, as a Content-Security-Policy needs it to allow the script."""
    return base64.b64encode(bytes.fromhex(sha256(script))).decode("ascii")


def sha256_file(path: Path) -> str:
    """SHA-256 of a file in hexadecimal, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fingerprint_bytes(parts: Iterable[bytes]) -> str:
    """Fingerprint of the concatenated parts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return TAG + digest.hexdigest()


def fingerprint_file(path: Path) -> str:
    """Fingerprint of a file's bytes, read in pieces."""
    with path.open("rb") as stream:
        return fingerprint_bytes(iter(lambda: stream.read(1 << 20), b""))


def fingerprint_weights(folder: Path) -> str:
    """Fingerprint of the files that determine a model's output: weights, tokenizer and configuration."""
    endings = (".safetensors", ".bin", ".json", ".txt", ".model")
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in endings)
    return fingerprint([(p.relative_to(folder).as_posix(), fingerprint_file(p)) for p in files])


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
