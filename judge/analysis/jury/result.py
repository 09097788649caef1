"""Results of juries on one or more datasets: members, agreement with people, and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from judge.analysis.inputs.bars import ControlSource
from judge.analysis.jury.nested_folds import Folding, StoryInterval
from judge.analysis.jury.panel import COMBINERS, Panel, Panels
from judge.analysis.jury.scores import Calibrated, Scored
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import JuryOptions
from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain, thousandths, titled
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.estimation import means
from judge.stats.estimation.means import Equivalence, tost_of
from judge.stats.estimation.paired_differences import adjust

# Tests whether a jury's calibration holds for each system.

Holds = Literal["yes", "no", "not shown", "no test"]
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Carried:
    """Test of whether a jury's calibration holds for one system. `before` and `after` calibration are the jury's mean
    rating minus the human mean. `p` tests that the difference after calibration is 0; `adjusted` is over systems."""

    system: str
    before: Estimate
    after: Equivalence
    p: float | None
    adjusted: float | None

    @property
    def holds(self) -> Holds:
        """``yes``: the remaining difference is shown to be below the margin; ``no``: it is significant; ``not shown``:
        neither; ``no test``: too few story-prompts."""
        if self.after.p is None or self.adjusted is None:
            return "no test"
        if self.after.p <= ALPHA:
            return "yes"
        return "no" if self.adjusted <= ALPHA else "not shown"


def carried(
    panel: Panel, foldings: Sequence[Folding], margin: float, story_prompt: Codes, system: Codes, systems: Sequence[str]
) -> tuple[Carried, ...]:
    """Tests of whether the jury's calibration holds for each system; a story's rating is its mean over foldings.
    `margin` is the largest difference from people, in points, that does not matter. `story_prompt` and `system` are
    codes, shape (n stories,)."""
    after = np.mean([each.jury for each in foldings], axis=0) - panel.people
    before = np.mean([each.uncalibrated for each in foldings], axis=0) - panel.people
    tests = []
    for code, name in enumerate(systems):
        own = (system == code) & ~np.isnan(after)
        if own.any():
            tests.append((name, *_tested(after[own], story_prompt[own], margin), _mean(before[own])))
    p = np.array([np.nan if raw is None else raw for _, _, raw, _ in tests])
    adjusted = adjust(p, "holm", family="the systems of a criterion").p if p.size else p
    return tuple(
        Carried(name, first, test, raw, None if np.isnan(adj) else float(adj))
        for (name, test, raw, first), adj in zip(tests, adjusted, strict=True)
    )


def _tested(off: Floats, story_prompt: Codes, margin: float) -> tuple[Equivalence, float | None]:
    """Equivalence test of `off` (jury minus people), and two-sided p that its mean is 0; None = too few."""
    unit = renumbered(story_prompt)
    error, clusters = means.clustered_error(off, unit)
    estimate = Estimate(float(off.mean()), n=int(off.size), method="clustered by story-prompt")
    if error is None or clusters < 5 or error < 1e-12:
        return Equivalence(estimate.without_interval("fewer than 5 story-prompts"), (-margin, margin)), None
    return tost_of(estimate, error, clusters - 1, -margin, margin), means.clustered_p(off, unit)


def _mean(off: Floats) -> Estimate:
    defined = off[~np.isnan(off)]
    return Estimate(float(defined.mean()), n=int(defined.size)) if defined.size else Estimate.undefined("no rating")


# Weights of a jury's members: means over the folds in which they were fitted.


@dataclass(frozen=True, slots=True)
class Weight:
    """One predictor's weight in one combiner: mean and standard deviation over the folds that used it. `source` is its
    member; `own` marks a rating of the criterion itself."""

    combiner: str
    source: str
    predictor: str
    own: bool
    mean: float
    spread: float
    folds: int


@dataclass(frozen=True, slots=True)
class MemberWeight:
    """Sum of a member's weights in one combiner, over its ratings of the criterion itself (`own`) and of other criteria
    (`others`); None if these were not used."""

    combiner: str
    source: str
    own: float | None
    others: float | None
    total: float
    folds: int


def weights_of(panel: Panel, foldings: Sequence[Folding]) -> tuple[Weight, ...]:
    """Weights as means over folds, one for each combiner and predictor."""
    weights_by_key: dict[tuple[str, str, str, bool], list[float]] = {}
    for folding in foldings:
        for fold in folding.weights:
            if COMBINERS[fold.combiner].combine is None:
                names = [(f"combiner: {base}", f"combiner: {base}", False) for base in fold.stacked]
            else:
                names = list(zip(panel.sources, panel.labels, panel.own.tolist(), strict=True))
            for (source, label, own), weight in zip(names, fold.weights.tolist(), strict=True):
                if own or not COMBINERS[fold.combiner].own_only:
                    weights_by_key.setdefault((fold.combiner, source, label, own), []).append(weight)
    return tuple(Weight(*key, float(np.mean(v)), float(np.std(v)), len(v)) for key, v in weights_by_key.items())


def by_member(weights: Sequence[Weight]) -> list[MemberWeight]:
    """Weights summed over each member's predictors, by combiner, then largest first."""
    parts: dict[tuple[str, str], list[Weight]] = {}
    for weight in weights:
        parts.setdefault((weight.combiner, weight.source), []).append(weight)
    sums = [_summed(combiner, source, each) for (combiner, source), each in parts.items()]
    return sorted(sums, key=lambda one: (one.combiner, -one.total))


