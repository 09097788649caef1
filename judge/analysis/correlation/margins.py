"""Paired differences between each judge's correlation and two references, one more person and the control judge.

Both correlations of a difference use the stories that both raters have and the same resamples of these, so that the
interval is narrower than two separate intervals suggest. For the difference from the ceiling, the judge is scored as
one person is, against the mean of the other people (`reference_rows`); its interval is widened for the choice of raters
(`stats.estimation.other_raters`). The best judge has the highest mean correlation (`best_of`). If another judge rated a
different share of the stories, the result also gives both means on the common stories (`Rival`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from judge.analysis.correlation import reference_rows
from judge.analysis.correlation.correlations import (
    ALL,
    ONE_OUT,
    CorrelatedDataset,
    CorrelationRow,
    Correlations,
    Part,
    mean_of,
)
from judge.analysis.correlation.reference_rows import Beside, Values
from judge.analysis.correlation.statistic import Side
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE
from judge.analysis.options.table_options import Readings
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, hundredths, plain
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats import near_ties
from judge.stats.estimation import other_raters
from judge.stats.estimation.other_raters import Spread

__all__ = ["CEILING", "CONTROL"]


Bar = Literal["control", "ceiling"]

_ABSENT: dict[Bar, Estimate] = {
    CONTROL: Estimate.undefined("there is no control's row"),
    CEILING: Estimate.undefined("one more person is not known"),
}

# Shares of the stories that two judges rated may differ by so much before the highest needs the common stories.
MOST_APART = 0.02


# Largest possible difference between two correlations.
_FURTHEST = 2.0


@dataclass(frozen=True, slots=True)
class Rival:
    """A judge that rated a different `share` of people's stories than the best judge, and the mean correlations of both
    on the `stories` that both rated."""

    name: str
    share: float
    stories: int
    best_mean: Estimate
    rival_mean: Estimate

    @property
    def ahead(self) -> bool:
        """Whether the rival's mean on the common stories is higher, or one of the two means is undefined."""
        if self.best_mean.value is None or self.rival_mean.value is None:
            return True
        return self.rival_mean.value > self.best_mean.value + near_ties.SAME


@dataclass(frozen=True, slots=True)
class Margin:
    """Differences of one judge's correlation from the ceiling and from the control judge, averaged over `criteria`.

    `value` is the judge's mean correlation. By reference: `bars` is the mean of the reference over the same criteria,
    on the stories that it shares with the judge; a control below 0 counts as 0, and `control_below` counts such
    criteria. `same` is the judge's mean on these stories (for the ceiling, against the means of the other people).
    `over` is `same` minus `bars`; for the ceiling, its interval is that of one more person. `above` counts criteria on
    which the judge is higher, and those on which both are defined. `average` is the difference from people with the
    interval of a difference from the average person, which is narrower since the judge is not taken for one of them;
    `spread` holds its variances, None without resamples.

    `stories` counts those with ratings of people and of the judge (smallest over criteria), and `share` divides them by
    all that people rated. `readings` describes the judge's ratings that are compared with one person's. `other_raters`:
    the interval of the difference from the ceiling allows for other raters. `rivals` are given for the best judge of a
    dataset. `people` is the panel."""

    dataset: str
    run: str
    judge: str
    eval_prompt: str
    control: bool
    criteria: tuple[str, ...]
    value: Estimate
    bars: dict[Bar, Estimate]
    over: dict[Bar, Estimate]
    above: dict[Bar, tuple[int, int]]
    average: Estimate = _ABSENT[CEILING]
    spread: Spread | None = None
    control_below: int = 0
    same: dict[Bar, Estimate] = field(default_factory=dict)
    stories: int = 0
    share: float = 1.0
    readings: str = "one reading"
    other_raters: bool = False
    rivals: tuple[Rival, ...] = ()
    people: str = ALL

    @property
    def counted_as_0(self) -> str:
        """Remark for a control whose negative correlation on some criterion counts as 0; otherwise empty."""
        return " (below 0 counts as 0)" if self.control_below else ""

    @property
    def name(self) -> str:
        """Name of the judge and its Eval-Prompt."""
        return self.judge if self.eval_prompt == "-" else f"{self.judge} with {self.eval_prompt}"


