"""What a bundle holds: consistent copies of result folders' files, and tables derived from them."""

from __future__ import annotations

import csv
import itertools
import math
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import yaml

from judge.answers.journal import JournalReader
from judge.answers.journal.snapshot import leave_out_texts, snapshot
from judge.asking.execution.part_merge import not_merged
from judge.asking.run_definition.spec import RunSpec
from judge.asking.run_folder import ResultFolder, is_held, read_manifest
from judge.asking.run_folder.layout import DEFINITION, IMPORTED_PARQUET, JOURNAL
from judge.base.choices import RESAMPLES
from judge.base.credentials.providers import JudgeName
from judge.base.errors import RunFolderError
from judge.base.files import home
from judge.base.fingerprint import sha256_text
from judge.base.late_pattern import late
from judge.base.sqlite_file import connect
from judge.exchange.imported_folder import STORIES

if TYPE_CHECKING:
    from judge.exchange.exported_numbers import Measured
    from judge.ratings.ratings_table import RatingsTable


# Tables of a bundle. They are derived only from the copies in the bundle, so that anyone can derive them again.

RATINGS, PREFERENCES, AUDIT = "ratings.csv", "preferences.csv", "audit.sqlite"
OF_RATINGS = tuple(
    name + end for name in (RATINGS, "coverage.csv", "consistency.csv", "correlate.csv") for end in ("", ".notes.txt")
)
OF_COMPARISONS = (PREFERENCES, f"{PREFERENCES}.notes.txt", "verdicts.csv", "verdicts.csv.notes.txt")

_VERSION = late(r"\|v\d[\w.+]*")
# Sums differ in their last bits between machines and library versions; equal data agree within this.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class TableChoices:
    """Options that can change a number in a bundle's tables; bundle.json and each table's signature record them."""

    parser: str = "ours"
    resamples: int = RESAMPLES
    seed: int = 1


def write_tables(
    folders: Sequence[Path], target: Path, choices: TableChoices, exports: Path | None = None
) -> tuple[int, list[str]]:
    """Write a bundle's tables; gives the number of rows in the ratings and preferences tables, and the datasets. These
    have no explanations, because the journal contains them. `exports` is the folder for other programs' formats; None
    writes none."""
    from judge.asking.run_folder.layout import comparing

    target.mkdir(parents=True, exist_ok=True)
    compare, rate = comparing(folders)
    rows, datasets = _ratings(rate, target, choices, exports) if rate else (0, [])
    if compare:
        more, others = _preferences(compare, target)
        rows, datasets = rows + more, sorted({*datasets, *others})
    for audit in dict.fromkeys(folder.parent / AUDIT for folder in folders):
        _audit(audit, target)
    return rows, datasets


