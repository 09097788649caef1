"""Options of the tables that compare judges with people, except the correlation table (see `table_options`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from judge.analysis.options.table_options import SHARE, Bounds, Idle, Options, Resampled
from judge.base.choices import RESAMPLES
from judge.base.errors import OptionError
from judge.base.records import Scale
from judge.base.wording import Advice
from judge.stats.agreement.alt_test import MEASURES, Measure

# Options for planning a study before a run, and for replacing one judge by another.

Study = Literal["hanna", "mans_roc", "mans_wp"]
# The study that stands in for a pilot unless another is named.
FIRST: Study = "hanna"


@dataclass(frozen=True, slots=True)
class PlanOptions(Options):
    """The aims of a plan, and the design that it assumes. `half_width` is the largest half-width of an interval of tau;
    `difference` of two taus is to be found with probability `power`; `reliability` is aimed at for the order of
    systems, of stories, and mean human ratings. `epsilon` is the tolerance in favour of the judge in the alternative
    annotator test. `prompts` and `repeats` are None as in the pilot. `positions` treats the position of a rating as a
    person where people are unknown. `rater_price` is dollars a rating. `like` is the study whose variances replace a
    pilot."""

    half_width: float = 0.05
    difference: float = 0.05
    reliability: float = 0.8
    power: float = 0.8
    epsilon: float = 0.1
    prompts: int | None = None
    repeats: int | None = None
    positions: bool = False
    rater_price: float | None = None
    like: Study = FIRST
    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    seed: int = 1

    @property
    def measure(self) -> Measure:
        """Measure of closeness to people in the alternative annotator test."""
        return "rmse"


@dataclass(frozen=True, slots=True)
class SuccessionOptions(Options):
    """Choices of the table that tests whether a new judge may replace an old one. `margin` is the largest difference in
    tau with people that does not matter, `points` that of mean ratings. A story's verdict is whether its rating is at
    least `cut`; None = its rating rounded. `power` is for the number of further stories, `folds` for fitting crosswalks
    (mappings from one judge's ratings to the other's), `changes` for the printed stories with a changed verdict.
    `old_judge` and `new_judge` name the judges where a run has several."""

    LEAST: ClassVar[Mapping[str, int]] = {**Options.LEAST, "changes": 1}
    OWN_BOUNDS: ClassVar[Bounds] = {"margin": SHARE}

    margin: float = 0.05
    points: float = 0.25
    cut: float | None = None
    power: float = 0.8
    folds: int = 5
    changes: int = 10
    old_judge: str | None = None
    new_judge: str | None = None
    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    seed: int = 1


# Option -> its part of the signature, as in `signature.FRAGMENTS`.
PLANNING_FRAGMENTS: dict[str, Callable[[Any], str | None]] = {
    "half_width": lambda o: f"half-width:{o.half_width:g}",
    "difference": lambda o: f"difference:{o.difference:g}",
    "reliability": lambda o: f"reliability:{o.reliability:g}",
    "points": lambda o: f"points:{o.points:g}",
    "cut": lambda o: f"cut:{o.cut:g}" if o.cut is not None else None,
    "power": lambda o: f"power:{o.power:g}",
    "prompts": lambda o: f"prompts:{o.prompts}" if o.prompts else None,
    "repeats": lambda o: f"repeats:{o.repeats}" if o.repeats else None,
    "rater_price": lambda o: f"rater:${o.rater_price:g}" if o.rater_price is not None else None,
    "like": lambda o: f"like:{o.like}",
}


PairLevel = Literal["overall", "by-item"]
PairInterval = Literal["boot-inputs", "none"]
LabelInterval = Literal["boot-inputs", "boot-stories", "delong", "none"]
SetInterval = Literal["boot-inputs", "boot-stories", "none"]
ChosenMeasure = Literal["auto", Measure]
ConfusionInterval = Literal["boot-inputs", "boot-stories", "none"]


@dataclass(frozen=True, slots=True)
class AccuracyOptions(Resampled):
    """Choices of a table of pairwise accuracies. `folds` of story-prompts are for fitting epsilon, `flips` is the
    number of permutations for soft pairwise accuracy."""

    IDLE: ClassVar[Idle] = {"resamples": ("ci", ("none",))}
    LEAST: ClassVar[Mapping[str, int]] = {**Options.LEAST, "folds": 3}

    level: PairLevel = "overall"
    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    folds: int = 5
    flips: int = 1000
    ci: PairInterval = "boot-inputs"
    resamples: int = RESAMPLES
    seed: int = 1
    control: bool = True


@dataclass(frozen=True, slots=True)
class LabelOptions(Resampled):
    """Choices of a table of how well judges separate labelled stories from others. `labels` is a human criterion with
    two values, or a rule such as ``Overall > 4``; with `errors` (criteria or rules), labelled stories are compared with
    those of one error at a time. `equivalence` is the largest difference in points that does not matter (TOST). With
    `ci` ``delong``, the AUC has DeLong's interval, which assumes independent stories; r then has none."""

    IDLE: ClassVar[Idle] = {"resamples": ("ci", ("none", "delong")), "seed": ("ci", ("none", "delong"))}

    labels: str
    errors: tuple[str, ...] = ()
    drop_systems: tuple[str, ...] = ()
    equivalence: float | None = None
    ci: LabelInterval = "boot-inputs"
    resamples: int = RESAMPLES
    seed: int = 1
    control: bool = True


