"""The studies' printed tables, shipped with the program, and each cell of a reproduced one: printed number, number by
the study's recipe, corrected number."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from judge.base.errors import DataError, SpecError, unknown
from judge.base.estimate import Estimate
from judge.base.files import package_file
from judge.base.printing.tables import Column, Table, plain
from judge.version import __version__

TableState = Literal["reproduced", "partly reproduced", "own data", "not computable", "not compared"]
TABLE_STATES: Mapping[TableState, str] = {
    "reproduced": "the released files give every printed cell",
    "partly reproduced": "they give some of the cells, and a note says why not the rest",
    "own data": "the files that the program reads cannot give it; a command computes such numbers from other data",
    "not computable": "no command computes it from any data at hand, and a note says why",
    "not compared": "the program stores no printed number of it",
}


@dataclass(frozen=True, slots=True)
class Publication:
    """A study as it is listed. `options` are those of `judge reproduce` that it takes beside those of all, `sets` the
    sets of files that it reads."""

    title: str
    note: str
    options: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


# Study -> what is said of it. Its numbers are computed by the module of its name, which is imported when it is asked.
STUDIES: Mapping[str, Publication] = {
    "hanna": Publication(
        "HANNA (Chhun, Suchanek and Clavel 2024, TACL)",
        "the notebook also prints means and agreement of Mistral-7B, which are not listed",
        ("choice", "measures", "resamples", "seed"),
        sets=("hanna_scores", "hanna_user_study"),
    ),
    "openmeva": Publication(
        "OpenMEVA (Guan et al. 2021, ACL)",
        "cells: of the metrics' numbers the program stores those of UNION, and none of Tables 8 and 9",
        ("measures", "resamples", "seed"),
        sets=("mans_roc", "mans_wp"),
    ),
    "closer-look": Publication(
        "A Closer Look into LLM Evaluation (Chiang and Lee 2023, EMNLP Findings)",
        "judge reproduce closer-look says of each row whose numbers it holds",
        sets=("closer_look",),
    ),
    "llmbar": Publication(
        "LLMBar (Zeng et al. 2024, ICLR)",
        "the cells are those of the repository's result files, for the judges whose answers are at hand",
        sets=("llmbar",),
    ),
    "alttest": Publication(
        "The alternative annotator test (Calderon et al. 2025, ACL)",
        "three of the paper's sets are read",
        sets=("alttest",),
    ),
    "storyer": Publication(
        "StoryER (Chen et al. 2022, EMNLP)",
        "judge reproduce storyer says of each cell what can be done about it, and adds a baseline where one exists",
        sets=("storyer_pairs", "storyer_wp200", "storyer_reasons", "plotguided_wp", "plotguided_scores"),
    ),
    "ttcw": Publication(
        "Art or Artifice (Chakrabarty et al. 2024, CHI)",
        "the notebook also prints balanced accuracy test by test, which is not listed",
        ("resamples", "seed"),
        sets=("ttcw", "ttcw_answers"),
    ),
}


@dataclass(frozen=True, slots=True)
class Listed:
    """One table or figure of a publication; `names` are tables of `judge reproduce` with its cells. `cells` and `match`
    count printed cells, without those that an earlier table prints, None if none are stored. `state` "own data": a
    command computes such numbers. `why` is empty where files give all cells."""

    study: str
    printed_in: str
    table: str
    names: tuple[str, ...]
    cells: int | None
    match: int | None
    state: TableState
    why: str
    command: str


def listed(study: str) -> list[Listed]:
    """Tables and figures of one publication with their states. Raises SpecError for an unknown study."""
    if study not in STUDIES:
        raise SpecError(unknown("study", study, list(STUDIES)))
    with package_file("reproduce", "published_data", f"{study}_tables.csv").open(
        encoding="utf-8", newline=""
    ) as stream:
        return [_listed(study, row) for row in csv.DictReader(stream)]


def _listed(study: str, row: Mapping[str, str]) -> Listed:
    (state,) = (state for state in TABLE_STATES if state == row["state"])
    return Listed(
        study=study,
        printed_in=row["printed_in"],
        table=row["table"],
        names=tuple(row["names"].split()),
        cells=int(row["cells"]) if row["cells"] else None,
        match=int(row["match"]) if row["match"] else None,
        state=state,
        why=row["why"],
        command=row["command"],
    )


def listing_tables(studies: Sequence[str], *, machine: bool) -> list[Table]:
    """A table for each study; machine-readable, one list with a key for each attribute."""
    if machine:
        rows = [_record(entry) for study in studies for entry in listed(study)]
        columns = [Column(entry.name, entry.name) for entry in fields(Listed)]
        notes = [note for study in studies for note in _notes(study)]
        return [Table("Tables of the studies", columns, rows, _signature(), notes)]
    return [_table(study) for study in studies]


def _record(entry: Listed) -> dict[str, Any]:
    record: dict[str, Any] = {key: value or None for key, value in asdict(entry).items()}
    return record | {"names": " ".join(entry.names) or None, "cells": entry.cells, "match": entry.match}


def _table(study: str) -> Table:
    tables_listed = listed(study)
    rows = [
        {key: getattr(entry, key) for key in ("printed_in", "table", "cells", "match", "state")}
        for entry in tables_listed
    ]
    columns = plain(
        Column("printed_in", "printed in", wrap=12), Column("table", "table", wrap=31), "cells", "match", "state"
    )
    states = dict.fromkeys(entry.state for entry in tables_listed)
    notes = [*_notes(study), *(f"{state}: {TABLE_STATES[state]}" for state in states), *_reasons(tables_listed)]
    return Table(f"{STUDIES[study].title}: tables", columns, rows, _signature(), notes)


def _reasons(listed: Sequence[Listed]) -> list[str]:
    """Distinct reasons with the command that helps, each after the tables to which it applies."""
    reasons: dict[str, list[str]] = {}
    for entry in listed:
        if entry.why:
            reason = "; ".join(part for part in (entry.why, entry.command) if part)
            numbered = entry.printed_in.startswith(("Table", "Fig", "Appendix"))
            reasons.setdefault(reason, []).append(entry.printed_in if numbered else entry.table)
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]


def _notes(study: str) -> list[str]:
    entries = listed(study)
    cells = sum(entry.cells or 0 for entry in entries)
    compared = [entry.match for entry in entries if entry.match is not None]
    total = f"{sum(compared)} of {cells} printed cells match" if compared else f"{cells} printed cells, none compared"
    return [f"{study}: {total}; a number that two tables hold counts once", STUDIES[study].note]


def _signature() -> str:
    return f"v{__version__}"


# The HANNA study's recipe, and each difference of this program's recipe from it.


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of this program's recipe for a published table from the study's method. `name` is the switch on
    the command line; `published` is what the study does, `otherwise` what is done with the switch on. `correction` is
    False for a choice that can be defended either way."""

    name: str
    published: str
    otherwise: str
    why: str
    correction: bool = True


