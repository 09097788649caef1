"""Result of juries of one or more datasets: their members, agreement with people, and weights."""

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
from judge.rating_matrix import RatingMatrix
from judge.stats.estimate import Estimate

JURY, MEAN, SINGLE, IN_SAMPLE, CONTROL = "jury", "mean", "single", "single in sample", "control"
BESIDE = (SINGLE, IN_SAMPLE, MEAN, CONTROL)
"""What the jury is compared with, in the order of sentences."""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One row of a criterion: the kind of rater, its combiner or member, and its agreement with people.

    `gain` is tau-b of the jury less that of this row, on the stories that both rate; None of the jury's own row.
    """

    kind: str
    used: str
    scored: Scored = field(repr=False)
    tau: Estimate
    gain: Estimate | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """A jury's results on one criterion: its panel, foldings, rows and weights of predictors.

    `calibrated` holds the jury's errors before and after calibration, `interval` how far one story's rating is known,
    `carried` whether the calibration holds for each system; empty or None where not asked for. `effective` is how many
    independent judges the members are worth.
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
        """The name of the criterion."""
        return self.panel.criterion

    def row(self, kind: str) -> Row:
        """The row of this kind."""
        return next(row for row in self.rows if row.kind == kind)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A jury's results on one dataset: verdicts by criterion, mean gains over criteria, the control's method and
    source, and notes.

    `options` are those asked for, but of a single member with ``auto``, of which nothing is combined.
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
        """The matrix of ratings."""
        return self.panels.matrix

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return self.matrix.dataset


@dataclass(frozen=True, slots=True, eq=False)
class Juries(Signed):
    """A jury's results on each dataset.

    `bare_signature_parts` are the signature of tables that have no interval. `notes` are sentences on the ratings;
    those on a jury are its own.
    """

    held: tuple[Held, ...]
    options: JuryOptions
    bare_signature_parts: tuple[str, ...]

    @property
    def bare_signature(self) -> str:
        """The signature of tables that have no interval."""
        return joined(self.bare_signature_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """A frame of the jury table's rows, with `signature` and `notes` in its `attrs`.

        `dataset, criterion, kind` (jury, mean, single, single in sample, control), `used` (combiners or members, with
        the number of folds they were chosen in), `members, value` (tau-b, mean over foldings), `low, high, n, lowest,
        highest` (over foldings), `foldings, folds, gain, gain_low, gain_high` (the jury's tau-b less the row's, on the
        stories both rate), `method, reason`. Undefined values are null with a reason.
        """
        return self.signed([dict(_flat(held, verdict, row)) for held, verdict, row in self.rows()])

    def verdicts(self) -> Iterator[tuple[Held, Verdict]]:
        """The verdicts on every criterion of every dataset."""
        return ((held, verdict) for held in self.held for verdict in held.verdicts)

    def rows(self) -> Iterator[tuple[Held, Verdict, Row]]:
        """Every row of every criterion."""
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
