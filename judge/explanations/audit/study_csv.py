"""CSV files in the format of the HANNA study: for each explanation a block of rows, one for each annotator.

The columns are `Input.story_id`, `Input.explanation` and one for each category: 1, 0, or empty for not answered. In the
study's first question (`Answer.a-1-guidelines.1`) 1 means that the guideline was followed, hence no error; in all
others 1 means an error. Files written here state this in a column `Audit.polarity`, and name item and annotator. The
study's own file has only positions within a block, which do not identify annotators.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from judge.base.errors import DataError
from judge.base.files import draft
from judge.base.fingerprint import sha256
from judge.base.printing.text_layout import as_written, no_formula
from judge.base.wording import Advice
from judge.explanations.audit.answers_file import Given, Merged, merge
from judge.explanations.audit.items import Category, Facts, Form, Subject, load_form
from judge.explanations.audit.store import AuditSnapshot, AuditStore
from judge.inputs.datasets.files.source_file import csv_rows, read_bytes
from judge.inputs.datasets.sources import SOURCES

# Adds story, criterion and rating to the 100 explanations of the HANNA study's published audit file, which lacks
# them.


def study_subjects(path: Path) -> tuple[dict[tuple[str, str], Subject], list[str]] | None:
    """The explanations in the HANNA study's published file by (story id, explanation), and notes; None for another
    file. Texts of stories and criteria are None if the study's other files are not on this machine."""
    if sha256(read_bytes(path)) != SOURCES["hanna/user_study.csv"].sha256:
        return None
    from judge.explanations.corpus.from_studies import hanna_user_study

    texts = hanna_user_study(path)
    criteria = {criterion.name: criterion for criterion in texts.criteria}
    stories = texts.stories.to_dict("index")
    subjects = {}
    for row in texts.frame.to_dict("records"):
        story = stories.get((row["dataset"], row["story"]), {})
        # A human story is the reference of the others; it is none beside itself.
        same = story.get("reference") == story.get("text")
        rating = None if math.isnan(row["rating"]) else float(row["rating"])
        subjects[str(row["story"]), str(row["answer"])] = Subject(
            explanation=str(row["answer"]),
            story=str(row["story"]),
            dataset="hanna",
            system="Human",
            story_prompt=story.get("story_prompt"),
            text=story.get("text"),
            reference=None if same else story.get("reference"),
            criterion=criteria.get(str(row["criterion"])),
            facts=Facts(eval_prompt="ep3", rating=rating),
        )
    return subjects, [f"{path.name}: {note}" for note in texts.notes]


STORY, EXPLANATION = "Input.story_id", "Input.explanation"
ITEM, KEY, ANNOTATOR = "Audit.item", "Audit.key", "Audit.annotator"
CRITERION, SECONDS, NOTE, POLARITY = "Audit.criterion", "Audit.seconds", "Audit.note", "Audit.polarity"
# The sixth question of the study's form.
NOT_PRINTED = Category(
    "incorrectness",
    "Incorrectness",
    "Is the explanation incorrect? (in the study's form and file, not in its tables: every answer is no)",
    "6",
    "Answer.a-4-incorrectness.1",
)

_Rows = Sequence[tuple[int, Mapping[str, str]]]


def write_study_csv(audit: AuditSnapshot, path: Path) -> None:
    """Write round 1's answers in the HANNA study's CSV format. Raises DataError if there are none."""
    columns = _columns(audit.categories)
    annotators, remarks = audit.annotation.annotators, audit.annotation.remarks
    if not annotators:
        raise DataError("has no answers yet", file=audit.path)
    given = {(a.annotator, a.item, a.category): a.value for a in audit.annotation.answers}
    header = [STORY, EXPLANATION, *columns, ITEM, KEY, ANNOTATOR, CRITERION, SECONDS, NOTE, POLARITY]
    polarity = polarity_sentence(audit.categories)
    try:
        with draft(path) as fresh, fresh.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
            writer.writerow(header)
            for item in audit.items:
                subject = item.subject
                criterion = subject.criterion.name if subject.criterion else ""
                for name in annotators:
                    note, seconds = remarks.get((name, item.id), ("", None))
                    cells = [_cell(c, given.get((name, item.id, c.key))) if c else "" for c in columns.values()]
                    time = "" if seconds is None else repr(seconds)
                    last = [item.id, item.key, name, criterion, time, note, polarity]
                    row = [subject.story or "", subject.explanation, *cells, *last]
                    writer.writerow(map(no_formula, row))
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", file=path) from error


