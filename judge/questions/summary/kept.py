"""Summaries of runs that are kept in `derived/`, so that they are computed once for the same runs and options.

They are found by a fingerprint of all that they depend on: the files of the result folders, the selection, the options,
the parser, and the program with its packages. Where any of this changed, or cannot be examined, they are computed; a
file that cannot be read or written, or that is damaged, is ignored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from judge.answers.journal.standing import file_state
from judge.answers.parsing.stored_answers import code_of
from judge.asking.run_folder.layout import JOURNAL, resolve
from judge.base import sqlite_file
from judge.base.errors import SpecError
from judge.base.fingerprint import fingerprint, fingerprint_bytes, fingerprint_file
from judge.questions.summary.result import Answer, EvidenceOptions, Missing, OfDataset, Summary, Verdict
from judge.version import __version__, installed

if TYPE_CHECKING:
    import sqlite3

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


@dataclass(frozen=True, slots=True)
class Chosen:
    """What of the runs is summarised, in words as the command line has them."""

    criteria: Sequence[str] | None = None
    judges: Sequence[str] | None = None
    eval_prompts: Sequence[str] | None = None
    panel: str | None = None
    pass_rate: bool = False


def summaries_of(
    runs: Sequence[str | Path],
    chosen: Chosen | None = None,
    options: EvidenceOptions | None = None,
    scores: Sequence[Path] = (),
    parser: str = "ours",
    named: Sequence[str] | None = None,
) -> list[Summary]:
    """Summaries as of `of_runs`, from `derived/` of the first result folder where they are kept. Raises its errors, and
    DataError for a file of `scores` that cannot be read.
    """
    chosen, options = chosen or Chosen(), options or EvidenceOptions()
    named = list(named or map(str, runs))
    folders = [folder.path for folder in resolve(runs)]
    path, key = folders[0] / "derived" / _FILE, _key(folders, named, chosen, options, scores, parser)
    kept = None if key is None else _read(path, key)
    if kept is not None:
        return kept
    summaries = _computed(runs, chosen, options, scores, parser, named)
    # What was written in the meantime may be in the numbers, or not.
    if key is not None and key == _key(folders, named, chosen, options, scores, parser):
        _write(path, key, summaries)
    return summaries


def _computed(
    runs: Sequence[str | Path],
    chosen: Chosen,
    options: EvidenceOptions,
    scores: Sequence[Path],
    parser: str,
    named: Sequence[str],
) -> list[Summary]:
    from judge.analysis.inputs.selection import Selection
    from judge.contamination import scores_file
    from judge.questions.summary.of_runs import of_runs

    names = (chosen.criteria, chosen.judges, chosen.eval_prompts)
    keep = Selection.of(*names, pass_rate=chosen.pass_rate, panel=chosen.panel)
    return of_runs(runs, keep, options, [scores_file.read(file) for file in scores], parser, named=named)


def _key(
    folders: Sequence[Path],
    named: Sequence[str],
    chosen: Chosen,
    options: EvidenceOptions,
    scores: Sequence[Path],
    parser: str,
) -> str | None:
    """Fingerprint of all that the summaries depend on; None where some of it cannot be told."""
    try:
        code = code_of(parser)
        files = [[str(folder), _files(folder)] for folder in folders]
        given = [fingerprint_file(file) for file in scores]
    except OSError:
        return None
    if code is None or any(own is None for _, own in files):
        return None
    asked = [named, asdict(chosen), asdict(options), parser]
    return fingerprint([_program(), code, files, given, asked])


def _files(folder: Path) -> list[list[str]] | None:
    """Name and content of each file, the journal by its state; None while it is written."""
    state = file_state(folder / JOURNAL) if (folder / JOURNAL).is_file() else ""
    if state is None:
        return None
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith(JOURNAL))
    files += sorted((folder / "derived").glob("*.seen.jsonl"))
    return [[JOURNAL, state], *([file.name, fingerprint_file(file)] for file in files)]


@cache
def _program() -> str:
    sources = (file for file in _PACKAGE.rglob("*") if file.suffix in (".py", ".json", ".yaml") and file.is_file())
    stats = sorted((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in sources)
    return fingerprint([__version__, sys.version, [installed(name) for name in _PACKAGES], stats])


def _read(path: Path, key: str) -> list[Summary] | None:
    def stored(base: sqlite3.Connection) -> list[Summary] | None:
        row = base.execute(_READ, (key,)).fetchone()
        if row is None or row[0] != _checksum(key, row[1]):
            return None
        return [_summary(values) for values in orjson.loads(row[1])]

    try:
        with sqlite_file.reading(path, stored) as summaries:
            return summaries
    except (ValueError, TypeError):
        return None


def _write(path: Path, key: str, summaries: Sequence[Summary]) -> None:
    values = [asdict(summary) for summary in summaries]
    if not all(_plain(value) for value in values):
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
