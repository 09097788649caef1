"""Reads and writes the program's own dataset format: JSON Lines with one story a line.

A line is an object with `id`, `story_prompt`, `system`, `text` and, if known, `reference` (a text or null) and
`ratings`: a list of `{"rater": text or null, "criterion": text, "value": number}`, with `"panel": text` if the rater
belongs to a panel and `"comment": text` for the rater's comment. Other keys are not allowed.

Ratings may be labels. The first line is then `{"labels": {"Plot": ["No", "Yes"]}}`, as `label_scales` reads it, and
`value` holds a label's word (letter case is ignored) or its code.

If the first line has `{"pairs": true}` (with `labels`, if there are any), lines may also hold comparisons of stories.
`{"pair": {"first": ID, "second": ID, "preferences": [{"rater": ..., "criterion": ..., "value": "first"}]}}` is a pair;
other values are `second` and `tie`, and an `id` is optional. `{"ranking": {"stories": [[ID], [ID, ID]], "criterion":
..., "rater": ...}}` is one person's ranking, best first, with tied stories in one list. It is read as all pairs of its
stories.

A text may not be blank, except in a story whose id says that it was emptied on purpose (`ORIGIN@empty.1`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.base.errors import DataError, SpecError, nearest
from judge.base.files import draft
from judge.base.fingerprint import digest
from judge.base.records import PREFERRED, Pair, Preference, Preferred, Rating, Story
from judge.base.wording import Advice, joined
from judge.inputs.datasets.dataset import Dataset, LabelScales, label_scales
from judge.inputs.datasets.files.pair_table import PairSet
from judge.inputs.datasets.files.source_file import json_lines, label_value, text_value
from judge.inputs.perturbations.perturbation import is_emptied

# Reads and writes the lines of the program's own dataset format (JSON Lines) that compare stories: a pair with
# preferences, or a ranking.


class PreferenceLine(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    rater: str | None = Field(default=None, min_length=1)
    criterion: str = Field(min_length=1)
    value: Preferred


class PairLine(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    id: str | None = Field(default=None, min_length=1)
    first: str = Field(min_length=1)
    second: str = Field(min_length=1)
    preferences: list[PreferenceLine] = Field(default_factory=list)

    def named(self) -> list[str]:
        """Ids of the two stories in a line with a pair. They may be equal."""
        return [self.first, self.second]


class RankingLine(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    stories: list[list[str]] = Field(min_length=1)
    criterion: str = Field(min_length=1)
    rater: str | None = Field(default=None, min_length=1)

    def named(self) -> list[str]:
        """Ids of the stories in a line with a ranking. An id may occur twice."""
        return [story for tied in self.stories for story in tied]


LINES: Mapping[str, type[PairLine | RankingLine]] = {"pair": PairLine, "ranking": RankingLine}


def is_compared(value: Any) -> bool:
    """Whether a line's value is a pair or a ranking of stories, and not one story."""
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in LINES


def says_pairs(header: Mapping[str, Any], path: Path, row: int) -> bool:
    """Whether a file's first line announces comparisons. Raises DataError if `pairs` is neither true nor false."""
    value = header.get("pairs", False)
    if not isinstance(value, bool):
        raise DataError("neither true nor false", file=path, row=row, column="pairs", found=value)
    return value


def pairs_of(path: Path, prompts: Mapping[str, str]) -> Iterator[Pair]:
    """The pairs of a file's comparisons. `prompts` maps story id to story-prompt. Raises DataError for a malformed
    comparison, an unknown story, and stories with different story-prompts."""
    pair_set = PairSet(path)
    for row, value in json_lines(path):
        if not is_compared(value):
            continue
        (kind,) = value
        line = _line(value[kind], kind, path, row)
        _check(line.named(), prompts, path, row, kind)
        prompt = prompts[line.named()[0]]
        if isinstance(line, RankingLine):
            pair_set.add_ranking(line.stories, prompt, line.criterion, line.rater, row)
            continue
        if not line.preferences:
            pair_set.add(line.first, line.second, prompt, None, row, line.id)
        for preference in line.preferences:
            pair_set.add(
                line.first,
                line.second,
                prompt,
                Preference(preference.criterion, preference.value, preference.rater),
                row,
                line.id,
            )
    yield from pair_set.pairs()


def pair_line(pair: Pair) -> bytes:
    """One pair as a line of the format, with the newline at the end."""
    preferences = [{"rater": p.rater, "criterion": p.criterion, "value": p.value} for p in pair.preferences]
    value = {"id": pair.id, "first": pair.first, "second": pair.second, "preferences": preferences}
    return orjson.dumps({"pair": value}, option=orjson.OPT_APPEND_NEWLINE)


def _line(value: Any, kind: str, path: Path, row: int) -> PairLine | RankingLine:
    try:
        return LINES[kind].model_validate(value)
    except ValidationError as error:
        _refuse_pairs(error, kind, path, row)


