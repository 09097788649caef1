"""Options of the tables, as immutable values; the signature lists each option that can change a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from os import PathLike
from typing import Any, ClassVar, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from judge.analysis.options.choices import INTERVALS, LEVELS, BothInterval, IntervalMethod, Level, NamedInterval, Unit
from judge.base.choices import RESAMPLES
from judge.base.errors import OptionError, SpecError, unknown
from judge.base.wording import Advice
from judge.stats.correlation.coefficients import COEFFICIENTS, Coefficient

Interval = Literal["auto", "boot-inputs", "boot-both", "boot-systems", "boot-stories", "fisher-z", "none"]
Readings = Literal["mean", "single"]
IntervalKind = Literal["auto", "expanded", "percentile", "bca", "calibrated"]
Engine = Literal["ours", "pingouin"]
# Option -> another option, and the values of that one with which it has no effect.
Idle = Mapping[str, tuple[str, tuple[object, ...]]]

MeanInterval = Literal["clustered", "as-published", "boot"]
Family = Literal["cell", "table"]
Between = Literal["people", "repeats", "eval-prompts", "judges"]
NamedCombiner = Literal["mean", "median", "calibrated", "weighted", "ridge", "ordinal", "stack"]
Combiner = Literal["auto", NamedCombiner]
Calibration = Literal["linear", "isotonic", "ordinal"]
Calibrate = Literal["none", "linear", "isotonic", "ordinal"]
PairTies = Literal["davidson", "half", "left-out"]
CriteriaInterval = Literal["boot-inputs", "none"]
RepeatsInterval = Literal["boot-inputs", "none"]
HeldOut = Literal["story-prompt", "system"]
JuryInterval = Literal["boot-inputs", "boot-both", "none"]
Factor = Literal["eval_prompt", "judge", "structured", "parser", "run"]
ContrastLevel = Literal["overall", "system"]
Adjustment = Literal["bh", "by", "holm", "none"]
Swap = Literal["auto", Unit]


# A third variable: the stories' words; and that none is wanted, not even beside measures.
LENGTH, NOTHING_GIVEN = "length", "none"


# Option -> whether a value is allowed, and the complaint about one that is not.
Bounds = Mapping[str, tuple[Callable[[Any], bool], str]]
ABOVE_0: tuple[Callable[[Any], bool], str] = (lambda value: value > 0, "must be above 0")
SHARE: tuple[Callable[[Any], bool], str] = (lambda value: 0 < value < 1, "must lie between 0 and 1")
BOUNDS: Bounds = {
    **dict.fromkeys(("alpha", "half_width", "difference", "reliability"), SHARE),
    **dict.fromkeys(("points", "equivalence"), ABOVE_0),
    "power": (lambda value: 0.5 <= value < 1, "must be at least 0.5 and below 1"),
    "epsilon": (lambda value: 0 <= value <= 1, "must lie between 0 and 1: it is a share of stories"),
    "predict": (lambda value: 0 < value < 1, "must lie between 0 and 1: it is a coverage"),
    "carry_over": (lambda value: value > 0, "must be above 0: it is an error in points"),
    "bootstraps": (lambda value: value >= 0, "must be 1 or more"),
    "bins": (lambda value: 2 <= value <= 20, "must be 2 to 20"),
    "rater_price": (lambda value: value >= 0, "must be 0 or more: it is dollars for one rating"),
}


class Options:
    """Base of the options of a table. A field that is a `Literal` takes its words only; the least numbers in `LEAST`
    and the bounds in `BOUNDS` go by the names of fields, `OWN_BOUNDS` are those of one table. None is always allowed.
    """

    __slots__ = ()

    IDLE: ClassVar[Idle] = {}
    LEAST: ClassVar[Mapping[str, int]] = {
        **dict.fromkeys(("resamples", "permutations", "flips", "foldings", "min_members", "window", "stride"), 1),
        **dict.fromkeys(("prompts", "repeats"), 1),
        **dict.fromkeys(("folds", "rated"), 2),
    }
    OWN_BOUNDS: ClassVar[Bounds] = {}

    def __post_init__(self) -> None:
        bounds = {**BOUNDS, **self.OWN_BOUNDS}
        for name, hint in _hints(type(self)).items():  # type: ignore[arg-type]  # classes are hashable
            value = getattr(self, name)
            if get_origin(hint) is Literal and value not in get_args(hint):
                raise OptionError(name, value, allowed=get_args(hint))
            if value is None:
                continue
            if name in self.LEAST and value < self.LEAST[name]:
                raise OptionError(name, value, f"must be {self.LEAST[name]} or more")
            if name in bounds and not bounds[name][0](value):
                raise OptionError(name, value, bounds[name][1])
        self.check()

    def check(self) -> None:
        """Raise SpecError for what the fields' types and bounds do not say."""