@dataclass(frozen=True, slots=True)
class Recipe:
    """One switch for each difference (in `DIFFERENCES`) from the study's method, which has all off."""

    signed: bool = False
    exact_ties: bool = False
    on_scale: bool = False
    unrounded: bool = False
    leave_one_out: bool = False
    one_family: bool = False
    two_sided: bool = False
    clustered: bool = False
    keep_human: bool = False
    absolute_r23: bool = False

    def with_(self, name: str) -> Recipe:
        """Copy with one more switch on, by its name on the command line."""
        return replace(self, **{name.replace("-", "_"): True})


# Name on the command line -> the difference.
DIFFERENCES = {
    difference.name: difference
    for difference in (
        Difference(
            "signed",
            "absolute correlations",
            "signed correlations",
            "without its sign a measure that goes against people seems to follow them; in comparisons "
            "BaryScore, a distance, is reversed",
        ),
        Difference(
            "exact-ties",
            "means ranked as floats",
            "means rounded to 1e-9, then ranked",
            "equal means differ by 1e-16 from rounding, which breaks exact ties",
        ),
        Difference(
            "on-scale",
            "judges' means below 1 kept",
            "left out, on both sides",
            "answers without a rating were averaged in as -1, which is no rating on a scale of 1 to 5",
        ),
        Difference(
            "unrounded",
            "means and half-widths of rounded numbers",
            "of unrounded numbers",
            "rounding twice moves a cell by one",
        ),
        Difference(
            "leave-one-out",
            "a rater against the mean of all three",
            "against the mean of the other two",
            "a mean that includes the rater follows that rater",
        ),
        Difference(
            "one-family",
            "BH by measure, p = 0 where not tested",
            "BH over all comparisons, all tested",
            "Benjamini-Hochberg ran down six criteria; a p of 0 for a comparison that was lost lowers its "
            "neighbours' adjusted p",
        ),
        Difference(
            "two-sided",
            "one-sided p for the higher correlation",
            "two-sided p",
            "the tail was chosen after the correlations were known",
        ),
        Difference(
            "clustered",
            "single ratings as independent",
            "story-prompts as independent units",
            "three ratings of one story are not three stories",
        ),
        Difference(
            "keep-human",
            "system Human left out",
            "kept",
            "its ratings are far above the others', so that it is easily distinguished from them",
            correction=False,
        ),
        Difference(
            "absolute-r23",
            "sign of r23 kept",
            "absolute r23",
            "r23 is the correlation of two measures with each other; other programs (nlpstats) drop its sign",
            correction=False,
        ),
    )
}

