"""Files of what can be computed again: opened, read while they last, and said where they cannot be used."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from judge.base.errors import SpecError
from judge.base.sqlite_file import open_cache, reading

TABLE = "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value TEXT)"


def _count(base: sqlite3.Connection) -> int:
    return int(base.execute("SELECT count(*) FROM kept").fetchone()[0])


def test_a_cache_is_made_with_its_folder_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "derived" / "cache.sqlite"
    base = open_cache(path, TABLE)
    with base:
        base.execute("INSERT INTO kept VALUES ('a', 'b')")
    base.close()
    with reading(path, _count) as found:
        assert found == 1


def test_without_a_path_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_cache(None, TABLE).close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_text("not a database, but long enough to be looked at as one" * 50)
    with pytest.raises(SpecError, match="cannot be used") as refused:
        open_cache(path, TABLE)
    assert refused.value.hint == "delete it: it can be computed again"
    with reading(path, _count) as found:
        assert found is None


def test_what_is_not_there_yet_is_none(tmp_path: Path) -> None:
    with reading(tmp_path / "none.sqlite", _count) as found:
        assert found is None