def _check(named: list[str], prompts: Mapping[str, str], path: Path, row: int, kind: str) -> None:
    for story in named:
        if story not in prompts:
            raise DataError("no story has this id", file=path, row=row, column=kind, found=story)
    if len(set(named)) < max(len(named), 2):
        raise DataError("fewer than two stories, or one twice", file=path, row=row, column=kind, found=named)
    if len({prompts[story] for story in named}) > 1:
        raise DataError("stories for different story-prompts", file=path, row=row, column=kind, found=named)


def _refuse_pairs(error: ValidationError, kind: str, path: Path, row: int) -> NoReturn:
    first = error.errors(include_url=False)[0]
    location = ".".join(str(part) for part in (kind, *first["loc"]))
    if first["type"] == "missing":
        raise DataError("the key is missing", file=path, row=row, column=location) from error
    if first["type"] == "extra_forbidden":
        inside = len(first["loc"]) > 1
        allowed_keys = PreferenceLine.model_fields if inside else LINES[kind].model_fields
        raise DataError("unknown key", file=path, row=row, column=location, allowed=", ".join(allowed_keys)) from error
    wanted = {"string_type": "a text", "list_type": "a list", "literal_error": ", ".join(PREFERRED)}.get(first["type"])
    raise DataError(
        "not what the format promises",
        file=path,
        row=row,
        column=location,
        found=first["input"],
        allowed=wanted or first["msg"],
    ) from error


