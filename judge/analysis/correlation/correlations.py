"""Result of the correlation analysis: rows, the data they were computed from, and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.correlation.reference_rows import Beside, Values
from judge.analysis.correlation.statistic import Intervals, Side, Statistic
from judge.analysis.coverage.coverage import SCALE_UNKNOWN
from judge.analysis.frames import parts_of
from judge.analysis.inputs.bars import JUDGE, MEAN, ControlMade, ControlSource, Kind
from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.choices import LEVELS, Level
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.base.printing.tables import cells_of
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.correlation.coefficients import COEFFICIENTS, Coefficient

# Sensitivity of a judge's correlation to lost stories, which the main correlation of a row leaves out.

LOWEST, HIGHEST, MIDDLE = "lost_lowest", "lost_highest", "lost_middle"
TITLES = {LOWEST: "lost lowest", HIGHEST: "lost highest", MIDDLE: "lost middle"}
NOTE = (
    "lost lowest, lost highest, lost middle: the same with all stories that the judge lost tied at the scale's lowest "
    "point, at its highest, or at the judge's median rating; three assumptions, not bounds"
)


def with_lost(
    judge: Floats, lost: NDArray[np.bool_], ends: tuple[float, float] | None, measure: Callable[[Side], Estimate]
) -> dict[str, Estimate]:
    """Correlation under each assumption about the lost stories' rating; empty if none was lost. `judge` and `lost` have
    shape (n stories,). `ends` are the lowest and highest point of the scale; None = not known: correlations with these
    are then undefined, as the ratings seen need not reach them. `measure` correlates the judge's side with people."""
    if not lost.any():
        return {}
    rated = judge[~np.isnan(judge)]
    if not rated.size:
        none = Estimate.undefined("undefined: the judge rated none of the stories")
        return dict.fromkeys(TITLES, none)
    places: dict[str, float | None] = dict.fromkeys(TITLES)
    if ends is not None:
        places |= {LOWEST: min(ends[0], float(rated.min())), HIGHEST: max(ends[1], float(rated.max()))}
    places[MIDDLE] = float(np.median(rated))
    unknown = Estimate.undefined(f"undefined: {SCALE_UNKNOWN}")
    return {
        name: unknown if place is None else measure(Side(np.where(lost, place, judge)))
        for name, place in places.items()
    }


# The people of a row that is against everybody who rated, of whatever panel.
ALL = "all"

# Further numbers of a row: judge or control against the means of the others, averaged over raters; people, leave one
# out, and the control on this row's stories.
ONE_OUT, PEOPLE_SAME, CONTROL_SAME = "leave_one_out", "people_same", "control_same"

_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against", "value", "low", "high", "n")
_COUNTS = ("stories", "systems", "repeats", "unrated", "missing", "method", "reason")
_COLUMNS = (*_ABOUT, *_COUNTS, "given", "given_low", "given_high", ONE_OUT, PEOPLE_SAME, CONTROL_SAME)


@dataclass(frozen=True, slots=True)
class CorrelationRow:
    """One correlation with people: what was correlated, the number of stories, and related numbers of the same row.

    `stories` and `systems` were rated by people and by the judge. `averaged` has the criteria of a mean, in which
    counts of lost repeats are summed. `given` is the partial correlation with the third variable of the options held
    fixed. `further` has correlations without intervals: `ONE_OUT` (with the means of all people but one), `PEOPLE_SAME`
    and `CONTROL_SAME` (ceiling and control on the same stories), `lost_ratings.TITLES` (under assumptions about lost
    ratings). For a judge, `cell` is its row in the rating matrix, `share` the share of people's stories that it rated,
    and `beside` has its comparisons with ceiling and control on common stories. `resampled` and `given_resampled` have
    one array per set of resamples; empty where there is no interval or no defined value."""

    subject: Subject
    estimate: Estimate
    stories: int
    systems: int
    averaged: tuple[str, ...] = ()
    is_control: bool = False
    given: Estimate | None = None
    further: Mapping[str, Estimate] = field(default_factory=dict)
    cell: int | None = None
    share: float | None = None
    resampled: tuple[Floats, ...] = field(default=(), repr=False, compare=False)
    given_resampled: tuple[Floats, ...] = field(default=(), repr=False, compare=False)
    beside: Mapping[Kind, Beside] = field(default_factory=dict, repr=False, compare=False)

    @property
    def kind(self) -> Kind:
        return MEAN if self.averaged else self.subject.kind


@dataclass(frozen=True, slots=True, eq=False)
class CorrelatedDataset:
    """One dataset's rows and the data that they are computed from. `control` says for each criterion where the
    control's ratings come from; empty without control. `pool` is true if different people rated different stories,
    false for a panel, whose raters rated nearly every story."""

    rows: tuple[CorrelationRow, ...]
    control: Mapping[str, ControlMade]
    pool: bool
    notes: tuple[str, ...]
    signature_parts: tuple[str, ...]
    matrix: RatingMatrix = field(repr=False)
    statistic: Statistic = field(repr=False)
    intervals: Intervals = field(repr=False)

    @property
    def name(self) -> str:
        return self.matrix.dataset

    @property
    def stories(self) -> int:
        """Number of stories, rated or not."""
        return self.matrix.n

    @property
    def systems(self) -> tuple[str, ...]:
        return self.matrix.systems


