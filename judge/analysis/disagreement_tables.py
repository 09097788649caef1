"""Printed disagreements: a list, then each story. Texts are data: control characters and markup are escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import pandas as pd

from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import DisagreementsOptions
from judge.base.printing.tables import Column, Table, cells_of, plain, printable
from judge.base.records import Scale
from judge.stats import near_ties

# Result types of the search for disagreements: stories with all their ratings and explanations.


@dataclass(frozen=True, slots=True)
class RaterRating:
    """One person's rating; `rater` is None where it is not known who gave it."""

    rater: str | None
    rating: float | None


@dataclass(frozen=True, slots=True)
class PeopleSide:
    """Human ratings of a story on one criterion. `z` is the standardised mean; None = only shown."""

    criterion: str
    mean: float | None
    z: float | None
    ratings: tuple[RaterRating, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """One answer of a judge; `repeat` is its number, None for an imported mean."""

    repeat: int | None
    rating: float | None
    status: str | None
    flags: str | None
    explanation: str | None


@dataclass(frozen=True, slots=True)
class JudgeSide:
    """A judge's answers on a story with one Eval-Prompt; `mean` is in points, `z` standardised."""

    run: str
    judge: str
    eval_prompt: str
    mean: float | None
    z: float | None
    repeats: tuple[Repeat, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One story and the difference between its ratings: judge minus people, or highest minus lowest of several;
    `difference` is in standard deviations, `raw` in points. `judge` and `eval_prompt` are None for several."""

    rank: int
    dataset: str
    judge: str | None
    eval_prompt: str | None
    criterion: str
    story: str
    system: str | None
    story_prompt: str | None
    difference: float
    raw: float
    people: PeopleSide | None
    sides: tuple[JudgeSide, ...]
    text: str

    @property
    def record(self) -> dict[str, object]:
        """The row as plain lists and mappings, as stored in files."""
        return asdict(self, dict_factory=_plain)


COLUMNS = tuple(field.name for field in fields(Disagreement))


@dataclass(frozen=True, slots=True, eq=False)
class Disagreements(Signed):
    """Stories on which ratings differ most, largest first; `stories` counts all compared. `notes` say what was left out
    and why. `labels` maps (dataset, criterion in lower case) to the scale of criteria with labels."""

    rows: tuple[Disagreement, ...]
    stories: int
    datasets: tuple[str, ...]
    options: DisagreementsOptions
    labels: Mapping[tuple[str, str], Scale]

    def scale_of(self, row: Disagreement) -> Scale | None:
        """The scale of a row's ratings if they are codes of labels, else None."""
        return self.labels.get((row.dataset, row.criterion.casefold()))

    @property
    def frame(self) -> pd.DataFrame:
        """One row per story; `people` and `sides` are mappings."""
        return self.signed([row.record for row in self.rows])


def _plain(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in pairs}


_WIDTH = 100
# Characters kept of a text unless all of it is asked for.
_STORY, _EXPLANATION, _PROMPT = 400, 200, 200

_WHAT = {
    "people": "judge minus people",
    "repeats": "highest minus lowest repeat",
    "eval-prompts": "highest minus lowest Eval-Prompt",
    "judges": "highest minus lowest judge",
}
_UNIT = {
    "people": "z: each side standardised over the stories that both rated, so leniency is not disagreement",
    "repeats": "z: in standard deviations of the same judge's ratings of all stories",
    "eval-prompts": "z: ratings standardised within each Eval-Prompt, so leniency is not disagreement",
    "judges": "z: ratings standardised within each judge, so leniency is not disagreement",
}


def tables(result: Disagreements, *, long: bool = False, full_text: bool = False) -> list[Table]:
    """The list, then a table per story, shortened unless `full_text`; with `long`, one table with all in full."""
    between = result.options.between
    title = f"Largest differences between {between if between != 'people' else 'judge and people'}"
    notes = tuple(dict.fromkeys(_notes(result)))
    if long:
        columns = [Column(name, name) for name in COLUMNS] if result.rows else []
        return [Table(title, columns, [row.record for row in result.rows], result.signature, notes)]
    listed = Table(
        title, _columns(result), [_listed(row, result.scale_of(row)) for row in result.rows], result.signature, notes
    )
    signed = between == "people"
    return [listed, *(_card(row, signed, result.scale_of(row), full_text=full_text) for row in result.rows)]


def _notes(result: Disagreements) -> Iterator[str]:
    between, top = result.options.between, result.options.top
    yield f"difference: {_WHAT[between]}, among {result.stories} stories; {_UNIT[between]}"
    yield "each story once, where it differs most" if top else "every story, judge, prompt and criterion"
    yield from result.notes


def _columns(result: Disagreements) -> list[Column]:
    columns = [Column("rank", "#")]
    columns += [Column("dataset", "dataset")] if len(result.datasets) > 1 else []
    columns += plain("story", "system", "criterion")
    columns += [Column("judge", "judge")] if any(row.judge for row in result.rows) else []
    columns += [Column("eval_prompt", "eval prompt")] if any(row.eval_prompt for row in result.rows) else []
    columns += [Column("people", "people"), Column("ratings", "judge")]
    return [*columns, Column("difference", "difference, z", main=True), Column("raw", "in points")]


def _listed(row: Disagreement, scale: Scale | None) -> dict[str, object]:
    return {
        **cells_of(row, "rank", "dataset"),
        "story": printable(row.story) or None,
        "system": printable(row.system or "") or None,
        **cells_of(row, "criterion", "judge", "eval_prompt"),
        "people": _people(row.people, scale),
        "ratings": _sides(row, scale),
        **cells_of(row, "difference", "raw"),
    }


def _people(people: PeopleSide | None, scale: Scale | None) -> str | None:
    if people is None or not people.ratings:
        return None
    return _mean_of(people.mean, [each.rating for each in people.ratings], scale)


def _sides(row: Disagreement, scale: Scale | None) -> str:
    if len(row.sides) == 1:
        (side,) = row.sides
        return _mean_of(side.mean, [repeat.rating for repeat in side.repeats], scale)
    rated = [(side.judge if row.judge is None else side.eval_prompt, side.mean) for side in row.sides]
    defined = [(name, mean) for name, mean in rated if mean is not None]
    ordered = (defined[i] for i in near_ties.descending([mean for _, mean in defined]))
    return ", ".join(f"{printable(name)} {_points(mean)}" for name, mean in ordered)


def _mean_of(mean: float | None, ratings: Sequence[float | None], scale: Scale | None) -> str:
    """Mean and single ratings, as in `2.3 (2 2 3)`; a dash = no rating; one rating stands alone."""
    if len(ratings) == 1 or mean is None:
        return _points(mean, scale)
    return f"{_points(mean)} ({' '.join(_points(rating, scale) for rating in ratings)})"


def _points(value: float | None, scale: Scale | None = None) -> str:
    """The label of a rating where the scale has one, else the number; means are always numbers."""
    word = scale.label_of(value) if scale is not None else None
    return "—" if value is None else word or f"{round(value, 2):g}"


def _card(row: Disagreement, signed: bool, scale: Scale | None, *, full_text: bool) -> Table:
    parts = [
        ("story-prompt", _short(row.story_prompt, _PROMPT, full_text)),
        ("story", _short(row.text, _STORY, full_text)),
        ("people", _people_line(row.people, scale)),
        *(part for side in row.sides for part in _side_lines(side, scale, full_text=full_text)),
    ]
    lines = [{"what": heading, "text": text} for heading, text in parts if text]
    size = f"{row.difference:+.2f}" if signed else f"{row.difference:.2f}"
    title = f"{row.rank}. {row.story} ({row.system}), {row.criterion}, {size} z"
    return Table(title, [Column("what", ""), Column("text", "", text=True, wrap=_WIDTH)], lines, "")


def _people_line(people: PeopleSide | None, scale: Scale | None) -> str | None:
    if people is None or not people.ratings:
        return None
    named_points = [(_points(each.rating, scale), each.rater) for each in people.ratings]
    named = [word + (f" ({printable(rater)})" if rater else "") for word, rater in named_points]
    return f"{', '.join(named)}: mean {_points(people.mean)}{_z(people.z)}"


def _side_lines(side: JudgeSide, scale: Scale | None, *, full_text: bool) -> Iterator[tuple[str, str]]:
    name = f"{printable(side.judge)}, {printable(side.eval_prompt)}"
    yield name, "no rating" if side.mean is None else f"mean {_points(side.mean)}{_z(side.z)}"
    same: dict[str, list[str]] = {}
    for repeat in side.repeats:
        rating = _points(repeat.rating, scale) if repeat.rating is not None else str(repeat.status)
        explanation = _short(repeat.explanation, _EXPLANATION, full_text)
        if repeat.repeat is None and not explanation:
            continue  # an imported mean, which the line above has said
        number = "imported" if repeat.repeat is None else f"{repeat.repeat:g}"
        same.setdefault(f"{rating}: {explanation}" if explanation else rating, []).append(number)
    for rating, which in same.items():
        yield f"  repeat {', '.join(which)}", rating


def _z(value: float | None) -> str:
    return "" if value is None else f", z {value:+.2f}"


def _short(text: str | None, limit: int, full_text: bool) -> str:
    line = " ".join(printable(text or "").split())
    return line if full_text or len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
