"""Automatic measures of stories: the built-in families, those of the entry point `judge.measures`, and named sets.
Measures that depend on abandoned code or on weights without a licence are in `unavailable`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Literal, NamedTuple, get_args

from judge.base.errors import OptionError, SpecError, unknown
from judge.lab.measures.measure import Family, Measure

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

MeasureSet = Literal["quick", "hanna", "openmeva", "all"]
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
    """Measures with the given names, each once. Raises SpecError for an unknown name."""
    there = measures_by_name()
    for name in names:
        if name not in there:
            raise SpecError(unknown("measure", name, there), hint="judge measures")
    return [there[name] for name in dict.fromkeys(names)]


def of_set(name: str) -> list[Known]:
    """The measures of a set (such as "quick" or "all"), in order. Raises OptionError for an unknown set."""
    if name not in get_args(MeasureSet):
        raise OptionError("set", name, allowed=get_args(MeasureSet))
    there = [entry for entry in measures_by_name().values() if entry.measure.name not in SLOW]
    if name == "all":
        return there
    if name == "quick":
        return [entry for entry in there if entry.measure.name in QUICK]
    return [entry for entry in there if entry.measure.name.endswith(f"-{name}")]