class Resampled(Options):
    """Options of a table with intervals from resamples, of which without intervals none are drawn."""

    __slots__ = ()

    IDLE: ClassVar[Idle] = {"resamples": ("ci", ("none",)), "seed": ("ci", ("none",))}

    @property
    def interval(self) -> NamedInterval:
        """The interval that the option `ci` names."""
        return self.ci  # type: ignore[attr-defined, no-any-return]  # a field of every subclass


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@dataclass(frozen=True, slots=True)
class CoverageOptions(Options):
    """Choices of a coverage table; `seed` is used for permutation tests where counts are small."""

    drop_systems: tuple[str, ...] = ()
    seed: int = 1


@dataclass(frozen=True, slots=True)
class ConsistencyOptions(Options):
    """Choices of a table of consistency over repeats; `engine` computes the ICC."""

    drop_systems: tuple[str, ...] = ()
    engine: Engine = "ours"


@dataclass(frozen=True, slots=True)
class DistributionOptions(Options):
    """Choices of a table of how often each rating was given."""

    drop_systems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiagnoseOptions(Options):
    """Choices of a table of diagnostic tests, at level `alpha`. `own` names systems of the judges' models, for
    self-preference; if empty, systems are matched by name.  `no_own` states that there are none."""

    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    own: tuple[str, ...] = ()
    alpha: float = 0.05
    no_own: bool = False

    def check(self) -> None:
        if self.own and self.no_own:
            raise OptionError("no_own", self.no_own, f"contradicts own={', '.join(self.own)}")


@dataclass(frozen=True, slots=True)
class ComponentsOptions(Options):
    """Choices of variance components and of the D-study (decision study); `target` is the reliability aimed at."""

    drop_systems: tuple[str, ...] = ()
    target: float = 0.8
    seed: int = 1

    def check(self) -> None:
        if not 0 < self.target < 1:
            raise OptionError("target", self.target, "is not a reliability", hint="give a number between 0 and 1")


@dataclass(frozen=True, slots=True)
class CorrelationOptions(Options):
    """Choices of a correlation table. `ci` ``auto`` is ``boot-inputs``; `method` describes `interval_kind` ``auto``.
    `given` names a third variable to hold fixed: ``length`` (in words), or a feature from an import. With automatic
    measures as judges, length is held fixed by default, and ``none`` turns this off. `readings` of a judge are compared
    with one person's: the ``mean`` of its repeats, or each ``single`` repeat, averaged over repeats. The judge's own
    correlation always uses the mean."""

    IDLE: ClassVar[Idle] = {"resamples": ("ci", ("none",)), "interval_kind": ("ci", ("none", "fisher-z"))}

    coefficient: Coefficient = "kendall"
    level: Level = "overall"
    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    ci: Interval = "auto"
    resamples: int = RESAMPLES
    seed: int = 1
    control: bool = True
    given: str | None = None
    interval_kind: IntervalKind = "auto"
    readings: Readings = "mean"

    def check(self) -> None:
        averaged = LEVELS[self.level].grouping == "within"
        if INTERVALS[self.interval].fisher and (averaged or not COEFFICIENTS[self.coefficient].fisher):
            raise SpecError(
                Advice("{ci} is Fisher's interval for Pearson's r, overall or over systems", ci="fisher-z"),
                hint=Advice("leave {ci} out, or ask for {coefficient}", coefficient="pearson"),
            )
        if self.interval_kind == "calibrated" and (self.ci != "boot-both" or self.level != "overall"):
            raise SpecError(
                Advice(
                    "{interval_kind} draws in what {ci} counts thrice, over all stories",
                    interval_kind="calibrated",
                    ci="boot-both",
                ),
                hint=Advice("add {ci}, or take {interval_kind}", ci="boot-both", interval_kind="bca"),
            )
        if self.given not in (None, NOTHING_GIVEN) and averaged:
            words = "{given} needs {level} overall or system, not {}"
            raise SpecError(Advice(words, self.level, given=self.given))

    @property
    def interval(self) -> NamedInterval:
        return "boot-inputs" if self.ci == "auto" else self.ci

    @property
    def method(self) -> IntervalMethod:
        """How resampled values give an interval; ``auto`` is resolved. Over means of fixed systems: true means
        (`judge.stats.resampling.true_means`). Where systems and story-prompts are both resampled: calibrated or BCa,
        whose coverage is near 95 % according to `judge.stats.resampling.bootstrap_intervals`. Over means of resampled
        systems: plain percentiles, which are wide enough. Otherwise: expanded percentiles."""
        if self.interval_kind != "auto":
            return self.interval_kind
        level, resampled = LEVELS[self.level], INTERVALS[self.interval].resampled
        if len(resampled) > 1:
            return level.both
        return level.new_systems if "systems" in resampled else level.fixed_systems


