"""Disagreements as people read them: a list, then each story with its texts. Never shortens what goes to JSON.

Stories, story-prompts and explanations are data: they are printed as text, on lines of their own, with control
characters and markup escaped.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge.analysis.disagreements.disagreements import PEOPLE, Found, find
from judge.analysis.options.signature import signature
from judge.analysis.options.table_options import DisagreementsOptions
from judge.printing.tables import Column, Table, printable
from judge.stats import near_ties

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

_WIDTH = 100
_STORY, _EXPLANATION, _PROMPT = 400, 200, 200
"""Characters shown of a text unless all of it is asked for."""

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


def tables(
    table: RatingsTable, options: DisagreementsOptions | None = None, *, form: str = "table", full_text: bool = False
) -> list[Table]:
    """The list of disagreements and, for people, one table a story with its texts.

    JSON gets one table with all texts, ratings and explanations whole; CSV and LaTeX the list alone, CSV with the text
    (shortened unless `full_text`).
    """
    options = options or DisagreementsOptions()
    found = find(table, options)
    line = signature(table, found.matrices, options)
    notes = [f"difference: {_WHAT[options.between]}, among {found.stories} stories; {_UNIT[options.between]}"]
    notes.append(
        "each story once, where it differs most" if options.top else "every story, judge, prompt and criterion"
    )
    notes += [*(note for fact in table.facts for note in fact.notes), *found.notes]
    notes = list(dict.fromkeys(notes))
    title = f"Largest differences between {options.between if options.between != 'people' else 'judge and people'}"
    if form == "json":
        names = list(found.rows[0]) if found.rows else []
        return [Table(title, [Column(name, name) for name in names], found.rows, line, notes)]
    several = len(found.matrices) > 1
    listed = _list(title, found, several, with_text=form == "csv", full_text=full_text)
    listed = Table(listed.title, listed.columns, listed.rows, line, notes)
    if form in ("csv", "latex"):
        return [listed]
    signed = options.between == "people"
    return [listed, *(_card(row, signed, full_text=full_text, wrap=form == "table") for row in found.rows)]


def _list(title: str, found: Found, several: bool, *, with_text: bool, full_text: bool) -> Table:
    rows = []
    for row in found.rows:
        flat = {key: row[key] for key in ("rank", "dataset", "judge", "eval_prompt", "criterion", "difference", "raw")}
        flat |= {key: printable(str(row[key] or "")) or None for key in ("story", "system")}
        flat |= {"people": _people(row["people"]), "ratings": _sides(row)}
        if with_text:
            flat |= {"story_prompt": _short(row["story_prompt"], _PROMPT, full_text)}
            flat |= {"text": _short(row["text"], _STORY, full_text)}
        rows.append(flat)
    columns = [Column("rank", "#")]
    columns += [Column("dataset", "dataset")] if several else []
    columns += [Column("story", "story"), Column("system", "system"), Column("criterion", "criterion")]
    for key, name in (("judge", "judge"), ("eval_prompt", "eval prompt")):
        columns += [Column(key, name)] if any(row[key] for row in rows) else []
    columns += [Column("people", "people"), Column("ratings", "judge")]
    columns += [Column("difference", "difference, z"), Column("raw", "in points")]
    columns += [Column("story_prompt", "story-prompt"), Column("text", "text")] if with_text else []
    return Table(title, columns, rows, "")


def _people(people: Mapping[str, Any] | None) -> str | None:
    if people is None or not people["ratings"]:
        return None
    return _mean_of(people["mean"], [rating["rating"] for rating in people["ratings"]])


def _sides(row: Mapping[str, Any]) -> str:
    """The judge's mean and repeats; where several are compared, each one's mean by name."""
    sides = row["sides"]
    if len(sides) == 1:
        return _mean_of(sides[0]["mean"], [repeat["rating"] for repeat in sides[0]["repeats"]])
    key = "judge" if row["judge"] is None else "eval_prompt"
    rated = [side for side in sides if side["mean"] is not None]
    ordered = (rated[i] for i in near_ties.descending([float(side["mean"]) for side in rated]))
    return ", ".join(f"{printable(side[key])} {_points(side['mean'])}" for side in ordered)


def _mean_of(mean: float | None, ratings: Sequence[float | None]) -> str:
    """`2.3 (2 2 3)`; a repeat without a rating is a dash; a single rating stands alone."""
    if len(ratings) == 1 or mean is None:
        return _points(mean)
    return f"{_points(mean)} ({' '.join(_points(rating) for rating in ratings)})"


def _points(value: float | None) -> str:
    return "—" if value is None else f"{round(value, 2):g}"


def _card(row: Mapping[str, Any], signed: bool, *, full_text: bool, wrap: bool) -> Table:
    """One story with everything that was said about it."""
    parts = [
        ("story-prompt", _short(row["story_prompt"], _PROMPT, full_text)),
        ("story", _short(row["text"], _STORY, full_text)),
        (PEOPLE, _people_line(row["people"])),
        *(part for side in row["sides"] for part in _side_lines(side, full_text=full_text)),
    ]
    made: list[dict[str, str]] = []
    for what, text in parts:
        if text:
            lines = textwrap.wrap(text, _WIDTH, break_on_hyphens=False) if wrap else [text]
            made += [{"what": what if k == 0 else "", "text": line} for k, line in enumerate(lines)]
    size = f"{row['difference']:+.2f}" if signed else f"{row['difference']:.2f}"
    title = f"{row['rank']}. {row['story']} ({row['system']}), {row['criterion']}, {size} z"
    return Table(title, [Column("what", ""), Column("text", "", text=True)], made, "")


def _people_line(people: Mapping[str, Any] | None) -> str | None:
    if people is None or not people["ratings"]:
        return None
    named = [
        _points(rating["rating"]) + (f" ({printable(rating['rater'])})" if rating["rater"] else "")
        for rating in people["ratings"]
    ]
    return f"{', '.join(named)}: mean {_points(people['mean'])}{_z(people['z'])}"


def _side_lines(side: Mapping[str, Any], *, full_text: bool) -> Iterator[tuple[str, str]]:
    name = f"{printable(side['judge'])}, {printable(side['eval_prompt'])}"
    if side["mean"] is None:
        yield name, "no rating"
    else:
        yield name, f"mean {_points(side['mean'])}{_z(side['z'])}"
    same: dict[str, list[str]] = {}
    for repeat in side["repeats"]:
        said = _points(repeat["rating"]) if repeat["rating"] is not None else repeat["status"]
        explanation = _short(repeat["explanation"], _EXPLANATION, full_text)
        if repeat["repeat"] is None and not explanation:
            continue  # an imported mean, which the line above has said
        number = "imported" if repeat["repeat"] is None else f"{repeat['repeat']:g}"
        same.setdefault(f"{said}: {explanation}" if explanation else said, []).append(number)
    for said, which in same.items():
        yield f"  repeat {', '.join(which)}", said


def _z(value: float | None) -> str:
    return "" if value is None else f", z {value:+.2f}"


def _short(text: str | None, limit: int, full_text: bool) -> str:
    line = " ".join(printable(text or "").split())
    return line if full_text or len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