CORRECTIONS = tuple(name for name, difference in DIFFERENCES.items() if difference.correction)
PUBLISHED = Recipe()
OURS = Recipe(**{field.name: field.name.replace("_", "-") in CORRECTIONS for field in fields(Recipe)})


# Table, row, column.
Place = tuple[str, str, str]

# Cells of tables at full precision; None where the recipe leaves a cell blank.
Numbers = dict[Place, float | None]

State = Literal["match", "repeat", "differ", "off", "not computable", "not in print"]
STATES: Mapping[State, str] = {
    "match": "the study's recipe gives the printed cell",
    "repeat": "the recipe gives it too, but another table holds the same number and counts it",
    "differ": "the released file gives another number than the study printed",
    "off": "the file at hand gives another number, although the released file gives the printed one",
    "not computable": "the files that this command reads cannot give the cell, and a note says why",
    "not in print": "the program computes the cell and stores no printed number to compare it with",
}


Verdict = Literal[
    "reproduced",
    "differs",
    "holds",
    "moves",
    "not at hand",
    "near",
    "sum",
    "sample only",
    "floor",
    "with weights",
    "never",
]
# What can be done about a printed cell, or what becomes of it.
VERDICTS: Mapping[Verdict, str] = {
    "reproduced": "numbers that are at hand give the printed cell",
    "differs": "they give another number, and a note says which",
    "holds": "the study's recipe gives the cell, and the corrected recipe the same, or an interval that holds it",
    "moves": "the study's recipe gives the cell, and the corrected recipe another number",
    "not at hand": "the answers or scores behind the cell are not among the files that are read",
    "near": "other data of the same source give a number for comparison",
    "sum": "the cell cannot be counted again; sums over the table are those that the study states",
    "sample only": "the released sample gives its own number, which is no check of the printed one",
    "floor": "the cell cannot be computed; the score of a guess on the released data stands beside it",
    "with weights": "a model that anybody may run would give it; which one was used is not stated",
    "never": "neither data nor scores were released, and a note says which",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a published table.

    `digits` are decimals in print. `in_print`: the program stores what is printed; `published` None is then a blank.
    `counted_at` is this cell or another that prints the same number. `as_published` is rounded as printed. `moved` has
    the number by each correction that changes the cell alone. `missing` says why the files cannot give it,
    `known_cause` why the study's recipe differs from print. `verdict` (a key of `VERDICTS`) is None if the printed
    cells' file does not say it."""

    table: str
    row: str
    column: str
    digits: int
    in_print: bool
    published: float | str | None
    source: str | None
    counted_at: Place
    as_published: float | None
    corrected: Estimate
    moved: Mapping[str, float | None]
    missing: str | None = None
    known_cause: str | None = None
    remarks: tuple[str, ...] = ()
    verdict: Verdict | None = None

    @property
    def place(self) -> Place:
        return self.table, self.row, self.column

    @property
    def state(self) -> State:
        """How the cell compares with the printed number, or why it is not compared. "match" = equal; "repeat" = equal,
        but counted in another cell; "differ" = unequal for a known reason; "off" = unequal otherwise; "not computable"
        and "not in print" = not compared."""
        if self.missing:
            return "not computable"
        if not self.in_print:
            return "not in print"
        if self.published == self.as_published:
            return "match" if self.counted_at == self.place else "repeat"
        return "differ" if self.known_cause else "off"

    @property
    def corrected_differs(self) -> bool:
        """Whether the corrected number, rounded as printed, differs from that of the study's recipe."""
        return as_printed(self.corrected.value, self.digits) != self.as_published

    def note(self) -> str:
        """Corrections that move the number, reasons for a difference from print, remarks, and the interval, in one
        line."""
        parts = [part for part in (self.movement(), *self.reasons()) if part]
        if self.corrected.low is not None and self.corrected.high is not None:
            ends = f"{self.corrected.low:.{self.digits + 1}f} to {self.corrected.high:.{self.digits + 1}f}"
            parts.append(f"{ends} ({self.corrected.method}), n {self.corrected.n}")
        return "; ".join(parts)

    def movement(self) -> str:
        """Corrections that move the number alone, with the new numbers; "" for none."""
        if self.moved:
            moves = ", ".join(f"{name} ({self.text(value)})" for name, value in self.moved.items())
            return f"moved by {moves}"
        if self.as_published is not None and self.corrected.defined and self.corrected_differs:
            return "moved by the corrections together"
        return ""

    def reasons(self) -> tuple[str, ...]:
        """Reasons for a difference from print or a missing corrected number, and remarks."""
        off = "the recipe that gives the other cells does not give this one: is the file as released?"
        parts = (
            self.missing,
            {"differ": self.known_cause, "off": off}.get(self.state),
            *self.remarks,
            self.corrected.reason,
        )
        return tuple(part for part in parts if part)

    def text(self, value: float | None) -> str:
        """A number in the format of the cell's table; "blank" for None."""
        return "blank" if value is None else f"{value:.{self.digits}f}"

    def record(self) -> dict[str, Any]:
        """Plain values for machine-readable output."""
        return {
            "table": self.table,
            "row": self.row,
            "column": self.column,
            "published": self.published,
            "as_published": self.as_published,
            "corrected": self.corrected.value,
            "note": self.note(),
            "state": self.state,
            "source": self.source,
            **({"verdict": self.verdict} if self.verdict else {}),
        }


def as_printed(value: float | None, digits: int) -> float | None:
    """Rounded as in print. Minus zero becomes zero."""
    return None if value is None else round(value, digits) + 0.0


# Reads the studies' printed numbers, which are shipped with the program.


@dataclass(frozen=True, slots=True)
class Printed:
    """Content of a printed cell: a number, words, or None for a blank; `verdict`: whether it can be checked."""

    value: float | str | None
    source: str
    verdict: Verdict | None = None


@cache
def published(study: str) -> Mapping[Place, Printed]:
    """Printed cells of a study (`hanna`, `openmeva`, `storyer` or `ttcw`), by (table, row, column)."""
    return read_published(package_file("reproduce", "published_data", f"{study}_published.csv"))


def read_published(path: Path) -> Mapping[Place, Printed]:
    """Printed cells in a file. Raises DataError for a cell listed twice: it would be counted twice."""
    entries: dict[Place, Printed] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), start=2):
            place = (row["table"], row["row"], row["column"])
            if place in entries:
                raise DataError("a printed cell occurs twice", file=path, row=number, found=", ".join(place))
            verdict = next((verdict for verdict in VERDICTS if verdict == row.get("verdict")), None)
            entries[place] = Printed(_value(row["published"]), row["source"], verdict)
    return entries


def _value(text: str) -> float | str | None:
    try:
        return float(text) if text else None
    except ValueError:
        return text
