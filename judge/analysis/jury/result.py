"""Result types for juries of one or more datasets: members, agreement with people, and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from judge.analysis.inputs.bars import ControlSource
from judge.analysis.jury.nested_folds import Folding, StoryInterval
from judge.analysis.jury.panel import COMBINERS, Panel, Panels
from judge.analysis.jury.scores import Calibrated, Scored
from judge.analysis.options.signature import Signed, joined
from judge.analysis.options.table_options import JuryOptions
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.estimation import means
from judge.stats.estimation.equivalence import Equivalence, tost_of
from judge.stats.estimation.multiplicity import adjust

# Tests whether a jury's calibration holds for each system.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Holds = Literal["yes", "no", "not shown", "no test"]
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Carried:
    """Test of whether a jury's calibration holds for one system.

    `before` and `after` are the jury's mean rating minus the mean human rating, before and after calibration. `p` tests
    that the difference after calibration is 0; `adjusted` is p adjusted over systems.
    """

    system: str
    before: Estimate
    after: Equivalence
    p: float | None
    adjusted: float | None

    @property
    def holds(self) -> Holds:
        """Whether the jury's calibration holds for this system.

        ``yes``: the remaining difference from people is shown to be below the margin; ``no``: it is significant; ``not
        shown``: neither; ``no test``: there are too few story-prompts.
        """
        if self.after.p is None or self.adjusted is None:
            return "no test"
        if self.after.p <= ALPHA:
            return "yes"
        return "no" if self.adjusted <= ALPHA else "not shown"


def carried(
    panel: Panel, foldings: Sequence[Folding], margin: float, story_prompt: Codes, system: Codes, systems: Sequence[str]
) -> tuple[Carried, ...]:
    """Tests of whether the jury's calibration holds for each system, on one criterion.

    A story's rating is its mean over foldings (assignments of stories to folds). `margin` is the largest difference
    from people, in points, that does not matter. `story_prompt` and `system` are the codes of each story, shape (n
    stories,).
    """
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
    """Equivalence test of the differences `off` (jury minus people, by story), and two-sided p that their mean is 0.

    p is None with too few story-prompts.
    """
    unit = np.unique(story_prompt, return_inverse=True)[1].reshape(-1)
    error, clusters = means.clustered_error(off, unit)
    estimate = Estimate(float(off.mean()), n=int(off.size), method="clustered by story-prompt")
    if error is None or clusters < 5 or error < 1e-12:
        return Equivalence(estimate.without_interval("fewer than 5 story-prompts"), (-margin, margin)), None
    p = float(2 * special.stdtr(clusters - 1, -abs(float(off.mean())) / error))
    return tost_of(estimate, error, clusters - 1, -margin, margin), p


def _mean(off: Floats) -> Estimate:
    defined = off[~np.isnan(off)]
    return Estimate(float(defined.mean()), n=int(defined.size)) if defined.size else Estimate.undefined("no rating")


# Weights of a jury's members: means over the folds in which they were fitted.


@dataclass(frozen=True, slots=True)
class Weight:
    """One predictor's weight in one of a jury's combiners: mean and standard deviation over the folds that used it.

    `source` is the member that the predictor belongs to. `own` says whether it is a rating of the criterion itself.
    """

    combiner: str
    source: str
    predictor: str
    own: bool
    mean: float
    spread: float
    folds: int


@dataclass(frozen=True, slots=True)
class MemberWeight:
    """Sum of a jury member's weights in one combiner.

    `own` is the sum over its ratings of the criterion itself, `others` over its ratings of other criteria, and `total`
    over all. `own` or `others` is None if ratings of this kind were not used.
    """

    combiner: str
    source: str
    own: float | None
    others: float | None
    total: float
    folds: int


def weights_of(panel: Panel, foldings: Sequence[Folding]) -> tuple[Weight, ...]:
    """Weights of a jury's predictors on one criterion, as means over folds, one for each combiner and predictor."""
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
    """Weights summed over each member's predictors; they are sorted by combiner, then largest first."""
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
    """One row of the jury table for a criterion: a rater and its agreement with people (tau-b).

    `kind` is the jury, the mean of its members, its best member or the control judge; `used` names the combiner or
    member. `gain` is the jury's tau-b minus the tau-b of this row, on the stories that both rated; None in the jury's
    own row.
    """

    kind: str
    used: str
    scored: Scored = field(repr=False)
    tau: Estimate
    gain: Estimate | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """A jury's results on one criterion.

    `panel` holds the data, `foldings` the assignments of stories to folds, `rows` the rows of the jury table (the jury
    and the raters it is compared with), and `weights` the weights of the predictors. `effective` is the number of
    independent judges that the members are equivalent to.

    Three results are empty or None if not requested: `calibrated`, the jury's errors before and after calibration;
    `interval`, the prediction interval of one story's human rating; `carried`, whether the calibration holds for each
    system.
    """

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
        """The name of the criterion that the jury rated."""
        return self.panel.criterion

    def row(self, kind: str) -> Row:
        """The row of the jury table of this kind, e.g. ``jury``, ``single`` (best member) or ``control``."""
        return next(row for row in self.rows if row.kind == kind)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A jury's results on one dataset.

    `verdicts` are the results by criterion. `mean_gains` maps each kind of row (e.g. ``single``, the best member) to
    the jury's tau-b minus the row's, averaged over criteria. `control` and `control_source` say how the control judge
    was made. `options` are the requested ones, except that a single member with ``auto`` is not combined.
    """

    panels: Panels
    options: JuryOptions
    verdicts: tuple[Verdict, ...]
    mean_gains: Mapping[str, Estimate]
    control: str | None
    control_source: ControlSource
    notes: tuple[str, ...]

    @property
    def matrix(self) -> RatingMatrix:
        """The dataset's matrix of ratings."""
        return self.panels.matrix

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return self.matrix.dataset