@dataclass(frozen=True, slots=True)
class RepeatsOptions(Resampled):
    """Choices of tables about repeats; subsets of repeats are drawn with `seed`."""

    IDLE: ClassVar[Idle] = {"resamples": ("ci", ("none",))}

    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    ci: RepeatsInterval = "boot-inputs"
    resamples: int = RESAMPLES
    seed: int = 1


@dataclass(frozen=True, slots=True)
class SystemsOptions(Options):
    """Choices of a table of systems. `mean_interval` is for means; intervals of ranks always come from resamples of
    story-prompts, and differences between systems are always paired. `holm_over` is the family over which p is
    adjusted: the pairs of systems of one rater and criterion (``cell``), or those of the whole table."""

    drop_systems: tuple[str, ...] = ()
    mean_interval: MeanInterval = "clustered"
    holm_over: Family = "cell"
    resamples: int = RESAMPLES
    seed: int = 1


@dataclass(frozen=True, slots=True)
class CriteriaOptions(Resampled):
    """Choices of a table about criteria: correlations between criteria, halo and use of the scale."""

    drop_systems: tuple[str, ...] = ()
    ci: CriteriaInterval = "boot-inputs"
    resamples: int = RESAMPLES
    seed: int = 1


@dataclass(frozen=True, slots=True)
class AspectsOptions(Resampled):
    """Choices of a table that compares judges with readers on which aspects of a story stand out."""

    ci: CriteriaInterval = "boot-inputs"
    resamples: int = RESAMPLES
    seed: int = 1


@dataclass(frozen=True, slots=True)
class RankOptions(Options):
    """Choices of the tables of preferences. `ties` count in the fit of strengths as a separate outcome (Davidson's
    model), as half a win for both, or not at all. Intervals of strengths are clustered by story-prompt or, if above 0,
    by `bootstraps` resamples of these. `seed` is used for resamples and for the control's folds."""

    drop_systems: tuple[str, ...] = ()
    ties: PairTies = "davidson"
    bootstraps: int = 0
    seed: int = 1
    control: bool = True


@dataclass(frozen=True, slots=True)
class DisagreementsOptions(Options):
    """Choices of a list of the stories on which ratings differ most: of judges and people, or of repeats, Eval-Prompts
    or judges with each other. `top` 0 lists all."""

    OWN_BOUNDS: ClassVar[Bounds] = {"top": (lambda value: value >= 0, "must be 0 (all) or more")}

    drop_systems: tuple[str, ...] = ()
    between: Between = "people"
    top: int = 10


@dataclass(frozen=True, slots=True)
class JuryOptions(Resampled):
    """Choices of a jury table.

    ``auto`` chooses a `combiner` by its agreement with people. `members` names judges; empty = all. At least
    `min_members` must rate a story. With `all_criteria`, the members' ratings of other criteria are predictors too;
    with `with_features`, surface features of the stories. `calibrate` maps the jury's ratings to the human scale. A
    fold holds out each `hold_out` as a whole. There are `foldings` assignments of stories to `folds` folds; the i-th
    uses the seed `seed` + i. `predict` is the coverage of prediction intervals of one story's rating, `carry_over` the
    largest mean error of a calibrated rating, in points, that does not matter for a system; None leaves out its table.
    """

    IDLE: ClassVar[Idle] = {"resamples": ("ci", ("none",)), "carry_over": ("calibrate", ("none",))}

    combiner: Combiner = "auto"
    members: tuple[str, ...] = ()
    min_members: int = 1
    all_criteria: bool = True
    with_features: bool = False
    calibrate: Calibrate = "none"
    hold_out: HeldOut = "story-prompt"
    folds: int = 5
    foldings: int = 5
    drop_systems: tuple[str, ...] = ()
    predict: float | None = None
    carry_over: float | None = None
    ci: JuryInterval = "boot-inputs"
    resamples: int = RESAMPLES
    seed: int = 1


