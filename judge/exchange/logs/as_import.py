"""Conversion of logs' rows into imported ratings, with counts of lost scores by kind and notes on missing facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, OptionError, SpecError, unknown
from judge.base.fingerprint import sha256_file
from judge.base.foreign import reading
from judge.base.records import Criterion, Scale
from judge.base.wording import Advice
from judge.exchange.imported_folder import Import
from judge.exchange.logs.fields import STATUS, WORDS, Asked, LogFacts, LogRow, Loss, Tool, Value
from judge.exchange.ratings_file import import_rows
from judge.exchange.ratings_rows import FileRow
from judge.inputs.datasets import Dataset
from judge.inputs.datasets.dataset import LabelScales
from judge.ratings.ratings_table import COLUMNS, PANEL

# Conversion of a log's scores into ratings: numbers, codes of labels, or missing values.

YES_NO = Scale.of_labels(["No", "Yes"])
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Scaling:
    """How a log's scores become ratings; `scale` is for numbers for which neither the log nor other fields give one.
    `rescale` and `rescale_people` are the ends of the range of judges' and people's scores; None: not rescaled."""

    criteria: Sequence[Criterion] = ()
    labels: LabelScales = field(default_factory=LabelScales)
    scale: Scale | None = None
    rescale: tuple[float, float] | None = None
    rescale_people: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Rated:
    """A log's row with its rating, or with the reason (`loss`) why it has none."""

    row: LogRow
    rating: float | None
    loss: Loss | None


@dataclass(slots=True)
class Ratings:
    """All rows of a log; `rescaled` and `scaled`: whether `Scaling.rescale` and `Scaling.scale` had an effect."""

    rows: list[Rated] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rescaled: bool = False
    scaled: bool = False


def rated(rows: Sequence[LogRow], scaling: Scaling, shown: Mapping[str, Scale], file: Path) -> Ratings:
    """All rows with scores converted to ratings; `shown` maps a criterion to the scale of labels found in the log.
    Raises DataError for words without known labels, OptionError where a range is to be rescaled to an unknown scale."""
    criteria = {declared_criterion.name.casefold(): declared_criterion for declared_criterion in scaling.criteria}
    values: dict[str, list[LogRow]] = defaultdict(list)
    for row in rows:
        values[row.criterion].append(row)
    ratings = Ratings()
    scales: dict[str, Scale | None] = {}
    for name, own in values.items():
        criterion = criteria.get(name.casefold())
        scale = _scale(name, own, criterion, scaling, shown, file)
        scales[name] = scale
        if criterion is None and scale is not None:
            criterion = Criterion(name, name, "", scale)
        ratings.criteria += [criterion] if criterion is not None else []
        ratings.notes += _conversion_notes(name, own, scale)
    off: Counter[str] = Counter()
    ratings.rows = [_rated(row, scales[row.criterion], scaling, ratings, off, file) for row in rows]
    ratings.scaled = any(scale is not None and scale is scaling.scale for scale in scales.values())
    for word, count in off.most_common(_NAMED):
        ratings.notes.append(f"{count} of the scores lost were {word}")
    return ratings


def _scale(
    name: str,
    rows: Sequence[LogRow],
    criterion: Criterion | None,
    scaling: Scaling,
    shown: Mapping[str, Scale],
    file: Path,
) -> Scale | None:
    """None for numbers on an unknown scale."""
    labels = scaling.labels.of(name) or (criterion.scale if criterion and criterion.scale.labels else None)
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
    return scaling.scale


def _conversion_notes(name: str, rows: Sequence[LogRow], scale: Scale | None) -> Iterator[str]:
    if scale is YES_NO:
        yield f"{name}: true is Yes and false is No"
    numbers = [number for row in rows if row.value is not None and (number := _number(row.value)) is not None]
    if scale is None and numbers:
        yield f"{name}: the log does not say its scale; scores go from {min(numbers):g} to {max(numbers):g}"


def _rated(
    row: LogRow, scale: Scale | None, scaling: Scaling, ratings: Ratings, off: Counter[str], file: Path
) -> Rated:
    if row.value is None:
        return Rated(row, None, row.loss or "missing")
    rating = _code(row.value, scale) if scale is not None and scale.labels else _number(row.value)
    if rating is None:
        if row.people:
            allowed = scale.code_words if scale is not None and scale.labels else "a number"
            raise DataError(
                "a person's rating cannot be read", file=file, row=row.number, found=row.value, allowed=allowed
            )
        off[repr(row.value)[:60]] += 1
        return Rated(row, None, "unparsed")
    ends = scaling.rescale_people if row.people else scaling.rescale
    if ends is None or (scale is not None and scale.labels):
        return Rated(row, rating, None)
    if scale is None:
        message = Advice("has no target scale for {}: give it with {criteria} or {scale}", row.criterion)
        raise OptionError("rescale_people" if row.people else "rescale", f"{ends[0]:g}-{ends[1]:g}", message)
    ratings.rescaled = True
    if not ends[0] <= rating <= ends[1]:
        return Rated(row, None, "out_of_range")
    return Rated(row, scale.min + (rating - ends[0]) / (ends[1] - ends[0]) * (scale.max - scale.min), None)


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


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Options of the conversion; `names` maps a criterion's name in the log to a new one."""

    asked: Asked = field(default_factory=Asked)
    scaling: Scaling = field(default_factory=Scaling)
    names: Mapping[str, str] = field(default_factory=dict)
    leave_out: Sequence[str] = ()
    notes: Sequence[str] = ()


def read_logs(
    tool: Tool, files: Sequence[Path], name: str, options: LogOptions, dataset: Dataset | None = None
) -> Import:
    """Scores from a tool's log files as imported ratings; `name` is the dataset's where none is given. Raises DataError
    where a file is not a log of the tool, where scores are on no known scale, or where there are none."""
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
    """A log repeats a human rating in the record of every score of the story; DataError where these copies differ."""
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
    """The rows, with repeats numbered in the log's order where it does not number them, and their number."""

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