def best_of(rows: Sequence[Margin]) -> Margin | None:
    """The judge with the highest defined mean correlation; control judges count only if there is no other."""
    judges = [margin for margin in rows if not margin.control] or list(rows)
    defined = [margin for margin in judges if margin.value.value is not None]
    return defined[near_ties.highest([margin.value.value for margin in defined])] if defined else None


def margins(result: Correlations) -> list[Margin]:
    """Differences of each judge x Eval-Prompt from ceiling and control, as means over criteria, in the table's order.
    Without ``paired`` the differences have no intervals. Criteria without human ratings are left out; a mean is
    undefined if one of its criteria is, and its reason names that criterion."""
    return [margin for dataset in result.datasets for margin in _of_dataset(dataset, result.options.readings)]


def by_criterion(result: Correlations) -> list[Margin]:
    """Differences from ceiling and control for each criterion. `result` must be ``paired``."""
    return [_margin(dataset, [row], result.options.readings) for dataset, row in _judged(result)]


def beside_people(result: Correlations) -> dict[tuple[str, str, str, str, str], Estimate]:
    """Each judge's difference from one more person by dataset, run, judge, Eval-Prompt and the judge's criterion:
    `over` of the ceiling in `by_criterion`, without what takes longer."""
    differences = {}
    for dataset, row in _judged(result):
        subject, beside = row.subject, row.beside.get(CEILING)
        over = _ABSENT[CEILING]
        if beside is not None:
            spread = _spread([beside])
            over = _difference(dataset, [(subject.criterion, *beside.over)], spread.one_more if spread else 1.0)
        key = (dataset.name, str(subject.run), subject.judge, str(subject.eval_prompt), subject.criterion)
        differences[key] = over
    return differences


def _judged(result: Correlations) -> Iterator[tuple[CorrelatedDataset, CorrelationRow]]:
    if not result.paired:
        raise ValueError("margins need correlations that were computed paired")
    for dataset in result.datasets:
        for row in dataset.rows:
            if row.kind == JUDGE and row.subject.against is not None:
                yield dataset, row


def of_panels(result: Correlations) -> list[Margin]:
    """Each judge's differences from ceiling and control, with one panel's human ratings at a time."""
    return [replace(margin, people=name) for name, panel in result.panels.items() for margin in margins(panel)]


def _of_dataset(dataset: CorrelatedDataset, how: Readings) -> list[Margin]:
    groups: dict[tuple[str | None, ...], list[CorrelationRow]] = {}
    for row in dataset.rows:
        subject = row.subject
        if row.kind == JUDGE and subject.against is not None:
            groups.setdefault((subject.run, subject.judge, subject.eval_prompt), []).append(row)
    parts = list(groups.values())
    dataset_margins = [_margin(dataset, rows, how) for rows in parts]
    best = best_of(dataset_margins)
    if best is None:
        return dataset_margins
    best_index = next(i for i, margin in enumerate(dataset_margins) if margin is best)
    rivals = [
        _rival(dataset, parts[best_index], parts[i], other)
        for i, other in enumerate(dataset_margins)
        if other.control == best.control and other.value.defined and abs(other.share - best.share) > MOST_APART
    ]
    dataset_margins[best_index] = replace(best, rivals=tuple(rivals))
    return dataset_margins


def _margin(dataset: CorrelatedDataset, group: Sequence[CorrelationRow], how: Readings) -> Margin:
    bars: dict[Bar, Estimate] = {}
    over: dict[Bar, Estimate] = {}
    same: dict[Bar, Estimate] = {}
    above: dict[Bar, tuple[int, int]] = {}
    average, spread = _ABSENT[CEILING], None
    kinds: tuple[Bar, Bar] = (CONTROL, CEILING)
    for kind in kinds:
        beside = [(row.subject.criterion, row.beside[kind]) for row in group if kind in row.beside]
        if len(beside) < len(group):
            bars[kind] = over[kind] = same[kind] = _ABSENT[kind]
            above[kind] = (0, 0)
            continue
        same[kind] = _mean(dataset, [(name, *sides.judge) for name, sides in beside])
        shown = [(name, _at_least_0(sides.bar) if kind == CONTROL else sides.bar) for name, sides in beside]
        bars[kind] = _mean(dataset, [(name, *bar) for name, bar in shown])
        parts = [(name, *sides.over) for name, sides in beside]
        over[kind] = _difference(dataset, parts)
        if kind == CEILING:
            spread = _spread([sides for _, sides in beside])
            average = _difference(dataset, parts, spread.average if spread else 1.0)
            over[kind] = _difference(dataset, parts, spread.one_more if spread else 1.0)
            spread = spread or _of_stories(parts)
        values = [sides.over[0].value for _, sides in beside if sides.over[0].value is not None]
        above[kind] = (sum(value > near_ties.SAME for value in values), len(values))
    subject = group[0].subject
    cells = [row.cell for row in group if row.cell is not None]
    return Margin(
        dataset=dataset.name,
        run=str(subject.run),
        judge=subject.judge,
        eval_prompt=str(subject.eval_prompt),
        control=group[0].is_control,
        criteria=tuple(row.subject.criterion for row in group),
        value=_mean(dataset, [(row.subject.criterion, row.estimate, row.resampled) for row in group]),
        bars=bars,
        over=over,
        above=above,
        average=average,
        spread=spread,
        control_below=sum(CONTROL in row.beside and (row.beside[CONTROL].bar[0].value or 0.0) < 0 for row in group),
        same=same,
        stories=min(row.stories for row in group),
        share=_share(dataset.matrix, group),
        other_raters=any(sides.by_rater for row in group for sides in row.beside.values()),
        readings=reference_rows.judges_side(dataset.matrix, cells, how),
    )


