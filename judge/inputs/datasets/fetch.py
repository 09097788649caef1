"""Downloads the studies' released files and checks their checksums. No other module of `datasets` uses the network."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import DataError, SpecError, unknown
from judge.base.folders.trusted import cache_folder
from judge.inputs.datasets.locate import data_folder
from judge.inputs.datasets.sources import FILES, OTHER_FILES, SOURCES, UNPUBLISHED, Source

# Seconds without an answer: hosts of research data are slow, yet a dead one must not hang the command.
_TIMEOUT = 60


@dataclass(frozen=True, slots=True)
class Fetched:
    """A released file in the cache or in the folder JUDGE_DATA. `downloaded` is False if it was there already."""

    source: Source
    path: Path
    downloaded: bool


def fetchable() -> dict[str, tuple[str, ...]]:
    """Files that can be downloaded, by dataset or other set, if all of its files have a public address."""
    every = {**FILES, **OTHER_FILES}
    return {name: files for name, files in every.items() if all(path in SOURCES for path in files)}


def sources_of(name: str) -> list[Source]:
    """The published files of a dataset. Raises SpecError if the dataset has none or its name is unknown."""
    if name in UNPUBLISHED or (name in FILES and name not in fetchable()):
        raise SpecError(f"{name} has no public address", hint=f"judge data add {name} PATH")
    if name == "demo":
        raise SpecError("the demo set comes with the program; there is nothing to fetch")
    if name not in fetchable():
        raise SpecError(unknown("name", name, fetchable()))
    return [SOURCES[path] for path in fetchable()[name]]


def fetch(name: str, base_url: str | None = None) -> list[Fetched]:
    """A dataset's files; those neither in the folder JUDGE_DATA nor in the cache are downloaded. `base_url` replaces
    the files' server, without a search of the folder. Raises DataError for no connection, a missing file, or a wrong
    checksum, whose file is deleted."""
    return [(None if base_url else _at_hand(source)) or _fetch(source, base_url) for source in sources_of(name)]


def _at_hand(source: Source) -> Fetched | None:
    import pooch

    folder = data_folder()
    if folder is None or not (folder / source.path).is_file():
        return None
    right = source.sha256 in (None, pooch.file_hash(str(folder / source.path)))
    return Fetched(source, folder / source.path, downloaded=False) if right else None


def _fetch(source: Source, base_url: str | None) -> Fetched:
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    target = cache_folder() / source.path
    before = _stamp(target)
    url = source.url(base_url)
    try:
        pooch.retrieve(
            url=url,
            known_hash=f"sha256:{source.sha256}" if source.sha256 else None,
            fname=target.name,
            path=target.parent,
            # The files are small; read at once, a refused answer leaves no connection open.
            downloader=pooch.HTTPDownloader(timeout=_TIMEOUT, stream=False),
        )
    except OSError as error:
        # requests' errors are OSErrors; so are those of a cache that cannot be written.
        raise DataError(f"{url} could not be downloaded to {target}: {_cause(error)}", hint=_hint(source)) from error
    except ValueError as error:
        if "hash" not in str(error):
            raise DataError(f"{url} could not be downloaded: {error}", hint=_hint(source)) from error
        got = re.search(r"got\s+([0-9a-f]{64})", str(error))
        raise DataError(
            f"{url} is not the released file: its checksum differs; nothing was kept",
            found=got.group(1) if got else None,
            allowed=source.sha256,
            hint=_hint(source),
        ) from error
    return Fetched(source, target, downloaded=_stamp(target) != before)


def _stamp(path: Path) -> tuple[int, int] | None:
    if not path.exists():
        return None
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _cause(error: OSError) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"the server answers {status}"
    return error.strerror or type(error).__name__


def _hint(source: Source) -> str:
    doubt = "" if source.verified else " (this address is unverified)"
    return f"with a copy at hand: judge data add {Path(source.path).name} PATH{doubt}"
