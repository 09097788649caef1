"""Hashes stand in files that people keep: none may ever change its value."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from judge.base.fingerprint import (
    digest,
    fingerprint,
    fingerprint_bytes,
    fingerprint_file,
    fingerprint_text,
    sha256,
    sha256_file,
    sha256_script,
    sha256_text,
    text_key,
)


@pytest.mark.parametrize("text", ["", "A story.", "Ünïcödé", "half a pair: \ud83d"])
def test_every_hash_of_a_text_is_that_of_its_utf8(text: str, tmp_path: Path) -> None:
    body = text.encode("utf-8", "surrogatepass")
    short = hashlib.blake2b(body, digest_size=16).hexdigest()
    assert text_key(text) == digest(text).hex() == short
    assert fingerprint_text(text) == fingerprint_bytes([body]) == f"b2:{short}"
    assert digest(text, 8) == digest(body, 8) == hashlib.blake2b(body, digest_size=8).digest()
    long = hashlib.sha256(body)
    assert sha256(text) == sha256(body) == long.hexdigest()
    assert sha256_text(text) == f"sha256:{long.hexdigest()}"
    assert sha256_script(text) == base64.b64encode(long.digest()).decode()
    file = tmp_path / "text"
    file.write_bytes(body)
    assert sha256_file(file) == long.hexdigest()
    assert fingerprint_file(file) == f"b2:{short}"


def test_plain_data_is_hashed_as_canonical_json() -> None:
    assert fingerprint({"b": [1, 2.5], "a": None}) == fingerprint_bytes([b'{"a":null,"b":[1,2.5]}'])
    assert fingerprint({"b": [1, 2.5], "a": None}) == "b2:" + text_key('{"a":null,"b":[1,2.5]}')