def _at_least_0(bar: tuple[Estimate, Values]) -> tuple[Estimate, Values]:
    estimate, values = bar
    value = None if estimate.value is None else max(estimate.value, 0.0)
    return replace(estimate, value=value), tuple(np.maximum(each, 0.0) for each in values)


def _share(matrix: RatingMatrix, group: Sequence[CorrelationRow]) -> float:
    rated = [int((~np.isnan(matrix.people[_people(matrix, row)])).sum()) for row in group]
    return sum(row.stories for row in group) / max(1, sum(rated))


def _people(matrix: RatingMatrix, row: CorrelationRow) -> int:
    return matrix.criteria.index(str(row.subject.against))


def _rival(
    dataset: CorrelatedDataset, mine: Sequence[CorrelationRow], theirs: Sequence[CorrelationRow], other: Margin
) -> Rival:
    matrix, statistic = dataset.matrix, dataset.statistic
    pairs = [(a, b) for a in mine for b in theirs if a.subject.criterion == b.subject.criterion]
    sides: tuple[list[Part], list[Part]] = ([], [])
    stories = []
    for pair in pairs:
        j = _people(matrix, pair[0])
        judges = [matrix.judge[row.cell] for row in pair if row.cell is not None]
        keep = ~np.isnan(np.stack([*judges, matrix.people[j]])).any(axis=0)
        stories.append(int(keep.sum()))
        people = Side(matrix.people[j], matrix.people_codes[j])
        for side, judge in zip(sides, judges, strict=True):
            side.append((pair[0].subject.criterion, statistic.estimate(Side(judge).only(keep), people), ()))
    none = Estimate.undefined("the two have no criterion in common")
    means = [mean_of(side)[0] if side else none for side in sides]
    return Rival(other.name, other.share, min(stories, default=0), *means)


def _spread(beside: Sequence[Beside]) -> Spread | None:
    """Variances of a judge's mean difference over stories and raters; None without known raters."""
    names = dict.fromkeys(name for sides in beside for name in sides.by_rater)
    parts, resampled = [], []
    for name in names:
        mine = [sides.by_rater[name] for sides in beside if name in sides.by_rater]
        parts.append(float(np.mean([value for value, _ in mine])))
        resampled.append(np.mean([values for _, values in mine], axis=0))
    if not parts or not resampled[0].size:
        return None
    return other_raters.spread(np.array(parts), np.stack(resampled))


def _of_stories(parts: Sequence[Part]) -> Spread | None:
    """Variance over stories of a mean difference, where single raters are not known; None without resamples."""
    _, values = mean_of(parts)
    if not values or np.isnan(values[0]).all():
        return None
    return Spread(float(np.nanvar(values[0])), 0.0, 1)


def _mean(dataset: CorrelatedDataset, parts: Sequence[Part]) -> Estimate:
    estimate, values = mean_of(parts)
    return dataset.intervals.of_values(estimate, values)


