"""Computes measures for stories; those with the same texts once. Undefined values come with a reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import orjson

from judge.base.errors import JudgeError, SpecError
from judge.base.fingerprint import fingerprint, text_key
from judge.base.records import Story
from judge.base.sqlite_file import keep, open_cache
from judge.inputs.datasets import locate
from judge.lab.measures import Known
from judge.lab.measures.listing import lacking, versions
from judge.lab.measures.measure import MODELS, Family, Item, Need, Scored, Tools, Undefined, Value

# Cache of computed measure values in one SQLite file, by recipe (a family of measures with its packages and models)
# and by a story's texts. The file may be deleted at any time.

_TABLE = (
    "CREATE TABLE IF NOT EXISTS measured (recipe TEXT, item TEXT, body BLOB, PRIMARY KEY (recipe, item)) WITHOUT ROWID"
)


class Cache:
    """Cache of values by (recipe key, item key), in memory only without a path. The recipe key identifies a family with
    its packages and models, the item key the texts of one story."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._base = open_cache(path, _TABLE)

    def __enter__(self) -> Cache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()

    def get(self, recipe: str) -> dict[str, Scored]:
        """Cached values of one recipe by item key."""
        rows = self._base.execute("SELECT item, body FROM measured WHERE recipe = ?", (recipe,))
        return {key: _unpacked(body) for key, body in rows}

    def put(self, recipe: str, values: Sequence[tuple[str, Scored]]) -> None:
        """Store (item key, values), committed when the method returns."""
        rows = [(recipe, key, _packed(scored)) for key, scored in values]
        keep(self._base, self.path, "INSERT OR REPLACE INTO measured VALUES (?, ?, ?)", rows)


def _packed(scored: Scored) -> bytes:
    values = {
        key: {"why": value.reason} if isinstance(value, Undefined) else value for key, value in scored.values.items()
    }
    return orjson.dumps([values, scored.cut])


def _unpacked(body: bytes) -> Scored:
    values, cut = orjson.loads(body)
    return Scored(
        {key: Undefined(value["why"]) if isinstance(value, dict) else float(value) for key, value in values.items()},
        cut,
    )