@dataclass(frozen=True, slots=True)
class ReliabilityOptions(Options):
    """Choices of reliability curves, for which each judge is calibrated separately out of fold. `bins` is the largest
    number in a curve. There are `foldings` assignments of stories to `folds` folds; the i-th uses the seed `seed` + i.
    """

    calibrate: Calibration = "isotonic"
    bins: int = 10
    folds: int = 5
    foldings: int = 5
    drop_systems: tuple[str, ...] = ()
    seed: int = 1

    @property
    def jury(self) -> JuryOptions:
        """These choices as options of a jury with one member."""
        return JuryOptions(
            combiner="mean",
            all_criteria=False,
            calibrate=self.calibrate,
            folds=self.folds,
            foldings=self.foldings,
            drop_systems=self.drop_systems,
            ci="none",
            seed=self.seed,
        )


@dataclass(frozen=True, slots=True)
class CompareOptions(Options):
    """Choices of a comparison of all pairs of `by`, e.g. Eval-Prompts, or of each with `baseline`. `family` describes
    in words what the adjusted tests are about. `swap` is the unit that permutation tests swap as a whole: ``auto``
    means systems at system level, otherwise story-prompts."""

    by: Factor = "eval_prompt"
    baseline: str | None = None
    level: ContrastLevel = "overall"
    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    adjust: Adjustment = "bh"
    family: str | None = None
    swap: Swap = "auto"
    resamples: int = RESAMPLES
    permutations: int = 2000
    seed: int = 1

    @property
    def swapped(self) -> Unit:
        """The units that permutation tests swap as a whole; ``auto`` is resolved."""
        if self.swap != "auto":
            return self.swap
        return LEVELS[self.level].group or "story-prompts"

    @property
    def both(self) -> BothInterval:
        """Method of the interval over systems and story-prompts; `comparison.tau_differences` has the reason."""
        return LEVELS[self.level].both


@dataclass(frozen=True, slots=True)
class StressOptions(Options):
    """Choices of a report on stress tests. `margin` is the largest change in points that does not matter, for
    perturbations that should not change ratings. p is adjusted over all tests of the report. `as_published` adds
    correlations of unpaired ratings, as OpenMEVA printed them."""

    OWN_BOUNDS: ClassVar[Bounds] = {"margin": ABOVE_0}

    drop_systems: tuple[str, ...] = ()
    margin: float = 0.25
    adjust: Adjustment = "bh"
    alpha: float = 0.05
    control: bool = True
    as_published: bool = False


_Options = TypeVar("_Options")


def from_words(kind: type[_Options], **words: Any) -> _Options:
    """Options of this kind (a frozen dataclass) from keyword arguments of a command line or a notebook. Where an option
    takes several names, a string is one name, and any sequence is accepted. Raises SpecError for an unknown option or
    value, and for an option that has no effect because of another."""
    known_fields = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    for name in words:
        if name not in known_fields:
            raise SpecError(unknown("option", name, known_fields))
    several = {name for name in words if str(known_fields[name].type).startswith("tuple[")}
    options = kind(**{name: names(value) if name in several else value for name, value in words.items()})
    for name, (other, idle) in getattr(kind, "IDLE", {}).items():
        if name in words and getattr(options, name) != known_fields[name].default and getattr(options, other) in idle:
            _refuse_idle(name, getattr(options, name), other, getattr(options, other))
    return options


def _refuse_idle(name: str, value: object, other: str, by: object) -> NoReturn:
    words = f"{{{name}}} has no effect with {{{other}}}"
    raise SpecError(Advice(words, **{name: value, other: by}), hint=Advice("leave out one of them"))


def names(value: Any) -> tuple[Any, ...]:
    """Names as a tuple; a string or path is one name."""
    return (value,) if isinstance(value, str | PathLike) else tuple(value)