def _difference(dataset: CorrelatedDataset, parts: Sequence[Part], by: float = 1.0) -> Estimate:
    estimate, values = mean_of(parts)
    # Cut at the range that a difference of two correlations can have.
    wide = dataset.intervals.of_values(estimate, tuple(other_raters.drawn_out(each, by) for each in values))
    if wide.low is None or wide.high is None:
        return wide
    return replace(wide, low=max(wide.low, -_FURTHEST), high=min(wide.high, _FURTHEST))


# Printed table of each judge's differences from ceiling and control, with notes on the best judge's rivals.

_NOTES = (
    "minus control, minus one more person: paired, on the stories that judge and bar share, in the same resamples",
    "minus control: a control below 0 counts as 0, since an informative judge lies above 0",
    (
        "rows are ordered by their values on these stories: the first row's value is biased upwards, since it was "
        "selected as the highest"
    ),
)
# Why a summary has another interval for the row that it picked.
_OWN = (
    "each interval is of its row alone; a summary's, of the row picked from several, is for all not told apart: wider"
)

_OF_PEOPLE = (
    "leave-one-out: the judge against the mean of the other people, as each person is; minus one more person: the "
    "judge's value less people's"
)
_OF_RATERS = (
    "the interval of minus one more person is for new story-prompts and for other raters who differ as these do"
)


def table_of(result: Correlations, margins: Sequence[Margin], of_panels: Sequence[Margin] = ()) -> Table:
    """Each judge's differences from ceiling and control, highest mean first, then its rows for single panels."""
    highest = [margins[i] for i in near_ties.descending([margin.value.value for margin in margins])]
    ordered = [row for best in highest for row in (best, *(each for each in of_panels if _key(each) == _key(best)))]
    several = len({margin.dataset for margin in ordered}) > 1
    columns = [Column("dataset", "dataset")] if several else []
    columns += [
        *plain("judge", "eval_prompt"),
        *([Column("people", "people")] if of_panels else []),
        *plain("criteria", "stories"),
        *hundredths(value="mean x100", over_control="minus control"),
        Column("above_control", "above it on"),
        Column(ONE_OUT, "leave-one-out", digits=1, factor=100),
        Column("over_ceiling", "minus one more person", digits=1, factor=100),
        Column("above_ceiling", "above it on"),
    ]
    notes = [*_NOTES, *([_OWN] if len(margins) > 1 else [])]
    notes += [_OF_PEOPLE] if any(margin.over[CEILING].defined for margin in ordered) else []
    drawn_out = any(margin.other_raters and margin.over[CEILING].low is not None for margin in ordered)
    notes += [_OF_RATERS] if drawn_out else []
    notes += [note for margin in highest for note in rival_notes(margin)]
    notes += [*result.lost, *(note for dataset in result.datasets for note in dataset.notes)]
    rows = [_row(margin) for margin in ordered]
    return Table(
        "Each judge beside control and one more person", columns, rows, result.signature, tuple(dict.fromkeys(notes))
    )


def rival_notes(margin: Margin) -> list[str]:
    """A sentence for each rival: its share of the stories, and both means on the stories that both rated."""
    shares = [f"{margin.name} rated {_percent(margin.share)} of the stories, {rival.name} {_percent(rival.share)}: "
              f"on the {rival.stories:,} stories that both rated they reach {_points(rival.best_mean)} and "
              f"{_points(rival.rival_mean)}"
              for rival in margin.rivals]  # fmt: skip
    if margin.rivals and any(rival.ahead for rival in margin.rivals):
        shares.append("no row is named the closest to people: the highest row is not the highest on the common stories")
    return shares


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _points(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else f"{100 * estimate.value:.1f}"


def _key(margin: Margin) -> tuple[str, ...]:
    return margin.dataset, margin.run, margin.judge, margin.eval_prompt


def _row(margin: Margin) -> dict[str, Any]:
    def counted(kind: Bar) -> str | None:
        above, total = margin.above[kind]
        return f"{above} of {total}" if total else None

    return {
        "dataset": margin.dataset,
        "judge": f"{margin.judge}, control" if margin.control else margin.judge,
        "eval_prompt": margin.eval_prompt,
        "people": margin.people,
        "criteria": len(margin.criteria),
        "stories": margin.stories,
        "value": margin.value,
        "over_control": margin.over[CONTROL],
        "above_control": counted(CONTROL),
        # The table already shows the interval of the difference.
        ONE_OUT: replace(margin.same[CEILING], low=None, high=None, method=None),
        "over_ceiling": margin.over[CEILING],
        "above_ceiling": counted(CEILING),
    }