@dataclass(frozen=True, slots=True, eq=False)
class Correlations(Signed):
    """Correlations with human ratings: of judges, of people one by one (one more person) and of the control judge.
    `lost` are the notes on whether lost ratings differ from the others, which are among the notes too. `paired`:
    differences from ceiling and control have resampled values. `panels` has the correlations with each panel's human
    ratings; empty where no panels are known."""

    datasets: tuple[CorrelatedDataset, ...]
    options: CorrelationOptions
    lost: tuple[str, ...] = ()
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    paired: bool = False
    panels: Mapping[str, Correlations] = field(default_factory=dict)

    @property
    def by_people(self) -> tuple[tuple[str, CorrelationRow], ...]:
        """Rows with the name of their panel. Each row of ``all`` people is followed by the same row of each panel; rows
        that exist for a panel only come last."""
        of_panels = {name: {_key(row): row for row in panel.rows} for name, panel in self.panels.items()}
        named_rows: list[tuple[str, CorrelationRow]] = []
        for row in self.rows:
            named_rows.append((ALL, row))
            named_rows += [(name, rows.pop(_key(row))) for name, rows in of_panels.items() if _key(row) in rows]
        return (*named_rows, *((name, row) for name, rows in of_panels.items() for row in rows.values()))

    @property
    def rows(self) -> tuple[CorrelationRow, ...]:
        """Rows of all datasets: criterion by criterion, then means, then criteria that nobody rated."""
        return tuple(row for dataset in self.datasets for row in dataset.rows)

    @property
    def coefficient(self) -> Coefficient:
        return self.options.coefficient

    @property
    def level(self) -> Level:
        return self.options.level

    @property
    def given(self) -> str | None:
        """Name of the third variable held fixed in partial correlations."""
        return self.options.given

    @property
    def statistic(self) -> str:
        """Name of the coefficient, e.g. ``Kendall's tau-b``."""
        return COEFFICIENTS[self.coefficient].name

    @property
    def over(self) -> str:
        """Description of the level, e.g. ``over all stories``."""
        return LEVELS[self.level].over

    @property
    def unit(self) -> str:
        """Unit that an estimate's `n` counts, e.g. ``stories``."""
        return LEVELS[self.level].unit

    @property
    def control_sources(self) -> tuple[ControlSource, ...]:
        """Distinct sources of the control's ratings; empty where no control was requested."""
        controls = (each for dataset in self.datasets for each in dataset.control.values())
        return tuple(dict.fromkeys(each.source for each in controls))

    @property
    def frame(self) -> pd.DataFrame:
        """One row per correlation; `correlate` describes the columns."""
        if not self.panels:
            return self.signed([_flat(row) for row in self.rows], [*_COLUMNS, *TITLES])
        rows = [{"people": name, **_flat(row)} for name, row in self.by_people]
        at = _COLUMNS.index("against") + 1
        return self.signed(rows, [*_COLUMNS[:at], "people", *_COLUMNS[at:], *TITLES])


def _key(row: CorrelationRow) -> tuple[str | None, ...]:
    subject = row.subject
    name = subject.judge if subject.kind == JUDGE else None
    return subject.dataset, row.kind, subject.kind, subject.run, name, subject.eval_prompt, subject.criterion


def _flat(row: CorrelationRow) -> dict[str, object]:
    flat = row.subject.labels | cells_of(row, "kind", "stories", "systems", missing=row.subject.lost)
    flat |= parts_of(row.estimate) | {name: number.value for name, number in row.further.items()}
    if given := row.given:
        flat |= {"given": given.value, "given_low": given.low, "given_high": given.high}
    return flat


# Means over criteria: of estimates, and of whole rows of a correlation table.

# A criterion, the estimate on it, and its values in each set of resamples.
Part = tuple[str, Estimate, Values]


def mean_of(parts: Sequence[Part]) -> tuple[Estimate, Values]:
    """Unweighted mean of one rater's correlations over criteria, and its values in resamples; undefined if any is."""
    undefined = [(criterion, estimate) for criterion, estimate, _ in parts if estimate.value is None]
    if undefined:
        first = undefined[0][1]
        same = tuple(criterion for criterion, estimate in undefined if estimate.reason == first.reason)
        return Estimate.undefined(replace(first.why, criteria=same, of=len(parts))), ()
    value = float(np.mean([estimate.value for _, estimate, _ in parts if estimate.value is not None]))
    mean = Estimate(value, n=min(estimate.n for _, estimate, _ in parts))
    return mean, tuple(np.mean(values, axis=0) for values in zip(*(values for _, _, values in parts), strict=True))


def mean_row(group: Sequence[CorrelationRow]) -> CorrelationRow:
    """Mean over criteria of the rows of one judge, ceiling or control; counts of lost ratings are summed."""
    criteria = tuple(row.subject.criterion for row in group)
    against = {row.subject.against for row in group}
    missing: dict[str, int] = {}
    for row in group:
        for status, count in row.subject.missing.items():
            missing[status] = missing.get(status, 0) + count
    repeats = [row.subject.repeats for row in group if row.subject.repeats is not None]
    unrated = [row.subject.unrated for row in group if row.subject.unrated is not None]
    subject = replace(
        group[0].subject,
        criterion=f"mean of {len(group)} criteria",
        against=against.pop() if len(against) == 1 else None,
        repeats=float(np.mean(repeats)) if repeats else None,
        unrated=sum(unrated) if unrated else None,
        missing=missing,
    )
    estimate, values = mean_of([(row.subject.criterion, row.estimate, row.resampled) for row in group])
    return CorrelationRow(
        subject,
        estimate,
        min(row.stories for row in group),
        min(row.systems for row in group),
        averaged=criteria,
        is_control=group[0].is_control,
        resampled=values,
        further=_mean_further(group),
    )


def _mean_further(group: Sequence[CorrelationRow]) -> dict[str, Estimate]:
    names = dict.fromkeys(name for row in group for name in row.further)
    return {
        # A criterion without such a number contributes its own correlation.
        name: mean_of([(row.subject.criterion, row.further.get(name, row.estimate), ()) for row in group])[0]
        for name in names
    }
