"""Finds datasets' files, and stores those that the user registered. Order: the folder JUDGE_DATA (as in
`sources.SOURCES`), registered paths (`judge data add`), the cache (`judge data fetch`)."""

from __future__ import annotations

import json
import logging
import os
import re
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, SpecError, unknown
from judge.base.files import cache_folder, home, write_whole
from judge.base.printing.tables import Table, plain
from judge.base.records import Rating, Story
from judge.inputs.datasets import DATASETS, known_datasets, open_dataset
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import read_json
from judge.inputs.datasets.sources import FILES, LICENCES, OTHER_FILES, SOURCES, UNPUBLISHED, Source
from judge.inputs.wordnet import complete
from judge.version import __version__


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered file or folder, and its column map (empty = none)."""

    path: Path
    columns: Mapping[str, Any] = field(default_factory=dict)


def home_folder() -> Path:
    """Folder for the user's own settings: JUDGE_HOME, or `judge` in the XDG data folder."""
    if own := os.environ.get("JUDGE_HOME"):
        return Path(own)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else home() / ".local" / "share") / "judge"


def data_folder() -> Path | None:
    """The folder in JUDGE_DATA; None if not set. Raises DataError if it does not exist."""
    named = os.environ.get("JUDGE_DATA")
    if not named:
        return None
    if not Path(named).is_dir():
        raise DataError(f"JUDGE_DATA names {named}, which is not a folder", hint="correct JUDGE_DATA or unset it")
    return Path(named)


