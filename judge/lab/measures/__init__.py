"""Automatic measures of stories: the built-in families, those of the entry point `judge.measures`, and named sets.
Measures that depend on abandoned code or on weights without a licence are in `unavailable`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal, NamedTuple

from judge.base.errors import SpecError, unknown
from judge.base.records import Story

# Inputs of a measure beside the text; `corpus` are all reference stories of the dataset.
Need = Literal["reference", "story-prompt", "corpus", "wordnet", "lm", "encoder", "sentence-encoder", "seq2seq", "mlm"]

# Needs that a person names a model for, and what it must be.
MODELS: Mapping[Need, str] = {
    "lm": "a causal language model",
    "encoder": "an encoder whose tokens have vectors",
    "sentence-encoder": "a sentence-transformers model",
    "seq2seq": "an encoder-decoder",
    "mlm": "a masked language model",
}

# Whether more is said to be better, worse, or nothing is said.
Direction = Literal[1, 0, -1]


class Item(NamedTuple):
    """A measure's input for one story; its system and human ratings are withheld on purpose."""

    text: str
    reference: str
    story_prompt: str

    @classmethod
    def of(cls, story: Story) -> Item:
        """A missing reference or story-prompt becomes ""."""
        return cls(story.text, story.reference or "", story.story_prompt)


def ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    """Counts of the runs of `order` tokens."""
    return Counter(zip(*(tokens[i:] for i in range(order)), strict=False))


def _silent(_what: str, _done: int, _total: int) -> None:
    """Progress callback that does nothing."""


@dataclass(frozen=True, slots=True)
class Undefined:
    """Stands in place of a number that is undefined; `reason` says why."""

    reason: str


Value = float | Undefined


@dataclass(frozen=True, slots=True)
class Scored:
    """A story's values by the measures' keys; `cut`: a model read only the beginning of a text."""

    values: Mapping[str, Value]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Tools:
    """Resources beside each story's texts; `references` are the dataset's distinct reference stories. `models` maps a
    need to a model's name; `cache` is for data that can be computed again; `wordnet` is its folder; `progress(what,
    done, total)` is called."""

    references: Sequence[str] = ()
    models: Mapping[Need, str] = field(default_factory=dict)
    cache: Path | None = None
    wordnet: Path | None = None
    progress: Callable[[str, int, int], None] = _silent


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: a column of values.

    `key` is that in the family's values. `direction`: 1 = larger is said to be better, -1 = smaller, 0 = neither.
    `recipe` says how it is computed, precisely enough to reproduce it. `as_published`: it repeats what a study
    released, mistakes included; a story that is its own reference then has the formula's value, and is otherwise
    undefined."""

    name: str
    key: str
    direction: Direction
    recipe: str
    as_published: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """Measures that are computed together; `source` is the publication or program.

    `score` computes distinct items that have all parts in `needs`. The cache key has the versions of `distributions`,
    `version` (raised when values change), `identity` (of the models for the needs) and, if `whole`, all references of
    the dataset, on which values then depend. `extra` is the dependency group with the packages."""

    name: str
    source: str
    measures: tuple[Measure, ...]
    score: Callable[[Sequence[Item], Tools], list[Scored]]
    needs: tuple[Need, ...] = ()
    distributions: tuple[str, ...] = ()
    extra: str = "measures"
    version: int = 1
    identity: Callable[[Mapping[Need, str]], str] = field(default=lambda models: ", ".join(models.values()))
    whole: bool = False


# Modules whose `FAMILIES` are the program's own.
MODULES = (
    "judge.lab.measures.overlap",
    "judge.lab.measures.rouge",
    "judge.lab.measures.meteor",
    "judge.lab.measures.statistics",
    "judge.lab.measures.systems",
    "judge.lab.measures.likelihood",
    "judge.lab.measures.encoders",
)

SETS = ("quick", "hanna", "openmeva", "all")
QUICK = (
    *("bleu", "chrf", "rouge-1-f", "rouge-2-f", "rouge-l-f", "length", "compression", "coverage", "novelty-2"),
    *("repetition-3", "distinct-2", "mattr-50", "mtld", "ari"),
)
# Left out of every set: they take seconds a story, and are asked for by name.
SLOW = frozenset({"ter"})


class Known(NamedTuple):
    """A measure with the family that computes it."""

    family: Family
    measure: Measure


@cache
def families() -> tuple[Family, ...]:
    """Built-in families, then those of plug-ins. Raises SpecError for a plug-in that is not a family."""
    result = [family for module in MODULES for family in import_module(module).FAMILIES]
    for entry in entry_points(group="judge.measures"):
        family = entry.load()
        if not isinstance(family, Family):
            raise SpecError(f"the entry point {entry.name} of judge.measures ({entry.value}) is no Family")
        result.append(family)
    return tuple(result)


def measures_by_name() -> dict[str, Known]:
    """Measures by name. Raises SpecError where two have the same name."""
    by_name: dict[str, Known] = {}
    for family in families():
        for measure in family.measures:
            if measure.name in by_name:
                raise SpecError(f"two measures are called {measure.name}: of {by_name[measure.name].family.name} too")
            by_name[measure.name] = Known(family, measure)
    return by_name


def named(names: Sequence[str]) -> list[Known]:
    """Measures with the given names, and those of named `SETS`, each once. Raises SpecError for an unknown name."""
    there = measures_by_name()
    for name in names:
        if name not in there and name not in SETS:
            raise SpecError(unknown("measure", name, [*SETS, *there]), hint="judge measures")
    sets = (of_set(name) for name in names if name in SETS)
    chosen = [*(known for of_one in sets for known in of_one), *(there[name] for name in names if name not in SETS)]
    return list({known.measure.name: known for known in chosen}.values())


def of_set(name: str) -> list[Known]:
    """The measures of one of the `SETS`, in order."""
    there = [entry for entry in measures_by_name().values() if entry.measure.name not in SLOW]
    if name == "all":
        return there
    if name == "quick":
        return [entry for entry in there if entry.measure.name in QUICK]
    return [entry for entry in there if entry.measure.name.endswith(f"-{name}")]
