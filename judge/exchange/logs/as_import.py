"""Conversion of rows read from logs into imported ratings, with counts of lost scores by kind and notes on the facts
that logs lack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, SpecError, unknown
from judge.base.fingerprint import sha256_file
from judge.base.foreign import reading
from judge.base.wording import Advice
from judge.exchange.imports.imported_folder import Import
from judge.exchange.logs.asked import Asked, Tool
from judge.exchange.logs.row import STATUS, WORDS, LogFacts, LogRow, Loss
from judge.exchange.logs.values import Rated, Scaling, rated
from judge.exchange.ratings.file import import_rows
from judge.exchange.ratings.rows import FileRow
from judge.inputs.datasets import Dataset
from judge.ratings.ratings_table import COLUMNS, PANEL


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Options for the conversion of evaluation tools' logs into imported ratings.

    `asked` holds the options of the log reader, and `scaling` says how scores become ratings. `names` maps a
    criterion's name in the log to a new name, and `leave_out` lists criteria to leave out. `notes` are printed under
    every table.
    """

    asked: Asked = field(default_factory=Asked)
    scaling: Scaling = field(default_factory=Scaling)
    names: Mapping[str, str] = field(default_factory=dict)
    leave_out: Sequence[str] = ()
    notes: Sequence[str] = ()


def read_logs(
    tool: Tool, files: Sequence[Path], name: str, options: LogOptions, dataset: Dataset | None = None
) -> Import:
    """Scores from log files of an evaluation tool, as imported ratings. `name` is the dataset's name where no dataset
    is given.

    Raises DataError where a file is not a log of the tool, where scores are on no known scale, or where there are no
    scores.
    """
    refuse_same(files)
    log_facts = LogFacts()
    rows: list[LogRow] = []
    for file in files:
        with reading(file, f"a log of {tool.name}"):
            rows.extend(tool.read(file, options.asked, log_facts))
    options.asked.places.check(files[0])
    if not rows:
        raise DataError("holds no scores", file=files[0])
    rows = list(_named(rows, options, log_facts))
    ratings = rated(rows, options.scaling, log_facts.labels, files[0])
    _refuse_idle(options.scaling, rescaled=ratings.rescaled, scaled=ratings.scaled)
    kept, repeats = _numbered(_people_once(ratings.rows, files[0]))
    losses = Counter(rated_row.loss for rated_row in kept if rated_row.loss is not None and not rated_row.row.people)
    untold = _untold(log_facts, losses, repeats)
    imported = import_rows(
        [
            _file_row(rated_row, name, dataset)
            for rated_row in kept
            if not (rated_row.row.people and rated_row.rating is None)
        ],
        files[0],
        dataset=dataset,
        criteria=ratings.criteria,
        notes=[*options.notes, *ratings.notes, *untold],
        ratings="single",
        asked={
            "judged": options.asked.judged,
            "columns": dict(options.asked.places.given),
            "names": dict(options.names),
        },
    )
    log = {
        "tool": tool.name,
        "version": log_facts.version,
        "read by its tests": tool.tried,
        "identified": dict(tool.identified),
        "not told": untold,
        "lost": {str(loss): count for loss, count in losses.most_common()},
    }
    return replace(imported, sources=list(files), log=log)


def refuse_same(files: Sequence[Path]) -> None:
    """Raise DataError where two files are the same log, whose scores would count as repeats."""
    seen: dict[str, Path] = {}
    for file in files:
        try:
            mark = sha256_file(file)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", file=file) from error
        if mark in seen:
            raise DataError(f"is the same log as {seen[mark]}", file=file)
        seen[mark] = file


def _named(rows: Iterable[LogRow], options: LogOptions, log_facts: LogFacts) -> Iterable[LogRow]:
    """The log's rows, without those of criteria that the user leaves out, and with the new names that the user gives to
    criteria.
    """
    rows = list(rows)
    present = list(dict.fromkeys(row.criterion for row in rows))
    for name in (*options.names, *options.leave_out):
        if name not in present:
            raise SpecError(unknown("criterion of the log", name, present))
    log_facts.labels = {options.names.get(name, name): scale for name, scale in log_facts.labels.items()}
    kept = [row for row in rows if row.criterion not in options.leave_out]
    if not kept:
        raise SpecError("nothing is left: every criterion of the log was left out")
    return (replace(row, criterion=options.names.get(row.criterion, row.criterion)) for row in kept)