OWN_REFERENCE = "the story is its own reference"
EMPTY, NO_REFERENCE, NO_PROMPT = "the text is empty", "there is no reference story", "there is no story-prompt"
NOT_FINITE = "the formula gives no finite number"
# Items between two commits to the cache, of families that take long.
_AT_ONCE = 512

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Values of stories by measure, in the order of `stories`. `cut` counts stories of which a model read only the
    beginning (none: left out). `computed` and `reused` count distinct items, summed over families. `skipped` says what
    a measure lacks here; `versions` are those of the packages used."""

    stories: tuple[Story, ...]
    measures: tuple[Known, ...]
    by_measure: Mapping[str, Sequence[Value]]
    cut: Mapping[str, int]
    computed: int
    reused: int
    skipped: Mapping[str, str]
    versions: Mapping[str, str]


def measured(
    stories: Sequence[Story],
    wanted: Sequence[Known],
    *,
    models: Mapping[Need, str] | None = None,
    cache: Path | None = None,
    skip: bool = False,
    progress: Progress | None = None,
) -> Measured:
    """Values of all stories, kept in `derived/measures.sqlite` in the folder `cache`, or in memory. A measure that
    cannot run here raises a SpecError; with `skip` the result holds the reason instead."""
    models = models or {}
    skipped: dict[str, str] = {}
    for entry in wanted:
        missing = lacking(entry.family, models)
        if missing is not None and not skip:
            raise SpecError(f"measure {entry.measure.name} does not run here", hint=missing)
        if missing is not None:
            skipped[entry.measure.name] = missing
    measures = tuple(entry for entry in wanted if entry.measure.name not in skipped)
    items = [Item.of(story) for story in stories]
    folder = None if cache is None else cache / "derived"
    tools = Tools(
        references=tuple(dict.fromkeys(item.reference for item in items if item.reference.strip())),
        models=models,
        cache=folder,
        wordnet=locate.wordnet_folder(),
        progress=progress,
    )
    with Cache(None if folder is None else folder / "measures.sqlite") as kept:
        computation = _Computation(items, tools, kept)
        values = {entry.measure.name: computation.values(entry) for entry in measures}
    cut = {entry.measure.name: computation.cut(entry.family) for entry in measures}
    return Measured(
        tuple(stories),
        measures,
        values,
        {name: count for name, count in cut.items() if count},
        computation.computed,
        computation.reused,
        skipped,
        {name: number for entry in measures for name, number in versions(entry.family).items()},
    )


class _Computation:
    """Each family is computed once, when its first measure is requested."""

    def __init__(self, items: Sequence[Item], tools: Tools, cache: Cache) -> None:
        self._items, self._tools, self._cache = items, tools, cache
        self._found: dict[str, list[Scored | Undefined]] = {}
        self._keys: dict[Item, str] = {}
        self._own_reference = [_same(item.text, item.reference) for item in items]
        self.computed = self.reused = 0

    def values(self, entry: Known) -> list[Value]:
        scored_items = self._family(entry.family)
        hidden = "reference" in entry.family.needs and not entry.measure.as_published
        return [
            self._value(entry, scored, hidden and own)
            for scored, own in zip(scored_items, self._own_reference, strict=True)
        ]

    def cut(self, family: Family) -> int:
        return sum(isinstance(scored, Scored) and scored.cut for scored in self._family(family))

    @staticmethod
    def _value(entry: Known, scored: Scored | Undefined, own_reference: bool) -> Value:
        if isinstance(scored, Undefined):
            return scored
        if own_reference:
            return Undefined(OWN_REFERENCE)
        value = scored.values[entry.measure.key]
        return Undefined(NOT_FINITE) if isinstance(value, float) and not math.isfinite(value) else value

    def _family(self, family: Family) -> list[Scored | Undefined]:
        if family.name not in self._found:
            self._found[family.name] = self._asked(family)
        return self._found[family.name]

    def _asked(self, family: Family) -> list[Scored | Undefined]:
        recipe = fingerprint([family.name, family.version, versions(family), _identity(family, self._tools)])
        why = [_lacks(item, family.needs) for item in self._items]
        seen = [_seen(item, family.needs) for item in self._items]
        distinct = {self._key(item): item for item, reason in zip(seen, why, strict=True) if reason is None}
        values = {key: value for key, value in self._cache.get(recipe).items() if key in distinct}
        wanted = [key for key in distinct if key not in values]
        self.reused += len(values)
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            fresh = list(zip(some, self._computed(family, [distinct[key] for key in some]), strict=True))
            self._cache.put(recipe, fresh)
            values.update(fresh)
            self.computed += len(fresh)
        return [
            Undefined(reason) if reason is not None else values[self._key(item)]
            for item, reason in zip(seen, why, strict=True)
        ]

    def _computed(self, family: Family, items: Sequence[Item]) -> list[Scored]:
        try:
            return family.score(items, self._tools)
        except JudgeError:
            raise
        except (ArithmeticError, ValueError, LookupError) as error:
            raise SpecError(f"the measures of {family.name} cannot be computed: {error}") from error

    def _key(self, item: Item) -> str:
        if item not in self._keys:
            self._keys[item] = text_key("\x00".join(item))
        return self._keys[item]


def _seen(item: Item, needs: Sequence[Need]) -> Item:
    # Items that agree in the texts that a family uses are computed once.
    if "reference" not in needs:
        item = item._replace(reference="")
    return item if "story-prompt" in needs else item._replace(story_prompt="")


def _lacks(item: Item, needs: Sequence[Need]) -> str | None:
    if not item.text.strip():
        return EMPTY
    if "reference" in needs and not item.reference.strip():
        return NO_REFERENCE
    return NO_PROMPT if "story-prompt" in needs and not item.story_prompt.strip() else None


def _same(text: str, reference: str) -> bool:
    return text.split() == reference.split()


def _identity(family: Family, tools: Tools) -> list[object]:
    """Models and resources on which values depend, besides texts and package versions."""
    parts: list[object] = [family.identity({need: tools.models[need] for need in family.needs if need in MODELS})]
    if family.whole:
        parts.append(fingerprint(list(tools.references)))
    if "wordnet" in family.needs and tools.wordnet is not None:
        parts.append((tools.wordnet / "index.noun").stat().st_size)
    return parts
