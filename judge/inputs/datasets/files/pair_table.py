"""Tables of compared or ranked stories as a dataset of stories and pairs; `SHAPES` lists their forms. A story
without an id gets a hash of story-prompt and text. If the table puts the preferred story first, a pair is ordered by
ids, so that the order does not reveal the preference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from judge.base.errors import DataError, SpecError, nearest, unknown
from judge.base.fingerprint import digest
from judge.base.records import PREFERRED, Pair, Preference, Preferred, Story
from judge.base.wording import Advice
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import is_missing, rating_value, text_value
from judge.inputs.datasets.files.table_file import cell, table_columns, table_rows
from judge.inputs.datasets.files.verdict_codes import WORDS

# Pairs of stories from single preferences. Each occurs once, whoever compared them in whatever order.

# A preference, where the two stories change places.
TURNED: dict[Preferred, Preferred] = {"first": "second", "second": "first", "tie": "tie"}


@dataclass(slots=True)
class _NewPair:
    id: str
    story_prompt: str
    preferences: list[Preference] = field(default_factory=list)


@dataclass(slots=True)
class PairSet:
    """A file's compared pairs, in the order in which each was first added."""

    path: Path
    _made: dict[tuple[str, str], _NewPair] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)

    def add(
        self,
        first: str,
        second: str,
        story_prompt: str,
        preference: Preference | None,
        row: int,
        name: str | None = None,
    ) -> None:
        """Add one comparison of two stories by id. `name` is the pair's id (None = made of the stories' ids). Raises
        DataError for a story compared with itself, another pair with the id, or a person's second preference on a pair
        and criterion."""
        if first == second:
            raise DataError("a story is compared with itself", file=self.path, row=row, found=first)
        if (second, first) in self._made:
            first, second = second, first
            if preference is not None:
                preference = Preference(preference.criterion, TURNED[preference.value], preference.rater)
        pair = self._made.get((first, second))
        if pair is None:
            name = name or f"{first}~{second}"
            if name in self._ids:
                raise DataError("the id is used for another pair too", file=self.path, row=row, column="id", found=name)
            self._ids.add(name)
            pair = self._made[first, second] = _NewPair(name, story_prompt)
        if preference is None:
            return
        judged = {(earlier.criterion, earlier.rater) for earlier in pair.preferences if earlier.rater is not None}
        if (preference.criterion, preference.rater) in judged:
            message = f"rater {preference.rater!r} compared these stories on {preference.criterion} before"
            raise DataError(message, file=self.path, row=row, found=pair.id)
        pair.preferences.append(preference)

    def add_ranking(
        self, places: Sequence[Sequence[str]], story_prompt: str, criterion: str, rater: str | None, row: int
    ) -> None:
        """Add all pairs of a ranking, best first, with tied stories in one inner list. A pair is ordered by ids, which
        does not reveal the ranking."""
        ranked = [(story, rank) for rank, tied in enumerate(places) for story in tied]
        for (better, its), (other, others) in combinations(ranked, 2):
            value: Preferred = "tie" if its == others else "first"
            if better <= other:
                self.add(better, other, story_prompt, Preference(criterion, value, rater), row)
            else:
                self.add(other, better, story_prompt, Preference(criterion, TURNED[value], rater), row)

    def pairs(self) -> Iterator[Pair]:
        """The pairs in the order of their first appearance."""
        for (first, second), pair in self._made.items():
            yield Pair(pair.id, pair.story_prompt, first, second, tuple(pair.preferences))


# Column maps of tables of comparisons, and released formats that are recognised by their columns.

Shape = Literal["chosen", "shown", "lists", "long"]

_SHARED = ("story_prompt", "criterion", "rater")
_SAID = ("missing", "sheet", "labels")
# Shape -> the fields that it needs, and those that it may have.
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

# Forms of released files -> their columns; a table with both stories' columns is read so, where no map is given.
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

_OWN = {"first", "second", "preference", "chosen", "rejected", "texts", "ranks", "rank"}


@dataclass(frozen=True, slots=True)
class PairMap:
    """Checked column map of a table of comparisons: its shape, and fields' columns (or `=constant`)."""

    shape: Shape
    fields: Mapping[str, str]
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    words: Mapping[str, Preferred] = field(default_factory=lambda: WORDS)
    """Word in a cell -> the preference that it means."""


def is_pair_map(columns: Mapping[str, Any] | None) -> bool:
    """Whether a column map describes a table of comparisons between stories."""
    return bool(_OWN & set(columns or {}))


def known_form(present: Sequence[str]) -> str | None:
    """Name of the released format of comparisons that a table with these columns has."""
    if {"text", "system"} <= set(present):
        return None
    for name, fields in FORMS.items():
        if {fields["chosen"], fields["rejected"]} <= set(present):
            return name
    return None