def _summed(combiner: str, source: str, parts: Sequence[Weight]) -> MemberWeight:
    own, others = [w.mean for w in parts if w.own], [w.mean for w in parts if not w.own]
    sums = (sum(own) if own else None, sum(others) if others else None)
    return MemberWeight(combiner, source, *sums, sum(own) + sum(others), parts[0].folds)


JURY, MEAN, SINGLE, IN_SAMPLE, CONTROL = "jury", "mean", "single", "single in sample", "control"
# What the jury is compared with, in the order of sentences.
BESIDE = (SINGLE, IN_SAMPLE, MEAN, CONTROL)


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A rater's agreement with people (tau-b) on a criterion. `used` names the combiner or member. `gain` is the jury's
    tau-b minus that of this row, on the stories that both rated; None for the jury."""

    kind: str
    used: str
    scored: Scored = field(repr=False)
    tau: Estimate
    gain: Estimate | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """A jury's results on one criterion. `effective` is the number of independent judges that the members are
    equivalent to. Empty or None if not requested: `calibrated`, the errors before and after calibration; `interval`,
    the prediction interval of one story's human rating; `carried`, whether the calibration holds for each system."""

    panel: Panel
    foldings: tuple[Folding, ...]
    rows: tuple[Row, ...]
    weights: tuple[Weight, ...]
    calibrated: tuple[Calibrated, ...]
    effective: Estimate
    interval: StoryInterval | None
    carried: tuple[Carried, ...]

    @property
    def criterion(self) -> str:
        return self.panel.criterion

    def row(self, kind: str) -> Row:
        """The row of this kind, e.g. ``jury``, ``single`` (best member) or ``control``."""
        return next(row for row in self.rows if row.kind == kind)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A jury's results on one dataset. `mean_gains` has, by kind of row, the jury's tau-b minus the row's, averaged
    over criteria. `control` says how the control was made. `options` are the requested ones, except that a single
    member with ``auto`` is not combined."""

    panels: Panels
    options: JuryOptions
    verdicts: tuple[Verdict, ...]
    mean_gains: Mapping[str, Estimate]
    control: str | None
    control_source: ControlSource
    notes: tuple[str, ...]

    @property
    def matrix(self) -> RatingMatrix:
        return self.panels.matrix

    @property
    def dataset(self) -> str:
        return self.matrix.dataset


@dataclass(frozen=True, slots=True, eq=False)
class Juries(Signed):
    """A jury's results on each dataset. `bare_signature` is for tables without intervals. `notes` describe the
    ratings; notes on the jury are in each dataset's results."""

    held: tuple[Held, ...]
    options: JuryOptions
    bare_signature: str

    @property
    def frame(self) -> pd.DataFrame:
        """One row per criterion and rater.

        `kind` is jury, mean, single, single in sample or control; `used` has combiners or members, with the number of
        folds in which each was chosen; `value` is tau-b, mean over foldings, with `lowest` and `highest` over these;
        `gain` is the jury's tau-b minus the row's, on the common stories. Undefined values are null with a `reason`."""
        return self.signed([dict(_flat(held, verdict, row)) for held, verdict, row in self.rows()])

    def verdicts(self) -> Iterator[tuple[Held, Verdict]]:
        """Results on every criterion, each preceded by those of its dataset."""
        return ((held, verdict) for held in self.held for verdict in held.verdicts)

    def rows(self) -> Iterator[tuple[Held, Verdict, Row]]:
        """Every row, preceded by the results of its dataset and of its criterion."""
        return ((held, verdict, row) for held, verdict in self.verdicts() for row in verdict.rows)


