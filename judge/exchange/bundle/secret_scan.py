"""Search for API keys in files that are about to be published: known keys in every encoding, and text that looks like a
key.

The search reports where a key is. It never prints, stores or returns the key.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import orjson
import yaml

from judge.asking.run_folder.layout import DEFINITION, MANIFEST
from judge.base import yaml_file
from judge.base.credentials.literal import found_keys
from judge.base.redaction import LOOKS, forms_in_bytes, known_keys
from judge.base.sqlite_file import read_only

_PIECE = 1 << 20
"""Bytes searched at a time: journals may be larger than memory."""

# Each piece is searched with the end of the one before it, since a key may cross the boundary.
_OVERLAP = 512
_LOOKS = {
    "an Authorization header": re.compile(rb"[Aa]uthorization[\"']?\s*[:=]\s*[\"']?(?:Bearer|Basic)\s+[\w.~+/=-]{8,}"),
    **{what: re.compile(look.encode()) for what, look in LOOKS.items()},
}
_DEFINITIONS = frozenset({DEFINITION, "run.completed.yaml"})


def find_key(path: Path) -> str | None:
    """Description of the first API key in a file, without the key; None where there is none.

    SQLite files are also read row by row, because their pages split long texts.
    """
    looks = _known_key_patterns()
    for piece in _pieces(path):
        if key_kind := _first(piece, looks):
            return key_kind
    if path.name in _DEFINITIONS or path.name == MANIFEST:
        return _literal(path)
    if path.suffix == ".sqlite":
        with closing(read_only(path, immutable=True)) as db:
            for table, text in _texts(db):
                if key_kind := _first(text, looks):
                    return f"{key_kind}, in table {table}"
    return None


def _literal(path: Path) -> str | None:
    """Description of the first key that a run definition or a manifest contains as plain text; None where there is
    none.

    Older versions of this program accepted such keys.
    """
    try:
        text = path.read_bytes()
        data = orjson.loads(text) if path.name == MANIFEST else yaml_file.load(text.decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, orjson.JSONDecodeError):
        return None
    for part in (data, data.get("asked"), data.get("in_force")) if isinstance(data, dict) else ():
        if not isinstance(part, dict):
            continue
        entry = part.get("engine")
        engine = dict(entry) if isinstance(entry, dict) else {}
        headers = [each for each in (engine.pop("headers", None), part.get("headers")) if each]
        checked = {"base_url": part.get("base_url"), "engine": engine}
        for each in [checked, *({"headers": header} for header in headers)]:
            for key_path, _ in found_keys(each):
                return f"a key as it stands in {'.'.join(map(str, key_path))}"
    return None


def _known_key_patterns() -> list[tuple[str, re.Pattern[bytes]]]:
    values = [
        (source, re.compile(b"|".join(map(re.escape, forms_in_bytes(key))), re.IGNORECASE))
        for key, source in known_keys().items()
    ]
    return [*values, *_LOOKS.items()]


def _first(text: bytes, looks: list[tuple[str, re.Pattern[bytes]]]) -> str | None:
    return next((name for name, look in looks if look.search(text)), None)


def _pieces(path: Path) -> Iterator[bytes]:
    """Yield the content of the file in overlapping pieces, so that a key across the boundary of two pieces is
    detected.
    """
    before = b""
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            yield before + piece
            before = piece[-_OVERLAP:]


def _texts(db: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    """Yield (table, text) for every table of a database; each text joins the text cells of many rows."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for table in tables:
        quoted = table.replace('"', '""')
        cursor = db.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608  a name out of the file itself, quoted
        while rows := cursor.fetchmany(2000):
            yield table, "\n".join(v for row in rows for v in row if isinstance(v, str)).encode()
