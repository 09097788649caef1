"""Summaries of runs that are kept in `derived/`, so that they are computed once for the same runs and options.

They are found by a fingerprint of all that they depend on: the files of the result folders, the selection, the options,
the parser, and the program with its packages. Where any of this changed, or cannot be examined, they are computed; a
file that cannot be read or written, or that is damaged, is ignored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from judge.answers.journal.standing import file_state
from judge.answers.parsing.stored_answers import code_of
from judge.asking.execution.registration import fingerprint_of
from judge.asking.run_folder.layout import JOURNAL, resolve
from judge.base import sqlite_file
from judge.base.errors import SpecError
from judge.base.fingerprint import fingerprint, fingerprint_bytes, fingerprint_file
from judge.questions.summary.in_progress import with_progress
from judge.questions.summary.result import Answer, Missing, OfDataset, Summary, Verdict
from judge.version import __version__, installed

if TYPE_CHECKING:
    import sqlite3

    from judge.analysis.options.selection import Selection
    from judge.questions.source import Source

_FILE = "summaries.sqlite"
_TABLE = "CREATE TABLE IF NOT EXISTS summaries (key TEXT PRIMARY KEY, checksum TEXT NOT NULL, value BLOB NOT NULL)"
_READ = "SELECT checksum, value FROM summaries WHERE key = ?"
_WRITE = "INSERT OR REPLACE INTO summaries VALUES (?, ?, ?)"
_FORGET = "DELETE FROM summaries WHERE rowid <= (SELECT max(rowid) FROM summaries) - ?"
# Summaries that are kept of one result folder, with other options each.
_MOST = 50
# What numbers, or the control's features, are computed with.
_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "nltk")
_PACKAGE = Path(__file__).resolve().parents[2]


def kept(source: Source, options: Any, compute: Callable[[], Summary]) -> Summary:
    """The summary of a source by `SummaryOptions`, from `derived/` of its first result folder if it is kept there, else
    computed and kept.
    """
    if source.dataset is not None:
        return compute()
    folders = [folder.path for folder in resolve(source.folders)]
    return with_progress(_kept(folders, source, options, compute), folders, source)


def _kept(folders: Sequence[Path], source: Source, options: Any, compute: Callable[[], Summary]) -> Summary:
    path, key = folders[0] / "derived" / _FILE, _key(folders, source, options)
    found = None if key is None else _read(path, key)
    if found is not None:
        return found
    summary = compute()
    # What was written in the meantime may be in the numbers, or not.
    if key is not None and key == _key(folders, source, options):
        _write(path, key, summary)
    return summary


def summaries_of(
    runs: Sequence[str | Path], named: Sequence[str] | None = None, keep: Selection | None = None, **words: Any
) -> list[Summary]:
    """Summaries of the runs that rate stories and of those that compare them, by options in words. `named` are the runs
    in suggested commands. Raises RunFolderError for a run without results.
    """
    from judge.questions.registry import question
    from judge.questions.source import Source

    source = Source(runs, "ours", (keep,) if keep else (), explanations=False, named=named)
    return [question("summary").ask(each, **words).value for each in source.kinds()]


def _key(folders: Sequence[Path], source: Source, options: Any) -> str | None:
    """Fingerprint of all that the summary depends on; None where some of it cannot be told."""
    try:
        code = code_of(source.parser)
        files = [[str(folder), _files(folder)] for folder in folders]
        given = [fingerprint_file(file) for file in options.contamination]
    except OSError:
        return None
    if code is None or any(own is None for _, own in files):
        return None
    chosen = asdict(options) | {"contamination": given}
    return fingerprint([_program(), code, files, source.named, [asdict(keep) for keep in source.kept], chosen])


def _files(folder: Path) -> list[list[str]] | None:
    """Name and content of each file, the journal by its state; None while it is written."""
    state = file_state(folder / JOURNAL) if (folder / JOURNAL).is_file() else ""
    if state is None:
        return None
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith(JOURNAL))
    files += sorted((folder / "derived").glob("*.seen.jsonl"))
    return [
        [JOURNAL, state],
        ["plan", fingerprint_of(folder)],
        *([file.name, fingerprint_file(file)] for file in files),
    ]


@cache
def _program() -> str:
    sources = (file for file in _PACKAGE.rglob("*") if file.suffix in (".py", ".json", ".yaml") and file.is_file())
    stats = sorted((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in sources)
    return fingerprint([__version__, sys.version, [installed(name) for name in _PACKAGES], stats])


def _read(path: Path, key: str) -> Summary | None:
    def stored(base: sqlite3.Connection) -> Summary | None:
        row = base.execute(_READ, (key,)).fetchone()
        if row is None or row[0] != _checksum(key, row[1]):
            return None
        return _summary(orjson.loads(row[1]))

    try:
        with sqlite_file.reading(path, stored) as summary:
            return summary
    except (ValueError, TypeError):
        return None


def _write(path: Path, key: str, summary: Summary) -> None:
    values = asdict(summary)
    if not _plain(values):
        return
    value = orjson.dumps(values)
    try:
        base = sqlite_file.open_cache(path, _TABLE)
    except SpecError:
        return
    try:
        sqlite_file.keep(base, path, _WRITE, [(key, _checksum(key, value), value)])
        sqlite_file.keep(base, path, _FORGET, [(_MOST,)])
    except SpecError:
        return
    finally:
        base.close()


def _checksum(key: str, value: bytes) -> str:
    return fingerprint_bytes([key.encode(), value])


def _plain(value: Any) -> bool:
    """Whether JSON holds all of this: a text that names options in parts is more than its characters."""
    if isinstance(value, dict):
        return all(map(_plain, value.values()))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return all(map(_plain, value))
    return value is None or type(value) in (str, int, float, bool)


def _summary(values: dict[str, Any]) -> Summary:
    parts = {name: tuple(values[name]) for name in ("caveats", "signature_parts", "notes")}
    return Summary(datasets=tuple(map(_dataset, values["datasets"])), **parts)


def _dataset(values: dict[str, Any]) -> OfDataset:
    answers = tuple(
        Answer(
            each["question"],
            tuple(each["sentences"]),
            None if each["verdict"] is None else Verdict(**each["verdict"]),
            each["label"],
            tuple(each["brief"]),
        )
        for each in values["answers"]
    )
    missing = tuple(Missing(**each) for each in values["missing"])
    own = {name: values[name] for name in ("dataset", "about", "row")}
    return OfDataset(**own, answers=answers, missing=missing, commands=tuple(values["commands"]))