@dataclass(frozen=True, slots=True)
class DriftOptions(Resampled):
    """Choices of the tests for equal correlations, and of sliding sets: `window` neighbours in the order of human
    scores, `stride` stories apart. `window`, `stride` and `ci` (with `resamples` and `seed`) apply only to these."""

    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    window: int = 200
    stride: int = 10
    ci: SetInterval = "boot-inputs"
    resamples: int = RESAMPLES
    seed: int = 1
    control: bool = True


@dataclass(frozen=True, slots=True)
class ReplacementOptions(Options):
    """Choices of tables on replacing people. `epsilon` and `measure` belong to the alternative annotator test; `auto`
    compares labels by equality (`exact`) and numbers by distance (`rmse`). `positions` treats the position of a rating
    as a person where people are unknown. `rated` hides people's ratings of all but this number of each system's
    stories, drawn with `seed`, to show what fewer give. `resamples`  are for agreement minus that of uninformed judges.
    """

    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    epsilon: float = 0.1
    measure: ChosenMeasure = "auto"
    positions: bool = False
    rated: int | None = None
    resamples: int = RESAMPLES
    seed: int = 1

    def measure_of(self, criterion: str, scale: Scale | None) -> Measure:
        """Measure of closeness; `scale` is that of labels. Raises OptionError for distances of unordered labels."""
        if self.measure == "auto":
            return "exact" if scale is not None else "rmse"
        if MEASURES[self.measure].ordered and scale is not None and not scale.numeric:
            complaint = f"measures distances, and the labels of {criterion} have no order"
            raise OptionError("measure", self.measure, complaint, hint=Advice("{measure}", measure="exact"))
        return self.measure


@dataclass(frozen=True, slots=True)
class ConfusionOptions(Resampled):
    """Choices of a table that compares judges' labels with human labels."""

    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    ci: ConfusionInterval = "boot-inputs"
    resamples: int = RESAMPLES
    seed: int = 1


def _uninformed(options: Any) -> str:
    """How the comparison with uninformed judges is resampled; a plan makes none."""
    if not isinstance(options, ReplacementOptions):
        return ""
    return f"|uninformed:boot-inputs/{options.resamples}/seed{options.seed}"


# Option -> its part of the signature, as in `signature.FRAGMENTS`.
PEOPLE_FRAGMENTS: dict[str, Callable[[Any], str | None]] = {
    "flips": lambda o: f"spa:{o.flips}/seed{o.seed}",
    "labels": lambda o: f"labels:{o.labels}",
    "errors": lambda o: f"errors:{','.join(o.errors)}" if o.errors else None,
    "equivalence": lambda o: f"tost:±{o.equivalence:g}" if o.equivalence else None,
    "window": lambda o: f"sets:{o.window}/{o.stride}",
    "epsilon": lambda o: f"alt:{o.measure}/eps{o.epsilon:g}{_uninformed(o)}",
    "positions": lambda o: "raters:positions" if o.positions else None,
    "rated": lambda o: f"rated:{o.rated}/system/seed{o.seed}" if o.rated else None,
}

# Options that another option's fragment shows.
SHOWN_BY = {"stride": "window", "measure": "epsilon"}
