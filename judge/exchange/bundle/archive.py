"""Writer of a bundle, a zip archive of runs for artifact review: copies of the runs, and tables derived from them. The
runs are not changed. The archive contains no API keys, and batch files only on request. The order and dates of its
files are fixed, so that the same runs give the same bytes."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
import textwrap
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
import yaml

from judge.analysis.options.alternatives import option
from judge.asking.plan.prices import Price
from judge.asking.run_folder import ResultFolder, folder_cost, resolve
from judge.asking.run_folder.layout import DEFINITION, MANIFEST
from judge.asking.run_folder.manifest import environment
from judge.base import yaml_file
from judge.base.credentials.written_keys import found_keys
from judge.base.errors import OptionError, RunFolderError
from judge.base.fingerprint import sha256_file
from judge.base.redaction import LOOKS, forms_in_bytes, known_keys
from judge.base.sqlite_file import read_only
from judge.base.wording import Advice, joined
from judge.exchange.bundle import content as run_copy
from judge.exchange.bundle.content import Bundled, TableChoices, write_tables
from judge.exchange.dataset_folder import Output, ResampledWords, TextsWords
from judge.exchange.reader import Say
from judge.inputs.datasets.sources import LICENCES
from judge.version import __version__

# Search for API keys in files that are about to be published: known keys in every encoding, and text that looks like
# a key.

# Bytes searched at a time: journals may be larger than memory.
_PIECE = 1 << 20

# Each piece is searched with the end of the one before it, since a key may cross the boundary.
_OVERLAP = 512
_LOOKS = {
    "an Authorization header": re.compile(rb"[Aa]uthorization[\"']?\s*[:=]\s*[\"']?(?:Bearer|Basic)\s+[\w.~+/=-]{8,}"),
    **{what: re.compile(look.encode()) for what, look in LOOKS.items()},
}
_DEFINITIONS = frozenset({DEFINITION, "run.completed.yaml"})


def find_key(path: Path) -> str | None:
    """Description of the first API key in a file, without the key; None where there is none."""
    # SQLite files are also read row by row, because their pages split long texts.
    values = [
        (source, re.compile(b"|".join(map(re.escape, forms_in_bytes(key))), re.IGNORECASE))
        for key, source in known_keys().items()
    ]
    looks = [*values, *_LOOKS.items()]
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
    # Older versions of this program accepted keys as plain text in definitions and manifests.
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


def _first(text: bytes, looks: list[tuple[str, re.Pattern[bytes]]]) -> str | None:
    return next((name for name, look in looks if look.search(text)), None)


def _pieces(path: Path) -> Iterator[bytes]:
    # The pieces overlap, so that a key across the boundary of two pieces is detected.
    before = b""
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            yield before + piece
            before = piece[-_OVERLAP:]


def _texts(db: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    """(table, text) for every table; each text joins the text cells of many rows."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for table in tables:
        quoted = table.replace('"', '""')
        cursor = db.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608  a name out of the file itself, quoted
        while rows := cursor.fetchmany(2000):
            yield table, "\n".join(v for row in rows for v in row if isinstance(v, str)).encode()


# README.txt of a bundle: which files it contains and how to check them. It has no date, so that equal runs give equal
# bundles.