def _refuse_idle(scaling: Scaling, *, rescaled: bool, scaled: bool) -> None:
    if (scaling.rescale or scaling.rescale_people) and not rescaled:
        raise SpecError(Advice("{rescale} changes nothing: no criterion here has numbers on a scale"))
    if scaling.scale is not None and not scaled:
        raise SpecError(Advice("{scale} changes nothing: every criterion has its scale from elsewhere"))


def _people_once(rows: Sequence[Rated], file: Path) -> list[Rated]:
    """The rows, with each human rating that is part of the record of a judge's score only once for each story and
    criterion.

    A log repeats such a human rating in the record of every score of the story. Raises DataError where these copies
    differ.
    """
    seen: dict[tuple[str, str], float | None] = {}
    kept = []
    for rated_row in rows:
        key = (rated_row.row.story, rated_row.row.criterion)
        if not rated_row.row.beside:
            kept.append(rated_row)
        elif key not in seen:
            seen[key] = rated_row.rating
            kept.append(rated_row)
        elif seen[key] != rated_row.rating:
            message = f"people's rating of story {rated_row.row.story!r} differs from that of an earlier record"
            raise DataError(message, file=file, row=rated_row.row.number, found=rated_row.rating)
    return kept


def _numbered(rows: Sequence[Rated]) -> tuple[list[Rated], int]:
    """The rows with repeats numbered in the log's order, and the number of rows that were numbered.

    A row is numbered where a judge rated a story several times and the log does not number its repeats.
    """

    def key(row: LogRow) -> tuple[Any, ...]:
        return row.judge, row.story, row.criterion, row.eval_prompt

    count = Counter(
        key(rated_row.row) for rated_row in rows if not rated_row.row.people and rated_row.row.repeat is None
    )
    done: Counter[tuple[Any, ...]] = Counter()
    numbered_rows, numbered = [], 0
    for rated_row in rows:
        cell = key(rated_row.row)
        if rated_row.row.people or rated_row.row.repeat is not None or count[cell] == 1:
            numbered_rows.append(rated_row)
            continue
        numbered_rows.append(replace(rated_row, row=replace(rated_row.row, repeat=done[cell])))
        done[cell] += 1
        numbered += 1
    return numbered_rows, numbered


def _untold(log_facts: LogFacts, losses: Mapping[Loss, int], repeats: int) -> list[str]:
    """Notes shown under every table: what data the logs lack, and which ratings were lost."""
    sentences = [f"{count:,}: {words}" if count > 1 else words for words, count in log_facts.untold.items()]
    for loss, count in losses.items():
        sentences.append(f"{count:,} score{'s' if count > 1 else ''} lost: {WORDS[loss]} ({loss})")
    if repeats:
        sentences.append(
            f"{repeats:,} scores of one judge, story and criterion are numbered as repeats, in the logs' order"
        )
    return sentences


def _file_row(rated_row: Rated, name: str, dataset: Dataset | None) -> FileRow:
    row = rated_row.row
    cells: dict[str, Any] = dict.fromkeys((*COLUMNS, PANEL))
    cells |= {
        "run": name,
        "dataset": dataset.name if dataset is not None else name,
        "story": row.story,
        "story_prompt": row.story_prompt,
        "system": row.system,
        "criterion": row.criterion,
        "source": "rater" if row.people else "judge",
        "rating": rated_row.rating,
    }
    if row.people:
        return FileRow(row.number, cells | {"rater": row.rater, "status": "ok"}, row.text, None)
    lost = (
        {"status": "imported"}
        if rated_row.loss is None
        else {"status": STATUS[rated_row.loss], "flags": f"log_{rated_row.loss}"}
    )
    own = {
        "judge": row.judge,
        "eval_prompt": row.eval_prompt or "-",
        "repeat": row.repeat,
        "explanation": row.explanation,
    }
    return FileRow(row.number, cells | own | lost, row.text, None)