def pair_map(columns: Mapping[str, Any], path: Path) -> PairMap:
    """Complete map; if `columns` is empty, that of a released format. Columns with a field's name are added. Raises
    SpecError for an invalid map, DataError for columns that the table lacks."""
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
    return PairMap(shape, fields, words, sheet, _words(columns.get("labels")))


def _words(labels: object) -> Mapping[str, Preferred]:
    """Preferences by word, from labels as first,second or first,second,tie."""
    if labels is None:
        return WORDS
    given = labels.removeprefix("=").split(",") if isinstance(labels, str) else labels
    words = [" ".join(str(word).casefold().split()) for word in given] if isinstance(given, list) else []
    if len(words) not in (2, 3) or len({*words}) < len(words):
        raise SpecError(f"column map: labels must be first,second or first,second,tie, not {labels!r}")
    return dict(zip(words, PREFERRED, strict=False))


def _shape(fields: Mapping[str, Any]) -> Shape:
    if {"chosen", "rejected"} & set(fields):
        return "chosen"
    if {"first", "second", "preference"} & set(fields):
        return "shown"
    return "lists" if {"texts", "ranks"} & set(fields) else "long"


def _within(column: str) -> str:
    # `chosen.1.content` becomes `chosen.content`, the name in the table's list of columns.
    return ".".join(part for part in column.split(".") if not part.isdigit())


# What was compared, and who wrote the stories, where the table does not say it.
CRITERION, SYSTEM = "Overall", "not named"

_ALLOWED = "first, second, tie (or a, b; 1, 2; model_a, model_b)"


def open_pairs(path: Path, columns: Mapping[str, Any] | None = None, name: str | None = None) -> Dataset:
    """A table of comparisons as a dataset, whose map is checked at once."""
    chosen = pair_map(columns or {}, path)
    return Dataset(
        name=name or path.stem,
        files=(path,),
        stories=partial(read_stories, path, chosen),
        pairs=partial(read_pairs, path, chosen),
        rater_identity=True if "rater" in chosen.fields else None,
        columns=dict(columns or {}),
    )


def read_stories(path: Path, columns: PairMap) -> Iterator[Story]:
    """Every story in a table of comparisons once, ordered by story id."""
    table = _read(path, columns)
    for name in sorted(table.stories):
        yield table.stories[name][1]


def read_pairs(path: Path, columns: PairMap) -> Iterator[Pair]:
    """Every pair once, in the table's order if it says `first` and `second` (shape ``shown``), else in the ids'."""
    pairs = list(_read(path, columns).pairs.pairs())
    yield from pairs if columns.shape == "shown" else sorted(pairs, key=lambda pair: (pair.first, pair.second))


@dataclass(slots=True)
class _Table:
    path: Path
    columns: PairMap
    pairs: PairSet
    # Each story with the row in which it occurs first.
    stories: dict[str, tuple[int, Story]] = field(default_factory=dict)

    def text(self, cells: Mapping[str, Any], name: str, row: int) -> str | None:
        # An empty story-prompt or rater is none.
        column = self.columns.fields.get(name)
        if column is None:
            return None
        value = cell(cells, column)
        if name in ("story_prompt", "rater") and is_missing(value, self.columns.missing):
            return None
        return text_value(self.named(value, column, row), self.path, row, column)

    def named(self, value: Any, column: str, row: int) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, list | Mapping):
            within = f"{column}.{len(value) - 1}.content" if isinstance(value, list) else f"{column}.text"
            side = next((name for name, its in self.columns.fields.items() if its == column), column)
            hint = Advice(
                "where the text is inside another field, give its path, e.g. {columns}", columns={side: within}
            )
            raise DataError("not a text", file=self.path, row=row, column=column, found=value, hint=hint)
        return value

    def story(self, text: str, prompt: str | None, system: str | None, name: str | None, row: int) -> Story:
        # One id, one text, story-prompt and system. `name` None: a hash of story-prompt and text.
        name = name or "s-" + digest("\n\n".join((prompt or "", text)), 6).hex()
        story = Story(name, prompt or "", system or SYSTEM, text)
        first, earlier = self.stories.setdefault(name, (row, story))
        if earlier != story:
            message = f"differs from story {name!r} in row {first}: one id, one text, story-prompt and system"
            raise DataError(message, file=self.path, row=row, found=story.text)
        return earlier


def _read(path: Path, columns: PairMap) -> _Table:
    table = _Table(path, columns, PairSet(path))
    if columns.shape == "long":
        _long(table)
        return table
    for row, cells in table_rows(path, columns.sheet):
        prompt = table.text(cells, "story_prompt", row)
        criterion, rater = table.text(cells, "criterion", row) or CRITERION, table.text(cells, "rater", row)
        if columns.shape == "lists":
            _ranking(table, cells, prompt, criterion, rater, row)
        else:
            _pair(table, cells, prompt, criterion, rater, row)
    return table