class RatingLine(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    rater: str | None = Field(default=None, min_length=1)
    criterion: str = Field(min_length=1)
    value: float
    comment: str | None = None
    panel: str | None = Field(default=None, min_length=1)


class StoryLine(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    id: str = Field(min_length=1)
    story_prompt: str
    system: str = Field(min_length=1)
    text: str
    reference: str | None = None
    ratings: list[RatingLine] = Field(default_factory=list)


def open_native(
    path: Path,
    name: str | None = None,
    columns: Mapping[str, Any] | None = None,
    labels: LabelScales | None = None,
) -> Dataset:
    """A file in the own format as a dataset. `columns` may declare labels that the file does not; `labels` are those of
    the criteria to compare with."""
    name = name or path.stem
    declared, compared = _header(path)
    for more in (label_scales(columns or {}), labels or LabelScales()):
        declared = declared.with_given(more, name)
    return Dataset(
        name=name,
        files=(path,),
        stories=partial(read_stories, path, declared),
        columns=dict(columns or {}),
        labels=declared,
        pairs=partial(read_pairs, path, declared) if compared else None,
    )


def read_stories(path: Path, labels: LabelScales | None = None) -> Iterator[Story]:
    """The file's stories, one line at a time. Duplicate ids are found by 8-byte hashes (about 75 bytes a story); for
    equal ones, the file is read again. Raises DataError, naming row and column."""
    seen: set[int] = set()
    rows = 0
    compared = False
    for line, (row, value) in enumerate(json_lines(path)):
        if line == 0 and _is_header(value):
            labels = _declared(value, path, row).with_given(labels or LabelScales(), path.name)
            compared = says_pairs(value, path, row)
            continue
        if is_compared(value):
            if not compared:
                hint = 'begin the file with the line {"pairs": true}'
                raise DataError("a comparison that the first line does not announce", file=path, row=row, hint=hint)
            continue
        story = _story(value, path, row, labels or LabelScales())
        key = int.from_bytes(digest(story.id, 8), "little")
        if key in seen:
            _refuse_duplicate(story.id, path, row)
        seen.add(key)
        rows += 1
        yield story
    if rows == 0:
        raise DataError("the file holds no story", file=path)


def read_pairs(path: Path, labels: LabelScales | None = None) -> Iterator[Pair]:
    """The compared pairs, also those of rankings. One in several lines counts once."""
    return pairs_of(path, {story.id: story.story_prompt for story in read_stories(path, labels)})


def _is_header(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and value.keys() <= {"labels", "pairs"}


def _header(path: Path) -> tuple[LabelScales, bool]:
    # A line that is not JSON is an error when the stories are read.
    try:
        row, value = next(json_lines(path), (0, None))
    except DataError:
        return LabelScales(), False
    if value is None or not _is_header(value):
        return LabelScales(), False
    return _declared(value, path, row), says_pairs(value, path, row)


def _declared(value: Any, path: Path, row: int) -> LabelScales:
    try:
        return label_scales({"labels": value.get("labels")}, f"{path}, row {row}")
    except SpecError as error:
        raise DataError(str(error), hint=error.hint) from error


def write_stories(
    path: Path, stories: Iterable[Story], labels: LabelScales | None = None, pairs: Iterable[Pair] | None = None
) -> int:
    """Write stories, then pairs, to a new file, named when complete; the number of stories. Raises DataError if it
    exists. With `labels`, the first line declares them, and ratings are their words."""
    count = 0
    try:
        if path.exists():
            raise DataError("exists already", file=path, hint="give another name, or delete the file first")
        with draft(path) as fresh, fresh.open("wb") as stream:
            header: dict[str, Any] = {"labels": labels.record()} if labels else {}
            header |= {} if pairs is None else {"pairs": True}
            if header:
                stream.write(orjson.dumps(header, option=orjson.OPT_APPEND_NEWLINE))
            for story in stories:
                stream.write(story_line(story, labels))
                count += 1
            for pair in pairs or ():
                stream.write(pair_line(pair))
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", file=path) from error
    return count


def story_line(story: Story, labels: LabelScales | None = None) -> bytes:
    """One story as a line of the format, with ratings as words where `labels` has them."""
    value = {
        "id": story.id,
        "story_prompt": story.story_prompt,
        "system": story.system,
        "text": story.text,
        "reference": story.reference,
        "ratings": [_rating_line(rating, labels) for rating in story.ratings],
    }
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def _rating_line(rating: Rating, labels: LabelScales | None) -> dict[str, Any]:
    line = {"rater": rating.rater, "criterion": rating.criterion, "value": _written(rating, labels)}
    # Only where there are some, so that files without panels and comments stay what they were.
    further = {"panel": rating.panel, "comment": rating.comment}
    return line | {name: value for name, value in further.items() if value is not None}


def _written(rating: Rating, labels: LabelScales | None) -> float | str:
    scale = labels.of(rating.criterion) if labels else None
    word = scale.label_of(rating.value) if scale else None
    return rating.value if word is None else word


def _story(value: Any, path: Path, row: int, labels: LabelScales) -> Story:
    if not isinstance(value, dict):
        raise DataError("not an object", file=path, row=row, found=value, allowed=", ".join(StoryLine.model_fields))
    try:
        line = StoryLine.model_validate(_coded(value, path, row, labels) if labels else value)
    except ValidationError as error:
        _refuse(error, path, row)
    text = line.text if is_emptied(line.id) else text_value(line.text, path, row, "text")
    ratings = tuple(Rating(r.criterion, r.value, r.rater, r.comment, r.panel) for r in line.ratings)
    return Story(line.id, line.story_prompt, line.system, text, line.reference, ratings)


def _coded(value: dict[str, Any], path: Path, row: int, labels: LabelScales) -> dict[str, Any]:
    # Malformed ratings are left unchanged.
    if not isinstance(value.get("ratings"), list):
        return value
    ratings = list(value["ratings"])
    for index, rating in enumerate(ratings):
        if isinstance(rating, dict) and isinstance(rating.get("criterion"), str) and "value" in rating:
            scale = labels.of(rating["criterion"])
            if scale is not None:
                code = label_value(rating["value"], scale, path, row, f"ratings.{index}.value")
                ratings[index] = rating | {"value": code}
    return value | {"ratings": ratings}


def _refuse(error: ValidationError, path: Path, row: int) -> NoReturn:
    first = error.errors(include_url=False)[0]
    location = ".".join(str(part) for part in first["loc"])
    key = str(first["loc"][-1])
    if first["type"] == "extra_forbidden":
        model = RatingLine if first["loc"][0] == "ratings" else StoryLine
        close = nearest(key, model.model_fields)
        message = f"unknown key {key!r}" + (f"; did you mean {close!r}?" if close else "")
        raise DataError(message, file=path, row=row, allowed=", ".join(model.model_fields)) from error
    if first["type"] == "missing":
        hint = _other_form(path) if row == 1 else None
        raise DataError(f"key {key!r} is missing", file=path, row=row, column=location, hint=hint) from error
    if first["type"] == "string_too_short":
        raise DataError("the text is empty", file=path, row=row, column=location) from error
    wanted = {"string_type": "a text", "float_type": "a finite number", "list_type": "a list"}.get(first["type"])
    word = first["type"] == "float_type" and isinstance(first["input"], str) and key == "value"
    hint = Advice("where the ratings are labels, say which: {columns}", columns={"labels": "=No,Yes"}) if word else None
    raise DataError(
        "not what the format promises",
        file=path,
        row=row,
        column=location,
        found=first["input"],
        allowed=wanted or first["msg"],
        hint=hint,
    ) from error


def _other_form(path: Path) -> str:
    from judge.inputs.datasets.files.column_guess import proposed

    return joined("lines of another form are read through a column map: ", proposed(path))


def _refuse_duplicate(story: str, path: Path, row: int) -> None:
    # Two different ids may share a hash.
    for earlier, value in json_lines(path):
        if earlier >= row:
            return
        if isinstance(value, dict) and value.get("id") == story:
            raise DataError(f"the id is already used in row {earlier}", file=path, row=row, column="id", found=story)
