"""Writer of a bundle, a zip archive of runs for artifact review: copies of the runs, and tables derived from the
copies.

The runs are not changed. The archive contains no API keys, and batch files only on request. The order and dates of its
files are fixed, so that the same runs give the same bytes.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import yaml

from judge.asking.plan.prices import Price
from judge.asking.run_folder import ResultFolder, folder_cost, resolve
from judge.asking.run_folder.manifest import environment
from judge.base.errors import RunFolderError
from judge.base.fingerprint import sha256_file
from judge.exchange.bundle import run_copy
from judge.exchange.bundle.readme import readme
from judge.exchange.bundle.run_copy import Bundled
from judge.exchange.bundle.secret_scan import find_key
from judge.exchange.bundle.tables import TableChoices, write_tables
from judge.version import __version__

FORMAT = 1
SUMS, CONTENTS, README, TABLES, EXPORTS = "SHA256SUMS", "bundle.json", "README.txt", "tables", "exports"
PIECE = 1 << 20
"""Bytes copied or hashed at a time: a journal with all answers need not fit into memory."""

_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file in the archive: the earliest that the format can say."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BundleChoices:
    """Options of a bundle (a zip archive of runs): whether it includes the texts of stories and the batch files, and
    how its tables are computed.
    """

    texts: bool = True
    batches: bool = False
    tables: TableChoices = field(default_factory=TableChoices)


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A bundle (a zip archive of runs) that was written: its path, number of files, size in bytes, number of rows in
    its ratings and preferences tables, and messages for the user.
    """

    path: Path
    files: int
    bytes: int
    rows: int
    notes: tuple[str, ...]


def bundle(
    runs: Sequence[Path], output: Path | None = None, choices: BundleChoices | None = None, say: Say = lambda _: None
) -> BundleFile:
    """Write a bundle, a zip archive of runs for artifact review, and return its path and sizes.

    `output` is the archive's path; None takes NAME-bundle.zip in the current folder, where NAME is the first run's.
    `say` is called with a message at each step.

    Raises
    ------
    RunFolderError
        A run has no results, a key was detected in a file for the archive (the message names the file, not the key), or
        the archive cannot be written.
    """
    choices = choices or BundleChoices()
    folders = resolve(runs)
    root = f"{run_copy.name_of(folders[0])}-bundle"
    output = output or Path(f"{root}.zip")
    try:
        with tempfile.TemporaryDirectory(prefix=".bundle-", dir=output.parent) as workplace:
            staged = Path(workplace) / root
            bundled, rows = _stage(folders, staged, choices, say)
            _refuse_keys(staged)
            files = _sums(staged)
            say("packing")
            fresh = Path(workplace) / "bundle.zip"
            _pack(staged, files, fresh)
            fresh.replace(output)
    except OSError as error:
        raise RunFolderError(f"{output} cannot be written: {error.strerror or error}") from error
    notes = tuple(dict.fromkeys(note for copied in bundled for note in copied.notes))
    return BundleFile(output, len(files), output.stat().st_size, rows, notes)


def _stage(
    folders: Sequence[ResultFolder], staged: Path, choices: BundleChoices, say: Say
) -> tuple[list[Bundled], int]:
    """Copy the result folders for a bundle into the folder `staged`, and write the files derived from the copies.

    Returns descriptions of the copied folders, and the number of rows in the ratings and preferences tables.
    """
    bundled: list[Bundled] = []
    for folder, name in run_copy.places(folders):
        say(f"copying {folder.path}")
        bundled.append(run_copy.copy(folder, staged, name, texts=choices.texts, batches=choices.batches))
    say("deriving tables")
    rows, datasets = write_tables(
        [staged / copied.path for copied in bundled], staged / TABLES, choices.tables, staged / EXPORTS
    )
    (staged / "environment.json").write_bytes(_json({k: v for k, v in environment().items() if k != "command"}))
    costs = {copied.judge: folder_cost(ResultFolder(staged / copied.path)) for copied in bundled}
    prices = {judge: cost.price for judge, cost in costs.items() if cost.price is not None}
    (staged / "prices.yaml").write_text(_price_text(prices), encoding="utf-8")
    (staged / CONTENTS).write_bytes(
        _json(
            {
                "format": FORMAT,
                "program": __version__,
                "texts": choices.texts,
                "tables": choices.tables.plain(),
                "runs": [copied.plain() for copied in bundled],
            }
        )
    )
    (staged / README).write_text(readme(bundled, datasets, choices.texts, __version__), encoding="utf-8")
    return bundled, rows


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _price_text(prices: dict[str, Price]) -> str:
    head = "# Dollars for a million tokens, as this machine's price table had them when the bundle was made.\n"
    if not prices:
        return head + "# No price is known for the judges of this bundle.\n{}\n"
    plain = {judge: price.facts() for judge, price in prices.items()}
    return head + yaml.safe_dump(plain, sort_keys=True)


def _refuse_keys(staged: Path) -> None:
    for path in _files(staged):
        if key_kind := find_key(path):
            raise RunFolderError(
                f"{path.relative_to(staged).as_posix()} would hold {key_kind}: no bundle was written",
                hint="take it out of the run (base_url, note, engine, story or answer), then bundle again",
            )


def _files(staged: Path) -> Iterator[Path]:
    """Every file of a bundle in the folder `staged`, sorted by its name in the archive."""
    yield from sorted((p for p in staged.rglob("*") if p.is_file()), key=lambda p: p.relative_to(staged).as_posix())


def _sums(staged: Path) -> list[Path]:
    """Write the file with the checksums of a bundle's files. Returns all files in the archive's order: README first,
    checksums last.
    """
    files = list(_files(staged))
    lines = [f"{sha256_file(path)}  {path.relative_to(staged).as_posix()}\n" for path in files]
    (staged / SUMS).write_text("".join(lines), encoding="utf-8")
    return [*sorted(files, key=lambda path: path.name != README), staged / SUMS]


def _pack(staged: Path, files: Sequence[Path], target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in files:
            info = zipfile.ZipInfo(f"{staged.name}/{path.relative_to(staged).as_posix()}", _DATE)
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            info.external_attr = 0o100644 << 16
            info.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(info, "w") as sink:
                shutil.copyfileobj(source, sink, PIECE)
