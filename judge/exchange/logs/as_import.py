"""Conversion of logs' rows into imported ratings, with counts of lost scores by kind and notes on missing facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from judge.base.errors import DataError, OptionError, SpecError, unknown
from judge.base.fingerprint import sha256_file
from judge.base.foreign import opening, reading
from judge.base.records import Criterion, Scale
from judge.base.wording import Advice
from judge.exchange.imported_folder import Import
from judge.exchange.logs.comparisons import PreferenceRow
from judge.exchange.logs.fields import LOSSES, LogFacts, LogOptions, LogRow, Tool, Value, lost
from judge.exchange.ratings_file import import_rows
from judge.exchange.ratings_rows import FileRow
from judge.inputs.datasets import Dataset
from judge.ratings.ratings_table import COLUMNS, PANEL

# Conversion of a log's scores into ratings: numbers, codes of labels, or missing values.

YES_NO = Scale.of_labels(["No", "Yes"])
_NAMED = 5


@dataclass(slots=True)
class _Conversion:
    """Conversion of scores to ratings on the criteria's `scales`. `unread` counts words that are on no scale;
    `rescaled`: whether a range that was to be rescaled had an effect."""

    options: LogOptions
    scales: Mapping[str, Scale | None]
    file: Path
    unread: Counter[str] = field(default_factory=Counter)
    rescaled: bool = False

    def rated(self, row: LogRow) -> LogRow:
        """The row with its rating, or with the reason why it has none."""
        if row.value is None:
            return lost(row, row.loss or "missing")
        scale = self.scales[row.criterion]
        labels = scale if scale is not None and scale.labels else None
        rating = _code(row.value, labels) if labels is not None else _number(row.value)
        if rating is None:
            if row.people:
                allowed = labels.code_words if labels is not None else "a number"
                words = "a person's rating cannot be read"
                raise DataError(words, file=self.file, row=row.number, found=row.value, allowed=allowed)
            self.unread[repr(row.value)[:60]] += 1
            return lost(row, "unparsed")
        ends = self.options.rescale_people if row.people else self.options.rescale
        if ends is None or labels is not None:
            return replace(row, rating=rating)
        if scale is None:
            message = Advice("has no target scale for {}: give it with {criteria} or {scale}", row.criterion)
            raise OptionError("rescale_people" if row.people else "rescale", f"{ends[0]:g}-{ends[1]:g}", message)
        self.rescaled = True
        if not ends[0] <= rating <= ends[1]:
            return lost(row, "out_of_range")
        return replace(row, rating=scale.min + (rating - ends[0]) / (ends[1] - ends[0]) * (scale.max - scale.min))


def rated(
    rows: Sequence[LogRow], options: LogOptions, shown: Mapping[str, Scale], file: Path
) -> tuple[list[LogRow], list[Criterion], list[str]]:
    """All rows with scores converted to ratings, the criteria whose scales are known, and notes; `shown` maps a
    criterion to the scale of labels found in the log. Raises DataError for words without known labels, OptionError
    where a range is to be rescaled to an unknown scale, and SpecError where an option changes nothing."""
    declared = {criterion.name.casefold(): criterion for criterion in options.criteria}
    values: dict[str, list[LogRow]] = defaultdict(list)
    for row in rows:
        values[row.criterion].append(row)
    criteria: list[Criterion] = []
    notes: list[str] = []
    scales: dict[str, Scale | None] = {}
    for name, own in values.items():
        criterion = declared.get(name.casefold())
        scale = scales[name] = _scale(name, own, criterion, options, shown, file)
        if criterion is None and scale is not None:
            criterion = Criterion(name, name, "", scale)
        criteria += [criterion] if criterion is not None else []
        notes += _conversion_notes(name, own, scale)
    conversion = _Conversion(options, scales, file)
    ratings = [conversion.rated(row) for row in rows]
    for word, count in conversion.unread.most_common(_NAMED):
        notes.append(f"{count} of the scores lost were {word}")
    if (options.rescale or options.rescale_people) and not conversion.rescaled:
        raise SpecError(Advice("{rescale} changes nothing: no criterion here has numbers on a scale"))
    if options.scale is not None and not any(scale is options.scale for scale in scales.values()):
        raise SpecError(Advice("{scale} changes nothing: every criterion has its scale from elsewhere"))
    return ratings, criteria, notes


def _scale(
    name: str,
    rows: Sequence[LogRow],
    criterion: Criterion | None,
    options: LogOptions,
    shown: Mapping[str, Scale],
    file: Path,
) -> Scale | None:
    """None for numbers on an unknown scale."""
    labels = options.labels.of(name) or (criterion.scale if criterion and criterion.scale.labels else None)
    if labels is not None:
        return labels
    if criterion is not None:
        return criterion.scale
    if name in shown:
        return shown[name]
    present = [row.value for row in rows if row.value is not None]
    numbers = [value for value in present if _number(value) is not None]
    if any(isinstance(value, bool) for value in present):
        if all(isinstance(value, bool) or value in (0, 1) for value in present):
            return YES_NO
        message = f"{name} has both yes and no and other scores: they are not on one scale"
        raise DataError(
            message, file=file, hint=Advice("name one of them otherwise, or leave it out: {leave_out}", leave_out=name)
        )
    words = [str(value) for value in present if _number(value) is None]
    if words and not numbers:
        distinct = list(dict.fromkeys(words))
        few = ",".join(distinct[:_NAMED])
        raise DataError(
            f"{name} has words, whose labels are not known",
            file=file,
            found=few,
            hint=Advice(
                "say them in order: {labels}; or leave the criterion out: {leave_out}",
                labels=f"{name}={few}",
                leave_out=name,
            ),
        )
    return options.scale


def _conversion_notes(name: str, rows: Sequence[LogRow], scale: Scale | None) -> Iterator[str]:
    if scale is YES_NO:
        yield f"{name}: true is Yes and false is No"
    numbers = [number for row in rows if row.value is not None and (number := _number(row.value)) is not None]
    if scale is None and numbers:
        yield f"{name}: the log does not say its scale; scores go from {min(numbers):g} to {max(numbers):g}"


def _code(value: Value, scale: Scale) -> float | None:
    """None where the value is not on the scale."""
    if isinstance(value, bool):
        if scale.positive_code is None:
            return None
        return float(scale.positive_code if value else 1 - scale.positive_code)
    if isinstance(value, str):
        code = scale.code_of(value)
        if code is not None:
            return float(code)
    number = _number(value)
    return number if number is not None and scale.on_step(number) else None


def _number(value: Value) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


Row = TypeVar("Row", bound=LogRow | PreferenceRow)


def rows_of(tool: Tool[Row], files: Sequence[Path], options: LogOptions, log_facts: LogFacts) -> list[Row]:
    """The rows of a tool's log files. Raises DataError where a file is not a log of the tool, where two are the same,
    or where no record has a value at a path that the user gave."""
    refuse_same(files)
    rows: list[Row] = []
    for file in files:
        with reading(file, f"a log of {tool.name}"):
            rows.extend(tool.read(file, options, log_facts))
    options.places.check(files[0])
    return rows


def log_record(tool: Tool[Row], log_facts: LogFacts, untold: Sequence[str], losses: Counter[Any]) -> dict[str, Any]:
    """What a manifest says of the logs: tool, identifying fields, missing data."""
    return {
        "tool": tool.name,
        "version": log_facts.version,
        "read by its tests": tool.tried,
        "identified": dict(tool.identified),
        "not told": untold,
        "lost": {str(loss): count for loss, count in losses.most_common()},
    }


def untold_of(
    log_facts: LogFacts, losses: Mapping[Any, int], words: Mapping[Any, tuple[str, str]], what: str
) -> list[str]:
    """Sentences on what the logs do not tell, and on the scores or preferences (`what`) that were lost, by reason."""
    sentences = [f"{count:,}: {fact}" if count > 1 else fact for fact, count in log_facts.untold.items()]
    for loss, count in losses.items():
        sentences.append(f"{count:,} {what}{'s' if count > 1 else ''} lost: {words[loss][1]} ({loss})")
    return sentences


def read_logs(
    tool: Tool[LogRow], files: Sequence[Path], name: str, options: LogOptions, dataset: Dataset | None = None
) -> Import:
    """Scores from a tool's log files as imported ratings; `name` is the dataset's where none is given. Raises DataError
    where a file is not a log of the tool, where scores are on no known scale, or where there are none."""
    log_facts = LogFacts()
    logged = rows_of(tool, files, options, log_facts)
    if not logged:
        raise DataError("holds no scores", file=files[0])
    rows, criteria, notes = rated(_named(logged, options, log_facts), options, log_facts.labels, files[0])
    rows, repeats = _numbered(_people_once(rows, files[0]))
    losses = Counter(row.loss for row in rows if row.loss is not None and not row.people)
    untold = untold_of(log_facts, losses, LOSSES, "score")
    if repeats:
        untold.append(
            f"{repeats:,} scores of one judge, story and criterion are numbered as repeats, in the logs' order"
        )
    imported = import_rows(
        [_file_row(row, name, dataset) for row in rows if not (row.people and row.rating is None)],
        files[0],
        dataset=dataset,
        criteria=criteria,
        notes=[*options.notes, *notes, *untold],
        ratings="single",
        asked={
            "judged": options.judged,
            "columns": dict(options.places.given),
            "names": dict(options.names),
        },
    )
    return replace(imported, sources=list(files), log=log_record(tool, log_facts, untold, losses))


def refuse_same(files: Sequence[Path]) -> None:
    """Raise DataError where two files are the same log, whose scores would count as repeats."""
    seen: dict[str, Path] = {}
    for file in files:
        with opening(file):
            mark = sha256_file(file)
        if mark in seen:
            raise DataError(f"is the same log as {seen[mark]}", file=file)
        seen[mark] = file


def _named(rows: Sequence[LogRow], options: LogOptions, log_facts: LogFacts) -> list[LogRow]:
    present = list(dict.fromkeys(row.criterion for row in rows))
    for name in (*options.names, *options.leave_out):
        if name not in present:
            raise SpecError(unknown("criterion of the log", name, present))
    log_facts.labels = {options.names.get(name, name): scale for name, scale in log_facts.labels.items()}
    kept = [row for row in rows if row.criterion not in options.leave_out]
    if not kept:
        raise SpecError("nothing is left: every criterion of the log was left out")
    return [replace(row, criterion=options.names.get(row.criterion, row.criterion)) for row in kept]


def _people_once(rows: Sequence[LogRow], file: Path) -> list[LogRow]:
    """A log repeats a human rating in the record of every score of the story; DataError where these copies differ."""
    seen: dict[tuple[str, str], float | None] = {}
    kept = []
    for row in rows:
        key = (row.story, row.criterion)
        if not row.beside:
            kept.append(row)
        elif key not in seen:
            seen[key] = row.rating
            kept.append(row)
        elif seen[key] != row.rating:
            message = f"people's rating of story {row.story!r} differs from that of an earlier record"
            raise DataError(message, file=file, row=row.number, found=row.rating)
    return kept


def _numbered(rows: Sequence[LogRow]) -> tuple[list[LogRow], int]:
    """The rows, with repeats numbered in the log's order where it does not number them, and their number."""

    def cell(row: LogRow) -> tuple[Any, ...]:
        return row.judge, row.story, row.criterion, row.eval_prompt

    count = Counter(cell(row) for row in rows if not row.people and row.repeat is None)
    done: Counter[tuple[Any, ...]] = Counter()
    numbered = []
    for row in rows:
        if row.people or row.repeat is not None or count[cell(row)] == 1:
            numbered.append(row)
            continue
        numbered.append(replace(row, repeat=done[cell(row)]))
        done[cell(row)] += 1
    return numbered, done.total()


def _file_row(row: LogRow, name: str, dataset: Dataset | None) -> FileRow:
    cells: dict[str, Any] = dict.fromkeys((*COLUMNS, PANEL))
    cells |= {
        "run": name,
        "dataset": dataset.name if dataset is not None else name,
        "story": row.story,
        "story_prompt": row.story_prompt,
        "system": row.system,
        "criterion": row.criterion,
        "rating": row.rating,
    }
    if row.people:
        cells |= {"source": "rater", "rater": row.rater, "status": "ok"}
    else:
        cells |= {
            "source": "judge",
            "judge": row.judge,
            "eval_prompt": row.eval_prompt or "-",
            "repeat": row.repeat,
            "explanation": row.explanation,
            "status": "imported" if row.loss is None else LOSSES[row.loss][0],
        }
    if row.loss is not None:
        cells["flags"] = f"log_{row.loss}"
    return FileRow(row.number, cells, row.text, None)
