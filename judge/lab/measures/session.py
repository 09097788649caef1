"""Computes measures for stories; those with the same texts once. Undefined values come with a reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import JudgeError, SpecError, install_command
from judge.base.fingerprint import fingerprint, text_key
from judge.base.printing.tables import Column, Table
from judge.base.records import Story
from judge.base.sqlite_file import KeyedCache
from judge.base.wording import Advice, joined
from judge.inputs.datasets.locate import wordnet_folder
from judge.inputs.wordnet import HINT
from judge.lab.measures import (
    MODELS,
    SLOW,
    Family,
    Item,
    Known,
    Need,
    Scored,
    Tools,
    Undefined,
    Value,
    measures_by_name,
)
from judge.version import __version__

# The table of measures: what each needs, how it is computed, and whether it is available here.

# Checks whether each automatic measure can be computed on this machine, and what it lacks otherwise.


def versions(family: Family) -> dict[str, str]:
    """Versions of the installed packages with which a family computes."""
    numbers = {}
    for name in family.distributions:
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            continue
    return numbers


def lacking(family: Family, models: Mapping[Need, str]) -> str | None:
    """Advice on packages, files and models that a family still needs; None where nothing is missing."""
    there = versions(family)
    absent = [name for name in family.distributions if name not in there]
    parts: list[str] = []
    if absent:
        parts.append(install_command(family.extra))
    if "wordnet" in family.needs and wordnet_folder() is None:
        parts.append(f"WordNet 3.0: {HINT}")
    parts += [
        Advice("{model} (" + MODELS[need] + ")", model=f"{need}=PATH")
        for need in family.needs
        if need in MODELS and need not in models
    ]
    if not parts:
        return None
    return joined(parts[0], *(piece for part in parts[1:] for piece in ("; ", part)))


# Measures of published studies that this program cannot compute, with the reasons.

_REMEDY = "their numbers, made elsewhere: judge import FILE"
# Measure -> why it is not among those that run.
UNAVAILABLE: Mapping[str, str] = {
    "METEOR 1.5": "needs Java and a table of paraphrases of 61 MB",
    "MoverScore": "its package does not import (an undeclared dependency)",
    "BaryScore, DepthScore": "their authors' code has no licence",
    "ROUGE-WE, S3, SummaQA, SUPERT": "their package needs abandoned packages, word vectors and pickled models",
    "BLANC": "its package needs numpy and PyTorch of before 2024; BLANC-Tune trains a model for each story",
    "QuestEval, CTC, AlignScore": "their packages pin transformers of before 2023",
    "UNION, RUBER": "need TensorFlow 1, and weights trained for each data set; the control judge stands in",
    "BLEURT, UniEval, StoryER's ranker, GRUEN": "no package brings their weights",
    "G-Eval, Prometheus": "are judges: judge run",
}


def reason(name: str) -> str:
    """Why a measure is not computed, and what to do instead."""
    why = UNAVAILABLE[name]
    return why if why.startswith("are judges") else f"{why}; {_REMEDY}"


_DIRECTIONS = {1: "higher is better", -1: "lower is better", 0: "-"}
NOTES = (
    "a story that is its own reference has no value of a measure that uses the reference",
    "measures that repeat a study (-hanna, -openmeva) give the number of the study's file, also there",
    "sets: quick, hanna and openmeva (what those studies used), all",
)


def measure_tables(models: Mapping[Need, str]) -> list[Table]:
    """The measures of this program, and those of published studies that it does not compute, with the reasons."""
    rows = [_row(entry, models) for entry in measures_by_name().values()]
    columns = [
        Column("measure", "measure"),
        Column("needs", "needs", wrap=16),
        Column("direction", "direction"),
        Column("recipe", "recipe", wrap=46),
        Column("source", "source", wrap=30),
        Column("here", "runs here", wrap=30),
    ]
    others = [{"measure": name, "why": reason(name)} for name in UNAVAILABLE]
    why = [Column("measure", "measure", wrap=30), Column("why", "why not", wrap=70)]
    signature = f"v{__version__}"
    return [
        Table("Measures", columns, rows, signature, NOTES),
        Table("Measures that are not computed", why, others, signature, ()),
    ]


def _row(entry: Known, models: Mapping[Need, str]) -> dict[str, Any]:
    missing = lacking(entry.family, models)
    return {
        "measure": entry.measure.name,
        "needs": ", ".join(entry.family.needs) or "text",
        "direction": _DIRECTIONS[entry.measure.direction],
        "recipe": entry.measure.recipe,
        "source": entry.family.source,
        "here": ("by name only: it is slow" if entry.measure.name in SLOW else "yes") if missing is None else missing,
    }


# Cache of computed measure values in one SQLite file, by recipe (a family of measures with its packages and models)
# and by a story's texts. The file may be deleted at any time.


class Cache(KeyedCache):
    """Cache of values by (recipe key, item key), in memory only without a path. The recipe key identifies a family with
    its packages and models, the item key the texts of one story."""

    table = ("measured", "recipe", "item", "body")

    def get(self, recipe: str) -> dict[str, Scored]:
        """Cached values of one recipe by item key."""
        rows = self._base.execute("SELECT item, body FROM measured WHERE recipe = ?", (recipe,))
        return {key: _unpacked(body) for key, body in rows}

    def put(self, recipe: str, values: Sequence[tuple[str, Scored]]) -> None:
        """Store (item key, values), committed when the method returns."""
        self.keep(recipe, ((key, _packed(scored)) for key, scored in values))


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
        wordnet=wordnet_folder(),
        **({} if progress is None else {"progress": progress}),
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
        self._own_reference = [item.text.split() == item.reference.split() for item in items]
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


def _identity(family: Family, tools: Tools) -> list[object]:
    """Models and resources on which values depend, besides texts and package versions."""
    parts: list[object] = [family.identity({need: tools.models[need] for need in family.needs if need in MODELS})]
    if family.whole:
        parts.append(fingerprint(list(tools.references)))
    if "wordnet" in family.needs and tools.wordnet is not None:
        parts.append((tools.wordnet / "index.noun").stat().st_size)
    return parts
