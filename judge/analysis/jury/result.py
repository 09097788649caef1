"""Result types for juries of one or more datasets: members, agreement with people, and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pandas as pd

from judge.analysis.inputs.bars import ControlSource
from judge.analysis.jury.calibration import Calibrated
from judge.analysis.jury.carry_over import Carried
from judge.analysis.jury.nested_folds import Folding
from judge.analysis.jury.panel import Panel, Panels
from judge.analysis.jury.scores import Scored
from judge.analysis.jury.story_intervals import StoryInterval
from judge.analysis.jury.weights import Weight
from judge.analysis.options.signature import joined
from judge.analysis.options.signed import Signed
from judge.analysis.options.table_options import JuryOptions
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix

JURY, MEAN, SINGLE, IN_SAMPLE, CONTROL = "jury", "mean", "single", "single in sample", "control"
BESIDE = (SINGLE, IN_SAMPLE, MEAN, CONTROL)
"""What the jury is compared with, in the order of sentences."""


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
