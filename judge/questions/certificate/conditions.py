"""Conditions of a certificate: floors of statistics, and requirements by name. Values are compared unrounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from judge.base.errors import OptionError, unknown_value

FloorName = Literal["tau", "icc", "coverage", "accuracy"]
RequirementName = Literal["replace", "control", "unbiased"]
FLOORS: tuple[str, ...] = get_args(FloorName)
REQUIREMENTS: tuple[str, ...] = get_args(RequirementName)

# Floor or requirement -> what has to hold.
MEANINGS = {
    "tau": "the lower end of the 95 % interval of Kendall's tau-b with people, over all stories, on every criterion",
    "icc": "the lower end of the 95 % interval of ICC(1,1) over repeats, on every criterion",
    "coverage": "the share of requested repeats that have a rating, on every criterion",
    "accuracy": "the lower end of the 95 % interval of balanced accuracy, on every criterion of labels",
    "replace": "the alternative annotator test is passed on every criterion, standard errors over story-prompts; tau "
    "lies above that of every uninformed judge (chance, the control, the number of words), over all stories and within "
    "systems; and nothing shows that it lies below one more person",
    "control": "the 95 % interval of the paired difference of tau from the control lies above 0 on every criterion",
    "unbiased": "every test of judge diagnose that applies can be made, the 95 % interval of each bias lies within the "
    "limit of its kind, no rater is repeated, and no person's scale runs against the others'",
}

# Share of the requested repeats that need a rating where no floor of coverage is given.
LEAST_RATED = 0.9


@dataclass(frozen=True, slots=True)
class Floor:
    """The statistic `name` is at least `value`: coverage itself, else the lower end of the 95 % interval, so that the
    condition is not met without an interval.
    """

    name: str
    value: float

    @property
    def words(self) -> str:
        """As the user writes it, for example ``tau=0.3``."""
        return f"{self.name}={self.value:g}"


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions that must hold for every certified Eval-Prompt and criterion. A floor of coverage is always among
    them, since every other figure is about the stories that were rated.
    """

    floors: tuple[Floor, ...] = ()
    requirements: tuple[str, ...] = ()

    @classmethod
    def of(cls, floors: Sequence[str], requirements: Sequence[str]) -> Conditions:
        """Conditions from words such as ``tau=0.3`` and ``replace``; without a floor of coverage that of 90 % is added.
        Raises OptionError for unknown words, and if there is no condition.
        """
        parsed = [_floor(words) for words in floors]
        names = [floor.name for floor in parsed]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise OptionError("floor", twice, "is given twice")
        for name in requirements:
            if name not in REQUIREMENTS:
                raise unknown_value("require", name, REQUIREMENTS)
        if not parsed and not requirements:
            raise OptionError(
                "floor", "", "a certificate needs a condition, a floor or a requirement", hint="e.g. tau=0.3"
            )
        if "coverage" not in names:
            parsed.append(Floor("coverage", LEAST_RATED))
        return cls(tuple(parsed), tuple(dict.fromkeys(requirements)))


def _floor(words: str) -> Floor:
    name, _, number = words.partition("=")
    if name not in FLOORS:
        raise unknown_value("floor", name, FLOORS)
    try:
        value = float(number)
    except ValueError:
        raise OptionError("floor", words, "is not NAME=NUMBER", hint="e.g. tau=0.3") from None
    if not -1 <= value <= 1:
        raise OptionError("floor", words, "lies outside -1 to 1: shares and correlations are not in per cent")
    return Floor(name, value)