@dataclass(frozen=True, slots=True, eq=False)
class Juries(Signed):
    """A jury's results on each dataset.

    `bare_signature_parts` are the signature parts of tables without intervals. `notes` describe the ratings; notes on
    the jury are in the results of each dataset.
    """

    held: tuple[Held, ...]
    options: JuryOptions
    bare_signature_parts: tuple[str, ...]

    @property
    def bare_signature(self) -> str:
        """Signature line of tables without intervals, which lists each choice that can change their numbers."""
        return joined(self.bare_signature_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """A frame of the agreement with people of a jury and of the raters it is compared with, one row each by
        criterion.

        Its `attrs` hold `signature` and `notes`. Columns: `dataset, criterion, kind` (jury, mean, single, single in
        sample, control), `used` (combiners or members, with the number of folds in which each was chosen), `members,
        value` (tau-b, mean over foldings), `low, high, n, lowest, highest` (over foldings), `foldings, folds, gain,
        gain_low, gain_high` (the jury's tau-b minus the row's, on the stories that both rated), `method, reason`.
        Undefined values are null with a reason.
        """
        return self.signed([dict(_flat(held, verdict, row)) for held, verdict, row in self.rows()])

    def verdicts(self) -> Iterator[tuple[Held, Verdict]]:
        """Yield the jury's results on every criterion, each preceded by the results of its dataset."""
        return ((held, verdict) for held in self.held for verdict in held.verdicts)

    def rows(self) -> Iterator[tuple[Held, Verdict, Row]]:
        """Yield every row of the jury table, preceded by the results of its dataset and of its criterion."""
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


def cells_of(held: Held, verdict: Verdict) -> dict[str, object]:
    """Map from the columns that identify a criterion to their values: dataset and criterion."""
    return {"dataset": held.dataset, "criterion": verdict.criterion}


def criterion_columns(juries: Juries) -> list[Column]:
    """The columns that identify a criterion: its name, and with several datasets also the dataset."""
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
    """A table of weights summed by member; with `predictors`, also a table of each predictor's weights."""
    return [_by_member(juries), *([_by_predictor(juries)] if predictors else [])]


def _by_member(juries: Juries) -> Table:
    rows = [
        cells_of(held, verdict) | asdict(member)
        for held, verdict in juries.verdicts()
        for member in by_member(verdict.weights)
    ]
    columns = [
        *criterion_columns(juries),
        Column("combiner", "combiner"),
        Column("source", "member"),
        Column("own", "its ratings of the criterion", digits=3),
        Column("others", "of other criteria, net", digits=3),
        Column("total", "sum", digits=3),
        Column("folds", "folds"),
    ]
    return Table(
        "Weights of the jury's members, mean over folds",
        columns,
        rows,
        juries.bare_signature,
        [_UNITS, _SHARED, _EQUAL],
    )


def _by_predictor(juries: Juries) -> Table:
    rows = [
        cells_of(held, verdict)
        | {
            "combiner": weight.combiner,
            "predictor": weight.predictor,
            "weight": weight.mean,
            "spread": weight.spread,
            "folds": weight.folds,
        }
        for held, verdict in juries.verdicts()
        for weight in verdict.weights
    ]
    columns = [
        *criterion_columns(juries),
        Column("combiner", "combiner"),
        Column("predictor", "predictor"),
        Column("weight", "weight", digits=3),
        Column("spread", "sd over folds", digits=3),
        Column("folds", "folds"),
    ]
    return Table(
        "Weights of the jury's predictors, mean over folds",
        columns,
        rows,
        juries.bare_signature,
        [_UNITS, _SHARED, _EQUAL],
    )
