"""Conversion of a log's scores into ratings: numbers, codes of labels, or missing values.

Numbers are kept unless they are rescaled. Booleans and words need labels: from the criteria, from the user, or from the
log itself. A judge's word that is not a label is a lost score; a person's is an error.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from judge.base.errors import DataError, OptionError
from judge.base.records import Criterion, Scale
from judge.base.wording import Advice
from judge.exchange.logs.row import LogRow, Loss, Value
from judge.inputs.datasets.label_scales import LabelScales

YES_NO = Scale.of_labels(["No", "Yes"])
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Scaling:
    """How the scores in a log become ratings: `criteria` are the criteria whose scales are known, `labels` the labels
    that the user gave, and `scale` is the scale of numbers for which neither these nor the log give one.

    `rescale` holds the two ends of the range of judges' scores (such as 0 and 1), `rescale_people` those of the human
    ratings' range. None: not rescaled.
    """

    criteria: Sequence[Criterion] = ()
    labels: LabelScales = field(default_factory=LabelScales)
    scale: Scale | None = None
    rescale: tuple[float, float] | None = None
    rescale_people: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Rated:
    """A log's row with its rating, or with the reason why it has none (`loss`)."""

    row: LogRow
    rating: float | None
    loss: Loss | None


@dataclass(slots=True)
class Ratings:
    """All rows of a log with the ratings made from their scores, the criteria with scales, and notes. `rescaled` and
    `scaled` say whether the options `Scaling.rescale` and `Scaling.scale` had an effect.
    """

    rows: list[Rated] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rescaled: bool = False
    scaled: bool = False


def rated(rows: Sequence[LogRow], scaling: Scaling, shown: Mapping[str, Scale], file: Path) -> Ratings:
    """All rows of a log with their scores converted to ratings. `shown` maps a criterion to the scale of labels found
    in the log.

    Raises DataError where words have no known labels, and where a person's word is not a label. Raises OptionError
    where a range is to be rescaled, but the target scale is not known.
    """
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
    """Scale of a criterion's ratings; None for numbers on an unknown scale."""
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
    """Code of a label, of a boolean, or of a number that is itself a code; None where the value is not on the scale."""
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
    """A finite number, or a text that is one, as a float; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
