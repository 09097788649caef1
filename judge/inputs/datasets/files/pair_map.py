"""Column maps of tables of comparisons, and released formats that are recognised by their columns.

In addition to `story_prompt, criterion, rater, missing, sheet`, a map of comparisons has the fields of one of these
shapes:

- ``chosen, rejected``: one row a pair, with the preferred story first. `chosen_id`, `chosen_system` and the like are
  optional.
- ``first, second, preference``: one row a pair in the order shown. `preference` (optional) holds first, second or tie
  (also a, b; 1, 2; model_a, model_b); an empty cell = no preference. `id` is the id of the pair, `first_id` and
  `first_system` are id and system of the first story; `second` has the same.
- ``texts, ranks``: one row a ranking of several stories, as two lists of equal length. Rank 1 is the best, and equal
  ranks are ties. `ids` and `systems` are optional lists with the stories' ids and systems.
- ``text, rank``: one row a story of a ranking. Rows with the same story-prompt, rater and criterion form one
  ranking. `id` and `system` are id and system of the story.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judge.base.errors import DataError, SpecError, nearest, unknown
from judge.inputs.datasets.files.table_file import table_columns

Shape = Literal["chosen", "shown", "lists", "long"]

_SHARED = ("story_prompt", "criterion", "rater")
_SAID = ("missing", "sheet")
SHAPES: Mapping[Shape, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "chosen": (
        ("chosen", "rejected"),
        tuple(f"{side}{of}" for side in ("chosen", "rejected") for of in ("_id", "_system")),
    ),
    "shown": (
        ("first", "second"),
        ("preference", "id", *(f"{side}{of}" for side in ("first", "second") for of in ("_id", "_system"))),
    ),
    "lists": (("texts", "ranks"), ("ids", "systems")),
    "long": (("text", "rank"), ("id", "system")),
}
"""Shape -> the fields that it needs, and those that it may have."""

FORMS: Mapping[str, Mapping[str, str]] = {
    "LitBench": {
        "chosen": "chosen_story",
        "rejected": "rejected_story",
        "story_prompt": "prompt",
        "chosen_id": "chosen_comment_id",
        "rejected_id": "rejected_comment_id",
    },
    "WritingPreferenceBench": {"chosen": "chosen.text", "rejected": "rejected.text", "story_prompt": "prompt"},
    "chosen/rejected": {"chosen": "chosen", "rejected": "rejected", "story_prompt": "prompt"},
}
"""Forms of released files -> their columns; a table with both stories' columns is read so, where no map is given."""

_OWN = {"first", "second", "preference", "chosen", "rejected", "texts", "ranks", "rank"}
_NAMES: Mapping[str, tuple[str, ...]] = {
    "chosen": ("chosen", "chosenstory", "chosentext", "chosenresponse", "preferred", "winner", "better", "higher"),
    "rejected": ("rejected", "rejectedstory", "rejectedtext", "rejectedresponse", "loser", "worse", "lower"),
    "first": ("first", "storya", "texta", "responsea", "story1", "text1", "response1", "output1", "firststory"),
    "second": ("second", "storyb", "textb", "responseb", "story2", "text2", "response2", "output2", "secondstory"),
    "preference": ("preference", "preferred", "winner", "choice", "label", "verdict"),
    "texts": ("texts", "stories", "responses", "outputs"),
    "ranks": ("ranks", "ranking", "rankings"),
    "story_prompt": ("storyprompt", "prompt", "writingprompt", "instruction", "premise"),
}
"""Field -> names that files give it, in small letters without marks."""


@dataclass(frozen=True, slots=True)
class PairMap:
    """Checked column map of a table of comparisons: the table's shape, and the column (or `=constant`) of each
    field.
    """

    shape: Shape
    fields: Mapping[str, str]
    missing: tuple[str, ...] = ()
    sheet: str | None = None


def is_pair_map(columns: Mapping[str, Any] | None) -> bool:
    """Whether a column map describes a table of comparisons between stories."""
    return bool(_OWN & set(columns or {}))


def known_form(present: Sequence[str]) -> str | None:
    """Name of the released format of comparisons that a table with these columns has; None if it has none of them."""
    if {"text", "system"} <= set(present):
        return None
    for name, fields in FORMS.items():
        if {fields["chosen"], fields["rejected"]} <= set(present):
            return name
    return None


def pair_map(columns: Mapping[str, Any], path: Path) -> PairMap:
    """Complete column map of a table of comparisons. If `columns` is empty, it is the map of a released format that the
    table's columns identify. Columns with the name of a field are added.

    Raises SpecError for a map that is invalid for any table, and DataError for columns that this table lacks.
    """
    sheet = columns.get("sheet")
    sheet = str(sheet).removeprefix("=") if sheet else None
    missing = columns.get("missing") or ()
    words = tuple(str(missing).removeprefix("=").split(",")) if isinstance(missing, str) else tuple(map(str, missing))
    present = table_columns(path, sheet)
    given_fields = {key: value for key, value in columns.items() if key not in _SAID}
    form = known_form(present)
    if not given_fields and form is not None:
        given_fields = {field: column for field, column in FORMS[form].items() if column in present}
    shape = _shape(given_fields)
    needed, more = SHAPES[shape]
    for key, value in given_fields.items():
        if key not in (*needed, *more, *_SHARED):
            raise SpecError(unknown("column map field", key, [*needed, *more, *_SHARED, *_SAID]))
        if not isinstance(value, str) or not value:
            raise SpecError(f"column map: {key} must name a column, not {value!r}")
    fields = {name: name for name in (*needed, *more, *_SHARED) if name in present} | given_fields
    for name, column in fields.items():
        if not column.startswith("=") and column not in present and _within(column) not in present:
            raise DataError(unknown("column", column, present) + f", wanted as {name}", file=path)
    for name in needed:
        if name not in fields:
            close = nearest(name, present)
            guess = f"; did you mean column {close!r}?" if close else ""
            raise DataError(f"the map names no column for {name}{guess}", file=path, found=", ".join(present))
    return PairMap(shape, fields, words, sheet)


def _shape(fields: Mapping[str, Any]) -> Shape:
    if {"chosen", "rejected"} & set(fields):
        return "chosen"
    if {"first", "second", "preference"} & set(fields):
        return "shown"
    return "lists" if {"texts", "ranks"} & set(fields) else "long"


def _within(column: str) -> str:
    """A column's name without positions in lists: `chosen.1.content` becomes `chosen.content`, the name in the table's
    list of columns.
    """
    return ".".join(part for part in column.split(".") if not part.isdigit())


def proposal(present: Sequence[str]) -> dict[str, str] | None:
    """A column map of comparisons guessed from the columns' names, for the user to check. None if the names do not
    suggest all columns that a table of pairs or of rankings needs.
    """
    bare = {"".join(c for c in column.lower() if c.isalnum()): column for column in reversed(present)}

    def named(field: str) -> str | None:
        return next((bare[name] for name in _NAMES[field] if name in bare), None)

    for needed in (("chosen", "rejected"), ("first", "second", "preference"), ("texts", "ranks")):
        columns = {field: column for field in needed if (column := named(field)) is not None}
        if len(columns) == len(needed):
            prompt = named("story_prompt")
            return columns | ({"story_prompt": prompt} if prompt else {})
    return None
