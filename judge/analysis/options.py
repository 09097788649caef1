"""What can be chosen about a table, as frozen values. Never holds one that the signature does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from judge.errors import SpecError

Coefficient = Literal["kendall", "spearman", "pearson"]
Level = Literal["overall", "system", "by-item", "by-system"]
Interval = Literal["auto", "boot-inputs", "boot-both", "boot-systems", "boot-stories", "fisher-z", "none"]
Engine = Literal["ours", "pingouin"]


@dataclass(frozen=True, slots=True)
class CoverageOptions:
    """Choices of a coverage table; `seed` is for permuted tests where counts are small."""

    drop_systems: tuple[str, ...] = ()
    seed: int = 1


@dataclass(frozen=True, slots=True)
class ConsistencyOptions:
    """Choices of a consistency table."""

    drop_systems: tuple[str, ...] = ()
    engine: Engine = "ours"

    def __post_init__(self) -> None:
        _known("--engine", self.engine, Engine)


@dataclass(frozen=True, slots=True)
class DiagnoseOptions:
    """Choices of a table of diagnostics; `own` names systems that are the judges' own, else names are compared."""

    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    own: tuple[str, ...] = ()
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise SpecError(f"--alpha {self.alpha} must lie between 0 and 1")


@dataclass(frozen=True, slots=True)
class CorrelationOptions:
    """Choices of a correlation table.

    `ci` ``auto`` is Fisher's z for Pearson (overall and system level) and boot-inputs for everything else. `given`
    names a third variable to hold fixed: ``length`` (in words), or a feature that came with an import.
    """

    coefficient: Coefficient = "kendall"
    level: Level = "overall"
    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    ci: Interval = "auto"
    resamples: int = 1000
    seed: int = 1
    control: bool = True
    given: str | None = None

    def __post_init__(self) -> None:
        _known("--coefficient", self.coefficient, Coefficient)
        _known("--level", self.level, Level)
        _known("--ci", self.ci, Interval)
        if self.ci == "fisher-z" and (self.coefficient != "pearson" or self.level not in ("overall", "system")):
            raise SpecError(
                "--ci fisher-z is Fisher's interval for Pearson's r, overall or over systems",
                hint="leave --ci out, or ask for --coefficient pearson",
            )
        if self.given and self.level not in ("overall", "system"):
            raise SpecError(f"--given {self.given} needs --level overall or system, not {self.level}")
        if self.resamples < 1:
            raise SpecError(f"--resamples {self.resamples} must be 1 or more")

    @property
    def interval(self) -> Interval:
        """The interval in force."""
        if self.ci != "auto":
            return self.ci
        fisher = self.coefficient == "pearson" and self.level in ("overall", "system")
        return "fisher-z" if fisher else "boot-inputs"


AnalysisOptions = CoverageOptions | ConsistencyOptions | DiagnoseOptions | CorrelationOptions
_Options = TypeVar("_Options", CoverageOptions, ConsistencyOptions, DiagnoseOptions, CorrelationOptions)


def from_words(kind: type[_Options], **words: Any) -> _Options:
    """Options from a command line's words; raises SpecError for a word that is not known."""
    return kind(**words)


def _known(name: str, value: str, kind: Any) -> None:
    if value not in get_args(kind):
        raise SpecError(f"{name} {value!r} is not known; allowed: {', '.join(get_args(kind))}")