def _pair(
    table: _Table, cells: Mapping[str, Any], prompt: str | None, criterion: str, rater: str | None, row: int
) -> None:
    sides = ("chosen", "rejected") if table.columns.shape == "chosen" else ("first", "second")
    first, second = (
        table.story(
            table.text(cells, side, row) or "",
            prompt,
            table.text(cells, f"{side}_system", row),
            table.text(cells, f"{side}_id", row),
            row,
        )
        for side in sides
    )
    value: Preferred | None = "first" if table.columns.shape == "chosen" else _preference(table, cells, row)
    if table.columns.shape == "chosen" and second.id < first.id:
        first, second, value = second, first, "second"
    preferred = None if value is None else Preference(criterion, value, rater)
    table.pairs.add(first.id, second.id, first.story_prompt, preferred, row, table.text(cells, "id", row))


def _preference(table: _Table, cells: Mapping[str, Any], row: int) -> Preferred | None:
    column = table.columns.fields.get("preference")
    value = None if column is None else cell(cells, column)
    if column is None or is_missing(value, table.columns.missing):
        return None
    preferred = table.columns.words.get(" ".join(str(table.named(value, column, row)).casefold().split()))
    if preferred is None:
        allowed = _ALLOWED if table.columns.words is WORDS else ", ".join(table.columns.words)
        hint = (
            None
            if allowed != _ALLOWED
            else Advice("other words, first,second,tie: {columns}", columns={"labels": "=A,B,C"})
        )
        raise DataError(
            "not a preference", file=table.path, row=row, column=column, found=value, allowed=allowed, hint=hint
        )
    return preferred


def _ranking(
    table: _Table, cells: Mapping[str, Any], prompt: str | None, criterion: str, rater: str | None, row: int
) -> None:
    lists = {name: _list(table, cells, name, row) for name in ("texts", "ranks", "ids", "systems")}
    texts, ranks = lists["texts"] or [], lists["ranks"] or []
    for name, values in lists.items():
        if values is not None and len(values) != len(texts):
            message = f"holds {len(values)} entries beside {len(texts)} texts"
            raise DataError(message, file=table.path, row=row, column=table.columns.fields[name], found=values)
    column = table.columns.fields["ranks"]
    ranked: list[tuple[float, str]] = []
    for at, (given, rank) in enumerate(zip(texts, ranks, strict=True)):
        own = {name: None if (values := lists[name]) is None else str(values[at]) for name in ("ids", "systems")}
        text = text_value(given, table.path, row, table.columns.fields["texts"])
        story = table.story(text, prompt, own["systems"], own["ids"], row)
        ranked.append((rating_value(rank, None, table.path, row, column), story.id))
    _add(table, ranked, prompt, criterion, rater, row)


def _list(table: _Table, cells: Mapping[str, Any], name: str, row: int) -> list[Any] | None:
    column = table.columns.fields.get(name)
    if column is None:
        return None
    value = cell(cells, column)
    if not isinstance(value, list):
        raise DataError("not a list", file=table.path, row=row, column=column, found=value)
    return value


def _long(table: _Table) -> None:
    rankings: dict[tuple[str | None, str | None, str], list[tuple[float, str]]] = {}
    rows: dict[tuple[str | None, str | None, str], int] = {}
    column = table.columns.fields["rank"]
    for row, cells in table_rows(table.path, table.columns.sheet):
        prompt = table.text(cells, "story_prompt", row)
        text = table.text(cells, "text", row) or ""
        story = table.story(text, prompt, table.text(cells, "system", row), table.text(cells, "id", row), row)
        value = cell(cells, column)
        if is_missing(value, table.columns.missing):
            continue
        key = (prompt, table.text(cells, "rater", row), table.text(cells, "criterion", row) or CRITERION)
        rank = rating_value(value, None, table.path, row, column)
        if any(name == story.id for _, name in rankings.get(key, ())):
            message = "occurs earlier in this ranking; where several people ranked, a column names the rater"
            raise DataError(message, file=table.path, row=row, column=column, found=story.id)
        rankings.setdefault(key, []).append((rank, story.id))
        rows.setdefault(key, row)
    for key, ranked in rankings.items():
        _add(table, ranked, key[0], key[2], key[1], rows[key])


def _add(
    table: _Table,
    ranked: list[tuple[float, str]],
    prompt: str | None,
    criterion: str,
    rater: str | None,
    row: int,
) -> None:
    # Rank 1 is the best, and stories of equal rank are tied.
    if len({name for _, name in ranked}) < len(ranked):
        raise DataError("a story occurs twice in one ranking", file=table.path, row=row)
    places = [[name for rank, name in ranked if rank == level] for level in sorted({rank for rank, _ in ranked})]
    table.pairs.add_ranking(places, prompt or "", criterion, rater, row)
