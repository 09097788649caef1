"""Verification of a bundle from someone else, whose content is untrusted: its checksums, journals and tables. File
names are checked before anything is written, and sizes while unpacking into a temporary folder. SQLite files may
contain only tables and indexes."""

from __future__ import annotations

import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from judge.answers.journal import JournalReader
from judge.answers.journal.snapshot import LEFT_OUT, check_plain
from judge.asking.execution.verification import verify_journal
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import DataError, JudgeError
from judge.base.fingerprint import sha256_file
from judge.base.foreign import reading
from judge.exchange.bundle import content as run_copy
from judge.exchange.bundle.archive import CONTENTS, FORMAT, PIECE, SUMS, TABLES
from judge.exchange.bundle.content import TableChoices, difference, names, write_tables
from judge.exchange.reader import Say

# A bundle has a handful of files for each run; millions of empty files would exhaust the disk's inodes.
MOST_FILES = 100_000

# Unpacked. A bundle of ten million answers with texts takes about a sixth of it.
MOST_BYTES = 64 << 30

_MAKE = "judge export RUN --as bundle makes one"

# Bytes of the list of checksums and of bundle.json.
MOST_TEXT = 64 << 20


@dataclass(slots=True)
class Checked:
    """Numbers of files, queries and tables checked; `problems` has one sentence for each difference."""

    files: int = 0
    queries: int = 0
    tables: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check(path: Path, say: Say = lambda _: None) -> Checked:
    """Verify a bundle's checksums, journals and tables. Raises DataError where the file is not a bundle or is not safe
    to unpack: names that lead outside the folder, links, more bytes than declared, or more than the disk has room for.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            root, members = _members(archive, path)
            with tempfile.TemporaryDirectory(prefix="judge-verify-") as workplace:
                return _check(archive, root, members, Path(workplace), path, say)
    except (zipfile.BadZipFile, EOFError) as error:
        raise DataError(f"is not a readable zip file ({error})", file=path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error


def _check(
    archive: zipfile.ZipFile, root: str, members: dict[str, zipfile.ZipInfo], folder: Path, path: Path, say: Say
) -> Checked:
    result = Checked()
    if SUMS not in members or CONTENTS not in members:
        raise DataError(f"is no bundle: it holds no {SUMS if SUMS not in members else CONTENTS}", file=path)
    say("unpacking and comparing checksums")
    _unpack(archive, members, folder, result)
    _sums(folder, members, result)
    contents = _contents(folder / CONTENTS, path)
    broken = {name for name in members if name.endswith(".sqlite") for _ in _strange(folder / name, name, result)}
    runs = [run for run in contents["runs"] if isinstance(run, dict) and _listed(run, folder, result)]
    say("rendering queries again")
    for run in runs:
        if f"{run['path']}/journal.sqlite" not in broken:
            _journal(ResultFolder(folder / run["path"]), run["path"], result)
    if broken or len(runs) < len(contents["runs"]) or not runs:
        result.problems.append("tables were not derived again: a journal is missing or broken")
        return result
    say("deriving tables again")
    _tables([folder / run["path"] for run in runs], folder, contents, result)
    if root and contents.get("program"):
        result.notes.append(f"made by version {contents['program']}")
    return result


def _members(archive: zipfile.ZipFile, path: Path) -> tuple[str, dict[str, zipfile.ZipInfo]]:
    """The archive's single folder, and its files by path there; DataError where it is no bundle or not safe to
    unpack."""
    infos = [info for info in archive.infolist() if not info.is_dir()]
    if len(infos) > MOST_FILES:
        raise DataError(f"holds {len(infos)} files", file=path, allowed=f"at most {MOST_FILES}")
    total = sum(info.file_size for info in infos)
    room = shutil.disk_usage(tempfile.gettempdir()).free
    if total > min(MOST_BYTES, room):
        raise DataError(
            f"unpacks to {total / 1e9:.1f} GB", file=path, allowed=f"at most {min(MOST_BYTES, room) / 1e9:.1f} GB here"
        )
    members: dict[str, zipfile.ZipInfo] = {}
    roots = {info.filename.split("/")[0] for info in infos}
    if not any(info.filename.endswith((f"/{SUMS}", f"/{CONTENTS}")) for info in infos):
        raise DataError(f"is no bundle: it holds no {SUMS} in a folder", file=path, hint=_MAKE)
    for info in infos:
        parts = PurePosixPath(info.filename).parts
        plain = "\\" not in info.orig_filename and "\0" not in info.orig_filename and ":" not in info.filename
        if not plain or info.filename.startswith("/") or ".." in parts or len(parts) < 2 or len(roots) != 1:
            raise DataError("holds a file whose name leads elsewhere", file=path, found=info.orig_filename)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or info.flag_bits & 1:
            raise DataError("holds a link or an encrypted file", file=path, found=info.filename)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError("is compressed in a way no bundle is", file=path, found=info.filename)
        name = "/".join(parts[1:])
        if name in members:
            raise DataError("holds two files of one name", file=path, found=name)
        members[name] = info
    return next(iter(roots), ""), members


def _unpack(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], folder: Path, result: Checked) -> None:
    """Unpacks at most as many bytes as each file declares."""
    for name, info in members.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        written = 0
        try:
            with archive.open(info) as source, target.open("wb") as sink:
                while piece := source.read(PIECE):
                    written += len(piece)
                    if written > info.file_size:
                        raise zipfile.BadZipFile("more bytes than it declares")
                    sink.write(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            result.problems.append(f"{name} is damaged ({error})")


def _sums(folder: Path, members: dict[str, zipfile.ZipInfo], result: Checked) -> None:
    listed = _listed_sums(folder / SUMS, result)
    for name in members:
        if name == SUMS:
            continue
        result.files += 1
        if name not in listed:
            result.problems.append(f"{name} is in no list of checksums")
        elif sha256_file(folder / name) != listed[name]:
            result.problems.append(f"{name} has another SHA-256 than {SUMS} says")
    result.problems += [f"{name} is missing" for name in listed if name not in members]


def _listed_sums(path: Path, result: Checked) -> dict[str, str]:
    listed: dict[str, str] = {}
    if path.stat().st_size > MOST_TEXT:
        raise DataError("is longer than a list of checksums can be", file=SUMS)
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        value, _, name = line.partition("  ")
        if not name or name in listed:
            result.problems.append(f"{SUMS} is not a list of checksums: {line[:60]!r}")
        listed[name] = value
    return listed


def _contents(path: Path, archive: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_TEXT:
            raise ValueError("too long")
        contents = orjson.loads(path.read_bytes())
        if contents["format"] != FORMAT or not isinstance(contents["runs"], list):
            raise ValueError(f"format {contents['format']}")
        TableChoices(**contents["tables"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{CONTENTS} cannot be read ({error})", file=archive) from error
    return dict(contents)


def _listed(run: dict[str, Any], folder: Path, result: Checked) -> bool:
    path = str(run.get("path", ""))
    parts = PurePosixPath(path).parts
    if not parts or parts[0] != "runs" or ".." in parts or not ResultFolder(folder / path).exists():
        result.problems.append(f"{path or 'a run'} is listed in {CONTENTS} and holds no results")
        return False
    return True


def _strange(path: Path, name: str, result: Checked) -> Iterator[str]:
    if not path.is_file():
        return
    for problem in check_plain(path):
        result.problems.append(f"{name} {problem}")
        yield problem


def _journal(folder: ResultFolder, name: str, result: Checked) -> None:
    # The files with the run's definition, next to the journal, must agree with it.
    if not folder.journal.is_file():
        return
    try:
        queries, problems = verify_journal(folder)
        with JournalReader(folder.journal) as journal:
            meta = journal.meta()
        result.queries += queries
        if LEFT_OUT in meta:
            result.notes.append(f"{name}: texts are left out, so its queries were not rendered again")
        for inner, content in run_copy.define(meta, read_manifest(folder.manifest)):
            file = folder.path / run_copy.DEFINED / inner
            if not file.is_file() or file.read_bytes() != content:
                problems.append(f"{run_copy.DEFINED}/{inner} is not what the journal and the manifest say")
    except (JudgeError, ValueError, KeyError, TypeError) as error:
        problems = [f"cannot be checked: {error}"]
    result.problems += [f"{name}: {problem}" for problem in problems]


def _tables(folders: list[Path], folder: Path, contents: dict[str, Any], result: Checked) -> None:
    fresh = folder / ".again"
    try:
        write_tables(folders, fresh, TableChoices(**contents["tables"]))
    except (JudgeError, ValueError, KeyError, TypeError) as error:
        result.problems.append(f"tables cannot be derived again: {error}")
        return
    kept = {path.name for path in (folder / TABLES).iterdir()} if (folder / TABLES).is_dir() else set()
    for name in sorted(kept.union(names(folders), (path.name for path in fresh.iterdir()))):
        there = folder / TABLES / name
        if not there.is_file():
            result.problems.append(f"{TABLES}/{name} is missing")
            continue
        if not (fresh / name).is_file():
            result.problems.append(f"{TABLES}/{name} is no table that the journals give")
            continue
        result.tables += 1
        try:
            with reading(there, "a table"):
                where = difference(there, fresh / name)
        except DataError as error:
            where = str(error)
        if where:
            result.problems.append(f"{TABLES}/{name} is not what the journals give: {where}")