def _ratings(
    folders: Sequence[Path], target: Path, choices: TableChoices, exports: Path | None
) -> tuple[int, list[str]]:
    """The number of rows in the ratings table, and the datasets."""
    from judge.analysis import correlation
    from judge.analysis.coverage.coverage import coverage
    from judge.analysis.coverage.coverage import tables as coverage_tables
    from judge.analysis.options.signature import signature
    from judge.analysis.raters import Raters
    from judge.analysis.reliability.consistency import tables as consistency_tables
    from judge.base.printing.output import csv_files, notes_file
    from judge.exchange.exported_numbers import Measured
    from judge.ratings.rating_matrix import build
    from judge.ratings.ratings_table import read, without_perturbed

    # What is kept of reading would lie beside the copies, and go into the archive.
    whole = read(folders, parser=choices.parser, explanations=False, keep=False, perturbed=True)
    table = without_perturbed(whole)
    whole.frame.to_csv(target / RATINGS, index=False, lineterminator="\n", chunksize=10_000)
    lines = [signature(table, build(table)), *dict.fromkeys(table.notes)]
    notes_file(target / RATINGS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    measured = Measured.of(table, choices.resamples, choices.seed)
    raters = Raters.of_all(whole)
    for name, printed in (
        ("coverage", coverage_tables(coverage(whole))),
        ("consistency", consistency_tables(measured.consistency, full=True)),
        ("correlate", correlation.tables(measured.correlations)),
    ):
        csv_files([raters.table(each) for each in printed], target / f"{name}.csv")
    if exports is not None:
        write_exports(exports, folders, table, measured)
    return len(whole.frame), sorted({fact.dataset for fact in table.facts})


def write_exports(target: Path, folders: Sequence[Path], table: RatingsTable, measured: Measured) -> None:
    """Write ratings and numbers in other programs' formats, with raters under pseudonyms. Stories' texts are included
    where the copies contain them. Parquet files need pyarrow and are left out without it."""
    from judge.base.errors import MissingExtraError
    from judge.exchange import exported_numbers
    from judge.exchange.dataset_folder import GiveAway, tables_of, write_hub, write_irw
    from judge.exchange.export_forms import write_records
    from judge.exchange.exported_numbers import metrics_json

    target.mkdir(parents=True, exist_ok=True)
    choices = GiveAway()
    given = tables_of(folders, choices)
    with suppress(MissingExtraError):  # without pyarrow there is no Parquet, and the rest is as good
        write_hub(target / "hub", given, choices)
    write_irw(target / "irw", given)
    write_records(target / "every-eval-ever", table, measured)
    (target / "metrics.json").write_bytes(metrics_json(measured.measurements))
    (target / "references.bib").write_text(exported_numbers.entries(table.facts), encoding="utf-8")


def _preferences(folders: Sequence[Path], target: Path) -> tuple[int, list[str]]:
    """The number of rows in the preferences table, and the datasets."""
    from judge.analysis.coverage import counts
    from judge.analysis.options.signature import joined
    from judge.analysis.preference.sides import signature_parts
    from judge.base.printing.output import csv_files, notes_file
    from judge.ratings.preferences_table import read

    table = read(folders)
    rows = table.frame.drop(columns=["explanation"])
    rows.to_csv(target / PREFERENCES, index=False, lineterminator="\n", chunksize=10_000)
    lines = [joined(signature_parts(table)), *dict.fromkeys(table.notes)]
    notes_file(target / PREFERENCES).write_text("\n".join(lines) + "\n", encoding="utf-8")
    csv_files(counts.tables(counts.verdict_coverage(table)), target / "verdicts.csv")
    return len(rows), sorted({fact.dataset for fact in table.facts})


def _audit(path: Path, target: Path) -> None:
    """Writes nothing without an audit, or where no annotator has finished an item."""
    from judge.base.errors import SpecError
    from judge.base.printing.output import csv_files
    from judge.explanations.audit.printed import audit_tables
    from judge.explanations.audit.report import report
    from judge.explanations.audit.store import read_audit

    if not path.is_file():
        return
    with suppress(SpecError):
        csv_files(audit_tables(report(read_audit(path))), target / f"audit-{path.parent.name}.csv")


def names(folders: Sequence[Path]) -> tuple[str, ...]:
    """File names of the tables that a bundle of these result folders must have."""
    from judge.asking.run_folder.layout import comparing

    compare, rate = comparing(folders)
    return (OF_RATINGS if rate else ()) + (OF_COMPARISONS if compare else ())


def difference(first: Path, other: Path) -> str | None:
    """Sentence on the first difference between two CSV tables; None where they are equal. Numbers are equal within a
    relative difference of 1e-9, because processors round differently. The program's version in a signature may differ.
    """
    with first.open(encoding="utf-8", newline="") as left, other.open(encoding="utf-8", newline="") as right:
        head: list[str] = []
        for number, (a, b) in enumerate(itertools.zip_longest(csv.reader(left), csv.reader(right)), 1):
            if a is None or b is None:
                return f"row {number}: {'missing' if a is None else 'too many'}"
            head = head or a
            if a == b:
                continue
            if len(a) != len(b):
                return f"row {number}: {len(a)} columns against {len(b)}"
            for column, (x, y) in enumerate(zip(a, b, strict=True)):
                if not _equal(x, y):
                    name = head[column] if column < len(head) else str(column + 1)
                    return f"row {number}, column {name!r}: {_cut(x)} against {_cut(y)}"
    return None


def _equal(a: str, b: str) -> bool:
    if a == b or _VERSION.sub("", a) == _VERSION.sub("", b):
        return True
    try:
        return math.isclose(float(a), float(b), rel_tol=_SAME, abs_tol=_SAME)
    except ValueError:
        return False


def _cut(text: str, limit: int = 60) -> str:
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return repr(shown)


EXPLANATIONS, DEFINED = "derived/explanations.json", "definition"
_BATCHES = "batches.json"


@dataclass(frozen=True, slots=True)
class Bundled:
    """Description of a result folder's copy; `path` is in the archive, `kind` is `journal` or `imported`."""

    path: str
    run: str
    judge: str
    kind: str
    being_written: bool
    notes: tuple[str, ...]


def name_of(folder: ResultFolder) -> str:
    """Name of a run's folder in a bundle: that of the folder with run.yaml, otherwise of the result folder."""
    holder = _holder(folder)
    return _plain(holder.resolve().name if holder else folder.path.resolve().name)


def places(folders: Sequence[ResultFolder]) -> Iterator[tuple[ResultFolder, str]]:
    """Each result folder with its path in the bundle; numbers tell runs of the same name apart."""
    names: dict[Path, str] = {}
    for folder in folders:
        own = (_holder(folder) or folder.path).resolve()
        if own not in names:
            name, number = name_of(folder), 1
            while (name if number == 1 else f"{name}-{number}") in names.values():
                number += 1
            names[own] = name if number == 1 else f"{name}-{number}"
        inner = f"/{_plain(folder.path.resolve().name)}" if _holder(folder) else ""
        yield folder, f"runs/{names[own]}{inner}"


def copy(folder: ResultFolder, staged: Path, run_name: str, *, texts: bool, batches: bool) -> Bundled:
    """Copy one result folder to `staged / run_name`."""
    _refuse_links(folder)
    target = ResultFolder(staged / run_name)
    target.path.mkdir(parents=True)
    notes: list[str] = []
    busy = is_held(folder.path)
    _copy_text(folder.manifest, target.manifest)
    if folder.journal.is_file():
        snapshot(folder.journal, target.journal)
        if busy:
            notes.append(
                f"{run_name} was being written: its journal is whole as of one moment, its manifest may be older"
            )
        if not texts:
            leave_out_texts(target.journal, _of_texts(folder))
        _define(target, read_manifest(target.manifest))
    else:
        _copy_imported(folder, target, texts=texts)
    if (folder.path / EXPLANATIONS).is_file():
        (target.path / EXPLANATIONS).parent.mkdir()
        shutil.copyfile(folder.path / EXPLANATIONS, target.path / EXPLANATIONS)
    if batches and (folder.path / _BATCHES).is_file():
        _copy_text(folder.path / _BATCHES, target.path / _BATCHES)
        if (folder.path / "batches").is_dir():
            shutil.copytree(folder.path / "batches", target.path / "batches")
    notes += _beside(folder, target, texts=texts)
    shards = [path.name for path in folder.derived.glob("ray/*/part-*.parquet")]
    if shards:
        notes.append(
            f"{run_name}: {len(shards)} shards under derived/ray stay outside; what is merged is in the journal"
        )
    if (parts := not_merged(folder)) is not None:
        notes.append(f"{run_name}: {parts} not merged stay outside; merge them first to have them in it")
    notes += [f"{run_name}/{name} names the home folder of who made it" for name in _names_home(target)]
    manifest = read_manifest(target.manifest)
    judge = str(manifest.get("judge", folder.path.name))
    kind = "journal" if folder.journal.is_file() else "imported"
    return Bundled(run_name, str(manifest.get("run", folder.path.name)), judge, kind, busy, tuple(notes))


def define(meta: dict[str, Any], manifest: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """(file name, content) of files that document Eval-Prompts, criteria and settings, from journal and manifest
    data."""
    definition = meta.get("definition") or {}
    for name, source in sorted(definition.get("eval_prompt_sources", {}).items()):
        yield f"eval_prompts/{_plain(name)}.jinja", str(source).encode()
    yield "criteria.json", orjson.dumps(definition.get("criteria_records", []), option=orjson.OPT_INDENT_2)
    force = {k: v for k, v in manifest.get("in_force", {}).items() if k in RunSpec.model_fields}
    yield "run.completed.yaml", yaml.safe_dump(force, sort_keys=False, allow_unicode=True).encode()


def _refuse_links(folder: ResultFolder) -> None:
    """Raise RunFolderError where a file to be copied is a symbolic link to a place outside the run."""
    holder = _holder(folder)
    home_of_run = (holder or folder.path).resolve()
    beside = [] if holder is None else [holder / DEFINITION, holder / AUDIT, holder.parent / f"{holder.name}.yaml"]
    inside = [folder.manifest, folder.journal, folder.imported, folder.path / STORIES, folder.path / EXPLANATIONS]
    batches = [folder.path / _BATCHES, *(folder.path / "batches").rglob("*")]
    for file in (*inside, *beside, *batches):
        if file.is_symlink() and not file.resolve().is_relative_to(home_of_run):
            raise RunFolderError(
                f"{file} is a link that leads out of the run: nothing was bundled",
                hint="put the file itself in its place, or delete the link",
            )


def _without_page_keys(audit: Path) -> None:
    """Delete the page's key and the secret in annotators' links from a copied audit file."""
    with closing(connect(audit)) as db:
        db.execute("PRAGMA secure_delete = ON")
        with db:
            db.execute("DELETE FROM meta WHERE key IN ('page_key', 'owner_key')")
        db.execute("VACUUM")


def _define(target: ResultFolder, manifest: dict[str, Any]) -> None:
    with JournalReader(target.journal) as journal:
        meta = journal.meta()
    if meta.get("definition") is None:
        raise RunFolderError(f"{target.path.name} was stopped before the first request", hint="judge run it again")
    for name, content in define(meta, manifest):
        path = target.path / DEFINED / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _of_texts(folder: ResultFolder) -> list[str]:
    """Notes on a control that can be computed only while the folder still has its stories' texts; else empty."""
    from judge.base.records import Criterion
    from judge.ratings.ratings_table.folder_notes import in_sample

    judge = str(read_manifest(folder.manifest).get("judge", ""))
    if not JudgeName.of(judge).is_control:
        return []
    with JournalReader(folder.journal) as journal:
        records = journal.meta()["definition"]["criteria_records"]
        return in_sample(judge, [Criterion.of(record) for record in records], journal)


def _holder(folder: ResultFolder) -> Path | None:
    """The run's folder; None where the result folder is not in one."""
    parent = folder.path.resolve().parent
    asked = read_manifest(folder.manifest).get("run")
    if (parent / DEFINITION).is_file() or (asked and parent.name == str(asked)):
        return parent
    return None


def _beside(folder: ResultFolder, target: ResultFolder, *, texts: bool) -> Iterator[str]:
    """Copies the run's run.yaml and audit, which has stories' texts, above `target`; yields notes on the audit."""
    holder = _holder(folder)
    if holder is None:
        return
    for written in (holder / DEFINITION, holder.parent / f"{holder.name}.yaml"):
        if written.is_file():
            _copy_text(written, target.path.parent / DEFINITION)
            break
    audit = target.path.parent / AUDIT
    if not (holder / AUDIT).is_file() or audit.exists():
        return
    if not texts:
        yield f"{target.path.parent.name}/{AUDIT} is left out: it holds stories' texts"
        return
    snapshot(holder / AUDIT, audit)
    _without_page_keys(audit)
    yield f"{target.path.parent.name}/{AUDIT} holds annotators' names as they gave them"


def _copy_imported(folder: ResultFolder, target: ResultFolder, *, texts: bool) -> None:
    stories = folder.path / STORIES
    if texts:
        for file in (folder.imported, folder.preferences, stories):
            if file.is_file():
                shutil.copyfile(file, target.path / file.name)
        return
    if folder.imported.name == IMPORTED_PARQUET:
        raise RunFolderError(
            f"{folder.imported}: texts are left out of journals and CSV files only",
            hint="judge ratings RUN -o ratings.csv, then judge import ratings.csv",
        )
    for file in (folder.imported, folder.preferences):
        if file.is_file():
            _copy_columns(file, target.path / file.name, {"story_prompt": sha256_text, "explanation": None})
    if stories.is_file():
        _copy_columns(
            stories,
            target.path / STORIES,
            {"text": lambda _: "", "reference": lambda _: "", "story_prompt": sha256_text},
        )


def _copy_columns(source: Path, target: Path, change: dict[str, Any]) -> None:
    """`change` maps a column to the function for its cells; None leaves them."""
    with source.open(encoding="utf-8", newline="") as left, target.open("w", encoding="utf-8", newline="") as right:
        reader = csv.DictReader(left)
        writer = csv.DictWriter(right, reader.fieldnames or [], lineterminator="\n")
        writer.writeheader()
        for row in reader:
            writer.writerow(row | {k: how(row[k]) for k, how in change.items() if how is not None and row.get(k)})


def _copy_text(source: Path, target: Path) -> None:
    """With `~` in place of the home folder's path; a missing file is skipped."""
    if source.is_file():
        target.write_text(_homeless(source.read_text(encoding="utf-8")), encoding="utf-8")


def _homeless(text: str) -> str:
    own = str(home()).rstrip("/")
    return re.sub(rf"(?<![\w/]){re.escape(own)}(?![\w.-])", "~", text) if len(own) > 1 else text


def _names_home(target: ResultFolder) -> list[str]:
    # In a journal, `~` cannot replace the home folder's path, because the content is verified.
    if not target.journal.is_file():
        return []
    with JournalReader(target.journal) as journal:
        # JSON doubles the backslashes of Windows' paths.
        text = orjson.dumps(journal.meta()).decode().replace("\\\\", "\\")
    return [JOURNAL] if _homeless(text) != text else []


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", name).strip("-.") or "run"