_FILES = """
bundle.json                 what is in here, and with which options the tables were made
SHA256SUMS                  SHA-256 of every other file; check with: sha256sum -c SHA256SUMS
environment.json            versions of the program, Python and packages that made this bundle
prices.yaml                 prices that were in force for these judges, dollars for a million tokens
tables/FILE.csv.notes.txt   signature and notes of a table, and of its parts FILE-2.csv, FILE-3.csv, ...
tables/ratings.csv          one row for each repeat of each query and for each person's rating; explanations are not in
                            it, they stand in the journals
tables/coverage.csv         what was asked, answered and rated, and what loss is associated with
tables/consistency.csv      agreement of judges with themselves (ICC), of people with each other
tables/correlate.csv        correlations with people, one more person and control
tables/preferences.csv      of runs that compare: one row for each verdict and each person's preference, and what mean
                            ratings imply
tables/verdicts.csv         of runs that compare: what was asked, answered and decided
tables/audit-RUN.csv        error rates and agreement of a run's audit, where there is one with answers
exports/hub/                ratings and stories as a Hugging Face dataset folder, people under pseudonyms (where pyarrow
                            was installed); judge import reads it back
exports/irw/                ratings as long CSV by the Item Response Warehouse's standard
exports/every-eval-ever/    agreement with people as records of Every Eval Ever
exports/metrics.json        the main numbers with interval, count and unit; exports/references.bib: works to cite
runs/RUN/run.yaml           the definition as its author wrote it (a home folder is written ~)
runs/RUN/JUDGE/
  journal.sqlite            everything asked and answered: stories, people's ratings, queries, attempts, answers
  manifest.json             what was asked and what was in force: server, model, versions, times, tokens, cost
  definition/               templates, criteria and the completed definition, as the journal and manifest hold them
  derived/explanations.json the map of explanations, where one was made
  batches.json, batches/    what was sent to a batch API, where it was asked to be in here
  imported.csv              ratings that came from elsewhere, in place of a journal
runs/RUN/audit.sqlite       people's audit of explanations, where there is one; it names annotators by their own names
""".strip("\n")

_CHECK = """
With the program (pip install storyjudge=={version}), anywhere, without a key or a network:

    judge status {name}.zip --verify

checks every checksum, renders every query again and compares its hash, and derives every table from the journals
again and compares it; of exports the checksums alone. Exit code 0: all is as it says here; 4: something differs, and
is named.

Unpacked, every command of the program works on the runs, for instance

    judge correlate {name}/{place}
""".strip("\n")

_WITH = (
    "Stories, story-prompts and people's ratings belong to their datasets and keep their licences; the journals hold "
    "them. Check that you may pass them on before you publish this file; judge export can leave them out."
)
_WITHOUT = (
    "Stories' texts and story-prompts are left out: in journals and tables their SHA-256 hashes stand in their place "
    "(table texts_left_out of each journal), with each text's number of words. Therefore queries cannot be rendered "
    "again, the control's row is undefined, and nothing more can be asked. Answers are whole, and may quote stories."
)


def readme(bundled: Sequence[Bundled], datasets: Sequence[str], texts: bool, version: str) -> str:
    """Text of README.txt; `texts`: the stories' texts are included."""
    first = bundled[0].path
    name = f"{first.split('/')[1]}-bundle"
    runs = [
        f"{copied.path}: {copied.judge} ({'imported ratings' if copied.kind == 'imported' else 'journal'})"
        for copied in bundled
    ]
    notes = [note for copied in bundled for note in copied.notes]
    parts = [
        f"Runs of judge (distribution storyjudge, version {version}): answers of judges to stories, and what follows",
        "\n".join(runs),
        "FILES\n\n" + _FILES,
        "TO CHECK\n\n" + _CHECK.format(version=version, name=name, place=first),
        "TEXTS\n\n" + textwrap.fill(_WITH if texts else _WITHOUT, 118) + "\n" + _licences(datasets),
    ]
    if notes:
        parts.append("NOTES\n\n" + "\n".join(textwrap.fill(note, 118) for note in dict.fromkeys(notes)))
    return "\n\n".join(parts) + "\n"


def _licences(datasets: Sequence[str]) -> str:
    own = {"demo": "Apache-2.0, as the program"}
    licences = {
        name: own.get(name) or LICENCES.get(name, "its licence is not known to this program") for name in datasets
    }
    return "\n".join(f"{name}: {licence}" for name, licence in licences.items())


FORMAT = 1
SUMS, CONTENTS, README, TABLES, EXPORTS = "SHA256SUMS", "bundle.json", "README.txt", "tables", "exports"
# Bytes copied or hashed at a time: a journal with all answers need not fit into memory.
PIECE = 1 << 20

