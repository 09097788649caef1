"""A study's ratings for others: a dataset of stories with ratings, a table of all answers, and answers from packs."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.base.errors import DataError, SpecError, unknown
from judge.base.files import write_output
from judge.base.fingerprint import fingerprint
from judge.base.records import Rating, Story
from judge.inputs.datasets.dataset import LabelScales
from judge.inputs.datasets.files.native import write_stories
from judge.inputs.datasets.files.source_file import read_json
from judge.lab.people.compared import pairs_of
from judge.lab.people.store import COMMENT, UNSURE, Answered, Spent, Study, StudyStore


def write_dataset(study: Study, output: Path, *, leave_out: tuple[str, ...] = (), comments: bool = False) -> str:
    """Write the stories with people's ratings, or the pairs with their preferences, in the program's own format, and
    say what was written. Repeats, checks and practice are no ratings of stories and never enter it; nor does "cannot
    tell". A pair of which both stories are bad is a tie. Raises DataError if the file exists."""
    kept = _kept(study, leave_out)
    ratings: dict[int, list[Rating]] = {}
    for one in kept:
        if one.entry.use == "rating" and not one.state.skip and not study.pairs:
            comment = (one.state.comment or None) if comments else None
            ratings.setdefault(one.entry.text, []).extend(
                Rating(name, value, one.rater, comment) for name, value in one.state.values.items()
            )
    stories = [
        Story(text.story, text.story_prompt, text.system, text.text, None, tuple(ratings.get(number, ())))
        for number, text in study.texts.items()
        if text.origin is None and not text.practice
    ]
    if study.pairs:
        pairs = pairs_of(study, kept)
        write_stories(output, stories, pairs=pairs)
        given, of = sum(len(pair.preferences) for pair in pairs), f"{len(pairs)} pairs"
    else:
        write_stories(output, stories, LabelScales.of_criteria(study.criteria))
        given, of = sum(len(some) for some in ratings.values()), f"{len(stories)} stories"
    return f"{output}: {given} of {study.asked} {study.noun} of {of}, to answer {study.sequence}"


COLUMNS = (
    *("rater", "place", "use", "story", "story_prompt", "system", "damage", "criterion", "value", "skip"),
    *("active_seconds", "repeat_of", "text_hash", "beside"),
)


def write_answers(study: Study, output: Path, *, leave_out: tuple[str, ...] = (), comments: bool = False) -> str:
    """Write every current answer as CSV, with its use, and say what was written. Of a pair, `story` stood left and
    `beside` right, and `value` is the side that was preferred."""
    scales = {criterion.name: criterion.scale for criterion in study.criteria}
    stream = io.StringIO()
    columns = (*COLUMNS, *((COMMENT,) if comments else ()))
    table = csv.DictWriter(stream, columns, lineterminator="\n", extrasaction="ignore")
    table.writeheader()
    count = 0
    for one in _kept(study, leave_out):
        shared: dict[str, Any] = {
            "rater": one.rater,
            "place": one.place,
            "use": one.entry.use,
            "story": one.text.story,
            "story_prompt": one.text.story_prompt,
            "system": one.text.system,
            "damage": next((d for n in one.entry.texts if (d := study.texts[n].damage)), None),
            "skip": one.state.skip,
            "active_seconds": round(one.state.seconds, 1),
            "repeat_of": one.entry.of,
            "text_hash": one.text.key,
            "beside": None if one.entry.beside is None else study.texts[one.entry.beside].story,
            COMMENT: one.state.comment,
        }
        rows = [{"criterion": name, "value": scales[name].text_of(value)} for name, value in one.state.values.items()]
        rows += [{"criterion": name, "value": UNSURE} for name in sorted(one.state.unsure)]
        for row in rows or [{"criterion": "", "value": ""}]:
            table.writerow(shared | row)
            count += 1
    write_output(output, stream.getvalue())
    return f"{output}: {count} rows, to answer {study.sequence}"


def _kept(study: Study, leave_out: tuple[str, ...]) -> list[Answered]:
    for name in leave_out:
        if name not in study.lists:
            raise SpecError(unknown("rater", name, study.lists))
    return [one for one in study.answered if one.rater not in leave_out]


class _Place(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    item: int = Field(ge=0, lt=2**31)
    values: dict[str, float | str | None]
    note: str = Field(default="", max_length=20_000)
    seconds: float = Field(default=0, ge=0, allow_inf_nan=False)


class _File(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    format: Literal["judge-people-answers/1"]
    study: str
    rater: Annotated[str, Field(min_length=1, max_length=80)]
    guidelines: str
    answers: list[_Place]


def import_answers(store: StudyStore, file: Path) -> list[str]:
    """Take the answers of a pack's file, and say what was taken. An answer that differs from one that counts already is
    kept and listed, and does not count. Raises DataError for a file of another form or study."""
    try:
        given = _File.model_validate(read_json(file))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{where}: {first['msg']}", file=file, hint="give the file that a page saved") from error
    if given.study != store.study_id:
        raise DataError("holds answers of another study", file=file, found=given.study, allowed=store.study_id)
    store.check_rater(given.rater)
    if given.rater in store.withdrawn():
        raise SpecError(f"{given.rater} has left the study; nothing is taken")
    lines, taken = [], 0
    for place in given.answers:
        fields = {name: value for name, value in place.values.items() if value is not None}
        fields |= {COMMENT: place.note} if place.note else {}
        # What is said has its own name: the same file twice says nothing new.
        name = f"pack-{fingerprint([place.item, fields])}"
        state = store.save(
            given.rater,
            place.item,
            fields,
            message=name,
            before={},
            spent=Spent(place.seconds),
            facts={"pack": file.name},
        )
        taken += len(fields) - len(state.late)
        lines += [
            f"{given.rater}, place {place.item}, {late}: {state.current(late)!r} counts, {fields[late]!r} is kept too"
            for late in state.late
        ]
    if store.closed():
        count = sum(len(state_fields) for state_fields in (place.values for place in given.answers))
        return [f"{file}: the study is closed; {count} answers of {given.rater} are kept, and do not count"]
    return [f"{file}: {taken} answers of {given.rater}" + f", {len(lines)} differ" * bool(lines), *lines]