def _flat(held: Held, verdict: Verdict, row: Row) -> Iterator[tuple[str, object]]:
    values = [each.value for each in row.scored.by_folding if each.value is not None]
    tau, gain = row.tau, row.gain
    yield from (("dataset", held.dataset), ("criterion", verdict.criterion), ("kind", row.kind), ("used", row.used))
    yield from (("members", verdict.panel.members), ("value", tau.value), ("low", tau.low), ("high", tau.high))
    yield from (("n", tau.n), ("lowest", min(values, default=None)), ("highest", max(values, default=None)))
    yield from (("foldings", len(row.scored.predictions)), ("folds", held.options.folds))
    yield from (("gain", gain and gain.value), ("gain_low", gain and gain.low), ("gain_high", gain and gain.high))
    yield from (("method", tau.method), ("reason", tau.reason))


# Columns that name the dataset and criterion of a row of a jury's tables.


def criterion_cells(held: Held, verdict: Verdict) -> dict[str, object]:
    """The columns that identify a criterion, with their values."""
    return {"dataset": held.dataset, "criterion": verdict.criterion}


def criterion_columns(juries: Juries) -> list[Column]:
    """The columns that identify a criterion; the dataset only if there are several."""
    several = [Column("dataset", "dataset")] if len(juries.held) > 1 else []
    return [*several, Column("criterion", "criterion")]


# Printed weights of a jury's members and predictors.

_UNITS = (
    "weight: people's points (ordinal: logits) per standard deviation of the predictor among training stories, mean "
    "over the folds that used the combiner; of a stack: people's points per point of the stacked combiner's rating"
)
_SHARED = (
    "predictors are correlated, and a ridge regression divides a weight among them: interpret sums rather "
    "than single weights"
)
_EQUAL = "mean, median and calibrated weight all members equally and have no rows"


def tables(juries: Juries, *, predictors: bool) -> list[Table]:
    """Weights by member; with `predictors`, also by predictor."""
    return [_by_member(juries), *([_by_predictor(juries)] if predictors else [])]


def _by_member(juries: Juries) -> Table:
    rows = [
        criterion_cells(held, verdict) | asdict(member)
        for held, verdict in juries.verdicts()
        for member in by_member(verdict.weights)
    ]
    columns = [
        *criterion_columns(juries),
        *titled(combiner="combiner", source="member"),
        *thousandths(own="its ratings of the criterion", others="of other criteria, net", total="sum"),
        Column("folds", "folds"),
    ]
    title = "Weights of the jury's members, mean over folds"
    return Table(title, columns, rows, juries.bare_signature, [_UNITS, _SHARED, _EQUAL])


def _by_predictor(juries: Juries) -> Table:
    rows = [
        criterion_cells(held, verdict)
        | cells_of(weight, "combiner", "predictor", "spread", "folds", weight=weight.mean)
        for held, verdict in juries.verdicts()
        for weight in verdict.weights
    ]
    columns = [
        *criterion_columns(juries),
        *plain("combiner", "predictor"),
        *thousandths(weight="weight", spread="sd over folds"),
        Column("folds", "folds"),
    ]
    title = "Weights of the jury's predictors, mean over folds"
    return Table(title, columns, rows, juries.bare_signature, [_UNITS, _SHARED, _EQUAL])