def _read(path: Path) -> _Rows:
    rows = list(csv_rows(path, (STORY, EXPLANATION)))
    if not rows or POLARITY not in rows[0][1]:
        return rows
    # A file that this program wrote protects cells from being read as formulas by apostrophes.
    return [(row, {column: as_written(text) for column, text in cells.items()}) for row, cells in rows]


def polarity_sentence(categories: Sequence[Category]) -> str:
    """Sentence that says in which columns 1 means an error and in which it means no error."""
    turned = [c.column for c in categories if c.inverted]
    if not turned:
        return "1 = error in every column"
    return f"1 = error, but in {', '.join(turned)} 1 = no error"


def is_study_csv(path: Path) -> bool:
    """Whether the header of the file has the columns of the HANNA study's CSV."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        header = next(csv.reader(stream), [])
    return STORY in header and EXPLANATION in header


def import_study_csv(store: AuditStore, path: Path, *, replace: bool = False) -> Merged:
    """Import answers from a CSV in the HANNA study's format into an audit of the same explanations. Raises DataError
    for a cell other than 0, 1 and empty, for an explanation that the audit does not hold (or holds twice, if the file
    has no `Audit.key`), for blocks of different length, and for different answers without `replace`."""
    rows = _read(path)
    _known_columns(rows, store.categories, path)
    named = bool(rows) and {KEY, ANNOTATOR} <= set(rows[0][1])
    places = _by_key(store, rows, path) if named else _by_block(store, rows, path)
    given = []
    for (row, cells), (annotator, item) in zip(rows, places, strict=True):
        values = _values(cells, store.categories, path, row)
        note = cells.get(NOTE) or None
        if values or note:
            given.append(Given(annotator, item, values, note, _seconds(cells, path, row)))
    merged = merge(store, given, path, replace=replace)
    for category in store.categories:
        if category.inverted and rows and category.column in rows[0][1]:
            store.add_note(
                f"{category.column} of {path.name} holds 1 where there is no error ({category.label}); its answers "
                "were turned round: here 1 = error in every category"
            )
    if not named:
        store.add_note(f"{path.name} names no annotators: position k is the k-th row of each block, and no person")
    return merged


def create_from_study_csv(target: Path, path: Path, *, form: Form | None = None) -> AuditStore:
    """An audit of the explanations in a CSV in the HANNA study's format, without the answers. If the CSV is the study's
    published file, ratings are added, and stories and criteria where its other files are here."""
    rows = _read(path)
    if form is None:
        form = load_form()
        asked = any(cells.get(NOT_PRINTED.column) for _, cells in rows)
        form = Form((*form.categories, NOT_PRINTED) if asked else form.categories, form.practice)
    _known_columns(rows, form.categories, path)
    subjects, notes = study_subjects(path) or ({}, [f"{path.name} holds no stories"])
    seen: dict[tuple[str, str, str], Subject] = {}
    for _, cells in rows:
        cell_key = (cells[STORY], cells[EXPLANATION], cells.get(KEY, ""))
        plain = Subject(explanation=cells[EXPLANATION], story=cells[STORY] or None)
        seen.setdefault(cell_key, subjects.get(cell_key[:2], plain))
    notes.append(f"explanations are those of {path.name}, which does not record how they were sampled")
    return AuditStore.create(target, seen.values(), form=form, seed=1, notes=notes)


def _columns(categories: Sequence[Category]) -> dict[str, Category | None]:
    by_column: dict[str, Category | None] = {c.column: c for c in categories}
    if {c.column for c in load_form().categories} <= set(by_column):
        # None marks the study's sixth question, which stays empty in an audit that does not ask it.
        by_column.setdefault(NOT_PRINTED.column, None)
    study = sorted(column for column in by_column if column.startswith("Answer.a-"))
    return {column: by_column[column] for column in (*study, *(c for c in by_column if c not in study))}


def _cell(category: Category, value: int | None) -> str:
    if value is None:
        return ""
    return str(1 - value if category.inverted else value)


def _values(cells: Mapping[str, str], categories: Sequence[Category], path: Path, row: int) -> dict[str, int]:
    values = {}
    for category in categories:
        cell = cells.get(category.column, "")
        if cell not in ("", "0", "1"):
            raise DataError(
                "not an answer", file=path, row=row, column=category.column, found=cell, allowed="0, 1, empty"
            )
        if cell:
            values[category.key] = 1 - int(cell) if category.inverted else int(cell)
    return values


def _seconds(cells: Mapping[str, str], path: Path, row: int) -> float | None:
    cell = cells.get(SECONDS, "")
    try:
        return float(cell) if cell else None
    except ValueError as error:
        raise DataError("not a number of seconds", file=path, row=row, column=SECONDS, found=cell) from error


def _known_columns(rows: _Rows, categories: Sequence[Category], path: Path) -> None:
    own_columns = {c.column for c in categories}
    for column in rows[0][1] if rows else ():
        if column.startswith("Answer.") and column not in own_columns and any(cells[column] for _, cells in rows):
            raise DataError(
                "no category of the audit has this column",
                file=path,
                column=column,
                allowed=", ".join(sorted(own_columns)),
                hint=Advice(
                    "a categories file says which category it is and what 1 means: judge audit sample {categories}"
                ),
            )


def _by_key(store: AuditStore, rows: _Rows, path: Path) -> Iterator[tuple[str, int]]:
    numbers = {item.key: item.id for item in store.items()}
    if not any(cells[KEY] in numbers for _, cells in rows):  # exported from another audit of the same explanations
        for (_, cells), item in zip(rows, _by_text(store, rows, path), strict=True):
            yield cells[ANNOTATOR], item
        return
    for row, cells in rows:
        if cells[KEY] not in numbers:
            raise DataError("the audit does not hold this item", file=path, row=row, column=KEY, found=cells[KEY])
        yield cells[ANNOTATOR], numbers[cells[KEY]]


def _by_text(store: AuditStore, rows: _Rows, path: Path) -> Iterator[int]:
    """The number of each row's item, found by story id and explanation. DataError unless exactly one has both."""
    numbers: dict[tuple[str, str], list[int]] = {}
    for item in store.items():
        numbers.setdefault((item.subject.story or "", item.subject.explanation), []).append(item.id)
    for row, cells in rows:
        matches = numbers.get((cells[STORY], cells[EXPLANATION]), [])
        if len(matches) != 1:
            problem = "holds this explanation several times" if matches else "does not hold this explanation"
            raise DataError(f"the audit {problem}", file=path, row=row, found=cells[EXPLANATION])
        yield matches[0]


def _by_block(store: AuditStore, rows: _Rows, path: Path) -> Iterator[tuple[str, int]]:
    """(annotator, item) of each row of a file without names: the k-th row about an explanation is by "position k"."""
    blocks: list[list[int]] = []
    before = None
    for (row, _), item in zip(rows, _by_text(store, rows, path), strict=True):
        if item != before:
            blocks.append([])
        blocks[-1].append(row)
        before = item
        yield f"position {len(blocks[-1])}", item
    for block in blocks:
        if len(block) != len(blocks[0]):
            raise DataError(
                f"the block of rows has {len(block)} rows and the first one {len(blocks[0])}", file=path, row=block[0]
            )
