"""Tables of a bundle. They are derived only from the copies in the bundle, so that anyone can derive them again."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.exchange.outputs.measured import Measured
    from judge.ratings.ratings_table import RatingsTable

RATINGS, PREFERENCES, AUDIT = "ratings.csv", "preferences.csv", "audit.sqlite"
OF_RATINGS = tuple(
    name + end for name in (RATINGS, "coverage.csv", "consistency.csv", "correlate.csv") for end in ("", ".notes.txt")
)
OF_COMPARISONS = (PREFERENCES, f"{PREFERENCES}.notes.txt", "verdicts.csv", "verdicts.csv.notes.txt")

_VERSION = re.compile(r"\|v\d[\w.+]*")
# Sums differ in their last bits between machines and library versions; equal data agree within this.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class TableChoices:
    """Options that can change a number in a bundle's tables; bundle.json and each table's signature record them."""

    parser: str = "ours"
    resamples: int = 1000
    seed: int = 1

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def write_tables(
    folders: Sequence[Path], target: Path, choices: TableChoices, exports: Path | None = None
) -> tuple[int, list[str]]:
    """Write a bundle's tables; gives the number of rows in the ratings and preferences tables, and the datasets. These
    have no explanations, because the journal contains them. `exports` is the folder for other programs' formats; None
    writes none."""
    from judge.ratings.preferences_table import comparing

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
    from judge.analysis.coverage import tables as coverage_tables
    from judge.analysis.coverage.coverage import coverage
    from judge.analysis.options.signature import signature
    from judge.analysis.raters import Raters
    from judge.analysis.reliability import consistency_tables
    from judge.base.printing.output import csv_files, notes_file
    from judge.exchange.outputs.measured import Measured
    from judge.ratings.rating_matrix import build
    from judge.ratings.ratings_table import read, without_perturbed

    # What is kept of reading would lie beside the copies, and go into the archive.
    whole = read(folders, parser=choices.parser, explanations=False, keep=False, perturbed=True)
    table = without_perturbed(whole)
    whole.frame.to_csv(target / RATINGS, index=False, lineterminator="\n", chunksize=10_000)
    lines = [signature(table, build(table)), *dict.fromkeys(note for fact in table.facts for note in fact.notes)]
    notes_file(target / RATINGS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    measured = Measured.of(table, choices.resamples, choices.seed)
    raters = Raters.of_all(whole)
    for name, printed in (
        ("coverage", coverage_tables.tables(coverage(whole))),
        ("consistency", consistency_tables.tables(measured.consistency, full=True)),
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
    from judge.exchange.outputs import bibtex
    from judge.exchange.outputs.hub import GiveAway, tables_of, write_hub, write_irw
    from judge.exchange.outputs.measured import metrics_json
    from judge.exchange.outputs.outputs import write_records

    target.mkdir(parents=True, exist_ok=True)
    choices = GiveAway()
    given = tables_of(folders, choices)
    with suppress(MissingExtraError):  # without pyarrow there is no Parquet, and the rest is as good
        write_hub(target / "hub", given, choices)
    write_irw(target / "irw", given)
    write_records(target / "every-eval-ever", table, measured)
    (target / "metrics.json").write_bytes(metrics_json(measured.measurements))
    (target / "references.bib").write_text(bibtex.entries(table.facts), encoding="utf-8")


def _preferences(folders: Sequence[Path], target: Path) -> tuple[int, list[str]]:
    """The number of rows in the preferences table, and the datasets."""
    from judge.analysis.coverage import counts
    from judge.analysis.options.signature import joined
    from judge.analysis.preferences import signature_parts
    from judge.base.printing.output import csv_files, notes_file
    from judge.ratings.preferences_table import read

    table = read(folders)
    rows = table.frame.drop(columns=["explanation"])
    rows.to_csv(target / PREFERENCES, index=False, lineterminator="\n", chunksize=10_000)
    lines = [joined(signature_parts(table)), *dict.fromkeys(note for fact in table.facts for note in fact.notes)]
    notes_file(target / PREFERENCES).write_text("\n".join(lines) + "\n", encoding="utf-8")
    csv_files(counts.tables(counts.verdict_coverage(table)), target / "verdicts.csv")
    return len(rows), sorted({fact.dataset for fact in table.facts})


def _audit(path: Path, target: Path) -> None:
    """Writes nothing without an audit, or where no annotator has finished an item."""
    from judge.base.errors import SpecError
    from judge.base.printing.output import csv_files
    from judge.explanations.audit.file.snapshot import read_audit
    from judge.explanations.audit.results.printed import audit_tables
    from judge.explanations.audit.results.report import report

    if not path.is_file():
        return
    with suppress(SpecError):
        csv_files(audit_tables(report(read_audit(path))), target / f"audit-{path.parent.name}.csv")


def names(folders: Sequence[Path]) -> tuple[str, ...]:
    """File names of the tables that a bundle of these result folders must have."""
    from judge.ratings.preferences_table import comparing

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