def registered() -> dict[str, Registered]:
    """All files and folders added with `judge data add`, by name."""
    path = _list_file()
    if not path.is_file():
        return {}
    content = read_json(path)
    try:
        return {name: Registered(Path(e["path"]), e.get("columns") or {}) for name, e in content.items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError("not a list of registered files", file=path, hint="delete it and add them again") from error


def register(name: str, path: Path, columns: Mapping[str, Any] | None = None) -> Registered:
    """Register a path under a name, in place of an earlier entry. Raises DataError for no such path, SpecError for an
    invalid name."""
    if not path.exists():
        raise DataError("there is no such file or folder", file=path)
    if not name.strip() or any(c in name for c in "/\\"):
        raise SpecError(f"{name!r} is no name for a dataset", hint="use a plain word, e.g. my_stories")
    entries = {**registered(), name: Registered(path.resolve(), dict(columns or {}))}
    content = {n: {"path": str(e.path), "columns": dict(e.columns)} for n, e in sorted(entries.items())}
    target = _list_file()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", file=target) from error
    return entries[name]


def find(relative: str) -> Path | None:
    """Path of a released file on this machine. `relative` is as in JUDGE_DATA, e.g. `openmeva/mans_roc.json`."""
    located = find_with_place(relative)
    return located[0] if located else None


def find_with_place(relative: str) -> tuple[Path, str] | None:
    """As `find`, with the place: `JUDGE_DATA`, `registered` (with `judge data add`) or `cache` (downloads)."""
    folder = data_folder()
    if folder is not None and (folder / relative).is_file():
        return folder / relative, "JUDGE_DATA"
    added = _added(relative)
    if added is not None:
        return added, "registered"
    cached = cache_folder() / relative
    return (cached, "cache") if cached.is_file() else None


def released(word: str) -> list[Path]:
    """The file at a path or, where there is none, the files of the released set that the word names."""
    path = Path(word)
    names = () if path.exists() else OTHER_FILES.get(word, ())
    return [need(relative, word) for relative in names] or [path]


def need(relative: str, name: str) -> Path:
    """Path of a released file that dataset `name` requires. Raises DataError with the command to get it."""
    path = find(relative)
    if path is not None:
        return path
    if relative in SOURCES:
        hint = f"judge data fetch {name}, or with a copy at hand: judge data add {name} PATH"
    else:
        hint = f"judge data add {name} PATH (this file has no public address)"
    raise DataError(f"{name} needs {relative}, which is not on this machine", hint=hint)


def _added(relative: str) -> Path | None:
    # Under the file's own name or that of a dataset that needs it; a folder is searched.
    base = Path(relative).name
    wanted_by = {
        n: files for group in (FILES, OTHER_FILES, UNPUBLISHED) for n, files in group.items() if relative in files
    }
    for name, entry in registered().items():
        if name != base and name not in wanted_by:
            continue
        if entry.path.is_dir():
            # As in a copy of the study's own repository, or of a folder of it.
            parts = Path(relative).parts
            inside = [p for n in range(len(parts)) if (p := entry.path.joinpath(*parts[-n - 1 :])).is_file()]
            if inside:
                return inside[0]
        elif entry.path.is_file() and (name == base or entry.path.name == base or wanted_by[name][0] == relative):
            return entry.path
    return None


def _list_file() -> Path:
    return home_folder() / "datasets.json"


# The list of datasets with their state on this machine, and a story as readable text.

_WIDTH = 100


def listing() -> Table:
    """Table of all datasets and files that other commands read. Numbers of stories are the release's, not counted."""
    rows = [_dataset_row(name) for name in known_datasets()]
    rows += [
        {"name": name, "kind": "files", "state": _state(files), "licence": LICENCES.get(name)}
        for name, files in {**OTHER_FILES, **UNPUBLISHED}.items()
    ]
    columns = plain("name", "kind", "stories", "state", "licence")
    notes = [
        "unverified: the address and checksum are as published, but no download from there with this program is known."
    ]
    return Table("Datasets", columns, rows, f"datasets:{len(known_datasets())}|v{__version__}", notes)


def story_sheet(dataset: Dataset, story: Story) -> str:
    """One story as readable text: story-prompt, story, reference story and human ratings."""
    lines = [f"{dataset.name} · {story.id} · by {story.system}"]
    for title, text in (
        ("Story-prompt", story.story_prompt),
        ("Story", story.text),
        ("Reference story", story.reference),
    ):
        if text and not (title == "Reference story" and text == story.text):
            lines += ["", title, *_wrapped(text)]
    if story.reference == story.text:
        lines += ["", "This story is its own reference story."]
    lines += ["", "Ratings" if story.ratings else "Nobody rated this story."]
    for criterion in dict.fromkeys(r.criterion for r in story.ratings):
        given = [r for r in story.ratings if r.criterion == criterion]
        values = ", ".join(_value(dataset, r) + _by(r) for r in given)
        counts = Counter(_value(dataset, r) for r in given)
        many = len(given) > 1 and dataset.labels.of(criterion) is not None
        counted = f" [{', '.join(f'{word} {times}' for word, times in counts.items())}]" if many else ""
        lines.append(f"  {criterion}: {values}{counted}")
        lines += [f"    {line.strip()}" for r in given if r.comment for line in _wrapped(r.comment)]
    if dataset.labels_note:
        lines += ["", dataset.labels_note]
    return "\n".join(lines)


def _by(rating: Rating) -> str:
    names = ", ".join(name for name in (rating.rater, rating.panel) if name)
    return f" ({names})" if names else ""


def _value(dataset: Dataset, rating: Rating) -> str:
    # A label's word, or the number.
    scale = dataset.labels.of(rating.criterion)
    return (scale and scale.label_of(rating.value)) or f"{rating.value:g}"


def _wrapped(text: str) -> list[str]:
    return [
        line
        for paragraph in text.split("\n")
        for line in textwrap.wrap(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  ") or [""]
    ]


def _dataset_row(name: str) -> dict[str, Any]:
    state = _state(FILES[name]) if name in FILES else "present"
    row: dict[str, Any] = {"name": name, "kind": "stories", "state": state, "licence": LICENCES.get(name)}
    if name in registered() and name not in FILES:
        gone = not registered()[name].path.exists()
        return {**row, "kind": "your stories", "state": "gone" if gone else "present (registered)"}
    if state.startswith("present") and name in DATASETS:
        dataset = open_dataset(name)
        row |= {"stories": dataset.expected.get("stories"), "licence": dataset.licence_note}
    return row


def _state(files: tuple[str, ...]) -> str:
    places = [find_with_place(f) for f in files]
    origins = [p[1] for p in places if p]
    if len(origins) == len(files):
        return f"present ({', '.join(dict.fromkeys(origins))})"
    missing = [f for f, found_at in zip(files, places, strict=True) if found_at is None]
    if any(f not in SOURCES for f in missing):
        return "needs file (judge data add)"
    return "fetchable" if all(SOURCES[f].verified for f in missing) else "fetchable (unverified)"


# Downloads the studies' released files and checks their checksums. No other module of `datasets` uses the network.

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


# Finds the files of WordNet 3.0 on this machine.

_SYSTEM = (Path("/usr/share/wordnet"), Path("/usr/share/nltk_data/corpora/wordnet"))


def wordnet_folder() -> Path | None:
    """The first complete WordNet folder: registered as `wordnet`, NLTK's or the system's."""
    added = registered().get("wordnet")
    nltk = [Path(part) / "corpora" / "wordnet" for part in os.environ.get("NLTK_DATA", "").split(os.pathsep) if part]
    places = [*([added.path] if added is not None else []), *nltk, *_SYSTEM]
    return next((folder for folder in places if complete(folder)), None)