# Of every file in the archive: the earliest that the format can say.
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A written bundle; `rows` counts those of its ratings and preferences tables."""

    path: Path
    files: int
    bytes: int
    rows: int
    notes: tuple[str, ...]


def bundle(
    runs: Sequence[Path],
    output: Path | None = None,
    *,
    texts: bool = True,
    batches: bool = False,
    tables: TableChoices | None = None,
    say: Say = lambda _: None,
) -> BundleFile:
    """Write a bundle of runs, by default NAME-bundle.zip in the current folder, where NAME is the first run's. `texts`
    and `batches`: whether it includes stories' texts and batch files; `tables` says how its tables are computed. Raises
    RunFolderError if a run has no results, a key was detected in a file (the message names the file, not the key), or
    the archive cannot be written."""
    tables = tables or TableChoices()
    folders = resolve(runs)
    root = f"{run_copy.name_of(folders[0])}-bundle"
    output = output or Path(f"{root}.zip")
    try:
        with tempfile.TemporaryDirectory(prefix=".bundle-", dir=output.parent) as workplace:
            staged = Path(workplace) / root
            bundled: list[Bundled] = []
            for folder, name in run_copy.places(folders):
                say(f"copying {folder.path}")
                bundled.append(run_copy.copy(folder, staged, name, texts=texts, batches=batches))
            say("deriving tables")
            rows = _derive(bundled, staged, tables, texts=texts)
            _refuse_keys(staged)
            files = list(_files(staged))
            lines = [f"{sha256_file(path)}  {path.relative_to(staged).as_posix()}\n" for path in files]
            (staged / SUMS).write_text("".join(lines), encoding="utf-8")
            files = [*sorted(files, key=lambda path: path.name != README), staged / SUMS]
            say("packing")
            fresh = Path(workplace) / "bundle.zip"
            _pack(staged, files, fresh)
            fresh.replace(output)
    except OSError as error:
        raise RunFolderError(f"{output} cannot be written: {error.strerror or error}") from error
    notes = tuple(dict.fromkeys(note for copied in bundled for note in copied.notes))
    return BundleFile(output, len(files), output.stat().st_size, rows, notes)


def _derive(bundled: Sequence[Bundled], staged: Path, tables: TableChoices, *, texts: bool) -> int:
    """Writes all that follows from the copied folders; the number of rows in the ratings and preferences tables."""
    rows, datasets = write_tables(
        [staged / copied.path for copied in bundled], staged / TABLES, tables, staged / EXPORTS
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
                "texts": texts,
                "tables": asdict(tables),
                "runs": [asdict(copied) for copied in bundled],
            }
        )
    )
    (staged / README).write_text(readme(bundled, datasets, texts, __version__), encoding="utf-8")
    return rows


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
    yield from sorted((p for p in staged.rglob("*") if p.is_file()), key=lambda p: p.relative_to(staged).as_posix())


def _pack(staged: Path, files: Sequence[Path], target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in files:
            info = zipfile.ZipInfo(f"{staged.name}/{path.relative_to(staged).as_posix()}", _DATE)
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            info.external_attr = 0o100644 << 16
            info.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(info, "w") as sink:
                shutil.copyfileobj(source, sink, PIECE)


# The bundle as a form of export.


@dataclass(frozen=True, kw_only=True)
class BundleWords(ResampledWords, TextsWords):
    with_batches: bool = option("additional files batches.json and batches/", default=False)

    def __post_init__(self) -> None:
        """Raise OptionError for a number of resamples that is none."""
        if self.resamples < 1:
            raise OptionError("resamples", self.resamples, "must be 1 or more")


def _write(runs: Sequence[str], output: Path | None, words: BundleWords, say: Say) -> None:
    tables = TableChoices(resamples=words.resamples, seed=words.seed)
    paths = [Path(run) for run in runs]
    result = bundle(paths, output, texts=not words.without_texts, batches=words.with_batches, tables=tables, say=say)
    for note in result.notes:
        say(joined("note: ", note))
    say(f"{result.path}: {result.files} files, {result.rows} ratings, {result.bytes / 1e6:.1f} MB")
    if not words.without_texts:
        say(Advice("it holds the stories' texts, under their dataset's licence; {without_texts} leaves them out"))
    say(f"check it anywhere: judge status {result.path} --verify")


OUTPUTS = (
    Output("bundle", "one archive for artifact review: definition, journal, tables, checksums", BundleWords, _write),
)
