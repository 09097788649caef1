"""How far each judge's correlation lies from the two bars, people and the control, paired.

Judge and bar stand on the stories that both have, and on the same resamples of these, so the interval of a difference
is that of the paired difference, which is narrower than two intervals side by side suggest. Beside people the judge is
scored as one person is, against the means of the others (`reference_rows`); that interval is drawn out by what other
raters like these would change (`stats.estimation.other_raters`). A highest row is named only with the figures on common
stories, where another judge rated another share of them (`best_of`, `Rival`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judge.analysis.correlation import readings
from judge.analysis.correlation.reference_rows import Beside, Values
from judge.analysis.correlation.rows import ONE_OUT, DatasetRows, Row, mean_of
from judge.analysis.correlation.statistic import Side
from judge.analysis.coverage import coverage, loss
from judge.analysis.inputs.bars import JUDGE, Predict, Remarks
from judge.analysis.inputs.criterion_matching import match
from judge.analysis.options.signature import signature
from judge.analysis.options.table_options import CorrelationOptions
from judge.printing.tables import Column, Table
from judge.rating_matrix import RatingMatrix, build
from judge.stats import near_ties
from judge.stats.estimate import Estimate
from judge.stats.estimation import other_raters

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

CONTROL, CEILING = "control", "ceiling"
_ABSENT = {
    CONTROL: Estimate.undefined("there is no control's row"),
    CEILING: Estimate.undefined("there is no human ceiling"),
}


MOST_APART = 0.02
"""Shares of the stories that two judges rated may differ by so much before the highest needs the common stories."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Another row, whose judge rated another share of the stories: both means on the stories that both rated."""

    name: str
    share: float
    stories: int
    mine: Estimate
    theirs: Estimate

    @property
    def ahead(self) -> bool:
        """Whether the other row is at least as high on the common stories, or this cannot be said."""
        if self.mine.value is None or self.theirs.value is None:
            return True
        return self.theirs.value > self.mine.value + near_ties.SAME


@dataclass(frozen=True, slots=True)
class Margin:
    """One judge x Eval-Prompt of a dataset, on average over its `criteria` (those that people rated).

    `value` is its mean correlation; `bars` holds the mean of control and ceiling over the same criteria, each on the
    stories that it shares with the judge, `same` the judge's there (beside people: against the means of the others),
    `over` the judge minus each, `above` on how many criteria the judge is the higher one, of how many that are defined.
    `stories` counts those with people's ratings and the judge's (the least of the criteria), `share` is what part they
    are of those that people rated; `readings` says what stands on the judge's side beside one person, `other_raters`
    whether the distance from people is for other raters too. The highest lead of a dataset names its `rivals`.
    """

    dataset: str
    run: str
    judge: str
    eval_prompt: str
    control: bool
    criteria: tuple[str, ...]
    value: Estimate
    bars: dict[str, Estimate]
    over: dict[str, Estimate]
    above: dict[str, tuple[int, int]]
    same: dict[str, Estimate] = field(default_factory=dict)
    stories: int = 0
    share: float = 1.0
    readings: str = "one reading"
    other_raters: bool = False
    rivals: tuple[Rival, ...] = ()

    @property
    def name(self) -> str:
        """Judge and Eval-Prompt in words."""
        return f"{self.judge} with {self.eval_prompt}"


def best_of(found: Sequence[Margin]) -> Margin | None:
    """The highest lead among the judges (of controls alone, where no other judge was asked); None = none is defined."""
    judges = [lead for lead in found if not lead.control] or list(found)
    defined = [lead for lead in judges if lead.value.value is not None]
    return defined[near_ties.highest([lead.value.value for lead in defined])] if defined else None


def margins(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> list[Margin]:
    """A lead for each judge x Eval-Prompt, in the order of the correlation table.

    Cells without people's ratings are left out. A mean is undefined where one of its criteria is, and says which.
    """
    options = options or CorrelationOptions()
    return _found(table, build(table, drop_systems=options.drop_systems), options, predict, Remarks())


def table_of(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> Table:
    """The leads as a table, highest mean first."""
    return with_table(table, options, predict=predict)[1]


def with_table(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> tuple[list[Margin], Table]:
    """Both at the price of one."""
    options, remarks = options or CorrelationOptions(), Remarks()
    matrices = build(table, drop_systems=options.drop_systems)
    made = _found(table, matrices, options, predict, remarks)
    found = [made[i] for i in near_ties.descending([one.value.value for one in made])]
    several = len({one.dataset for one in found}) > 1
    rows = [_row(one) for one in found]
    columns = [Column("dataset", "dataset")] if several else []
    columns += [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criteria", "criteria"),
        Column("stories", "stories"),
        Column("value", "mean x100", digits=1, factor=100),
        Column("over_control", "minus control", digits=1, factor=100),
        Column("above_control", "above it on"),
        Column(ONE_OUT, "leave-one-out", digits=1, factor=100),
        Column("over_ceiling", "minus people", digits=1, factor=100),
        Column("above_ceiling", "above them on"),
    ]
    notes = list(_NOTES)
    notes += [_OF_PEOPLE] if any(one.over[CEILING].defined for one in found) else []
    notes += [_OF_RATERS] if any(one.other_raters and one.over[CEILING].low is not None for one in found) else []
    notes += [note for one in found for note in rival_notes(one)]
    notes += loss.findings(matrices)
    line = signature(table, matrices, options, extra=list(remarks.made))
    return made, Table(
        "Each judge beside control and people", columns, rows, line, tuple(dict.fromkeys([*notes, *remarks.notes]))
    )


_NOTES = (
    "minus control, minus people: paired, on the stories that the judge shares with the bar, in the same resamples",
    "minus control: a control below 0 counts as 0, since to say more than nothing is to lie above 0",
    "the order is that of these stories: the first row is flattered by having been picked from all",
)


_OF_PEOPLE = (
    "leave-one-out: the judge against the mean of the other people, as each person is; minus people: less theirs"
)
_OF_RATERS = "the interval of minus people is for new story-prompts and for other raters who differ as these do"


def rival_notes(lead: Margin) -> list[str]:
    """One sentence for each rival: whose share of the stories differs, and what both reach on the common ones."""
    shares = [f"{lead.name} rated {_percent(lead.share)} of the stories, {rival.name} {_percent(rival.share)}: "
              f"on the {rival.stories:,} that both rated {_points(rival.mine)} and {_points(rival.theirs)}"
              for rival in lead.rivals]  # fmt: skip
    if lead.rivals and any(rival.ahead for rival in lead.rivals):
        shares.append("no row is named the closest to people: the highest is not highest on the common stories")
    return shares


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _points(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else f"{100 * estimate.value:.1f}"


def _found(
    table: RatingsTable,
    matrices: Sequence[RatingMatrix],
    options: CorrelationOptions,
    predict: Predict | None,
    remarks: Remarks,
) -> list[Margin]:
    controls = frozenset(fact.judge for fact in table.facts if fact.control)
    scales = coverage.scales_of(table)
    found: list[Margin] = []
    for matrix in matrices:
        maker = DatasetRows(matrix, options, predict, remarks, paired=True, scales=scales)
        found += _of_dataset(maker, maker.all(match(matrix, options.against)), controls)
    return found


def _of_dataset(maker: DatasetRows, rows: Sequence[Row], controls: frozenset[str]) -> list[Margin]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.kind == JUDGE and row.labels["against"] is not None:
            groups.setdefault(tuple(row.labels[key] for key in ("run", "judge", "eval_prompt")), []).append(row)
    made = [_lead(maker, key, group, controls) for key, group in groups.items()]
    best = best_of(made)
    if best is None:
        return made
    place = next(i for i, one in enumerate(made) if one is best)
    parts = list(groups.values())
    rivals = [
        _rival(maker, parts[place], parts[i], other)
        for i, other in enumerate(made)
        if other.control == best.control and other.value.defined and abs(other.share - best.share) > MOST_APART
    ]
    made[place] = replace(best, rivals=tuple(rivals))
    return made


def _lead(maker: DatasetRows, key: tuple[str, ...], group: Sequence[Row], controls: frozenset[str]) -> Margin:
    means: dict[str, Estimate] = {}
    over: dict[str, Estimate] = {}
    same: dict[str, Estimate] = {}
    above: dict[str, tuple[int, int]] = {}
    for kind in (CONTROL, CEILING):
        beside = [(row.criterion, row.beside[kind]) for row in group if kind in row.beside]
        if len(beside) < len(group):
            means[kind] = over[kind] = same[kind] = _ABSENT[kind]
            above[kind] = (0, 0)
            continue
        same[kind] = _mean(maker, [(name, *one.judge) for name, one in beside])
        means[kind] = _mean(maker, [(name, *one.bar) for name, one in beside])
        by = _other_raters([one for _, one in beside]) if kind == CEILING else 1.0
        over[kind] = _mean(maker, [(name, *one.over) for name, one in beside], by)
        values = [one.over[0].value for _, one in beside if one.over[0].value is not None]
        above[kind] = (sum(value > near_ties.SAME for value in values), len(values))
    run, judge, eval_prompt = key
    cells = [row.cell for row in group if row.cell is not None]
    return Margin(
        dataset=maker.matrix.dataset,
        run=run,
        judge=judge,
        eval_prompt=eval_prompt,
        control=judge in controls,
        criteria=tuple(row.criterion for row in group),
        value=_mean(maker, [(row.criterion, row.estimate, row.resampled) for row in group]),
        bars=means,
        over=over,
        above=above,
        same=same,
        stories=min(row.labels["stories"] for row in group),
        share=_share(maker, group),
        other_raters=any(one.by_rater for row in group for one in row.beside.values()),
        readings=readings.judges_side(maker.matrix, cells, maker.options.readings),
    )


def _share(maker: DatasetRows, group: Sequence[Row]) -> float:
    """Part of the stories that people rated, over the group's criteria, that the judge rated too."""
    names = maker.matrix.criteria
    rated = [int((~np.isnan(maker.matrix.people[names.index(row.labels["against"])])).sum()) for row in group]
    return sum(int(row.labels["stories"]) for row in group) / max(1, sum(rated))


def _rival(maker: DatasetRows, mine: Sequence[Row], theirs: Sequence[Row], other: Margin) -> Rival:
    """Both sides' means over the criteria that both have, on the stories that both rated."""
    matrix, statistic = maker.matrix, maker.statistic
    pairs = [(a, b) for a in mine for b in theirs if a.criterion == b.criterion]
    sides: tuple[list[_Part], list[_Part]] = ([], [])
    stories = []
    for pair in pairs:
        j = matrix.criteria.index(pair[0].labels["against"])
        judges = [matrix.judge[row.cell] for row in pair if row.cell is not None]
        keep = ~np.isnan(np.stack([*judges, matrix.people[j]])).any(axis=0)
        stories.append(int(keep.sum()))
        people = Side(matrix.people[j], matrix.people_codes[j])
        for side, judge in zip(sides, judges, strict=True):
            side.append((pair[0].criterion, statistic.estimate(Side.of(judge).only(keep), people), ()))
    none = Estimate.undefined("the two have no criterion in common")
    found = [mean_of(side)[0] if side else none for side in sides]
    return Rival(other.name, other.share, min(stories, default=0), *found)


_Part = tuple[str, Estimate, Values]


def _other_raters(beside: Sequence[Beside]) -> float:
    """The factor by which other raters like these widen the interval of the mean over criteria."""
    names = dict.fromkeys(name for one in beside for name in one.by_rater)
    parts, resampled = [], []
    for name in names:
        mine = [one.by_rater[name] for one in beside if name in one.by_rater]
        parts.append(float(np.mean([value for value, _ in mine])))
        resampled.append(np.mean([values for _, values in mine], axis=0))
    if not parts or not resampled[0].size:
        return 1.0
    return other_raters.factor(np.array(parts), np.stack(resampled))


def _mean(maker: DatasetRows, parts: Sequence[_Part], by: float = 1.0) -> Estimate:
    estimate, values = mean_of(list(parts))
    return maker.intervals.of_values(estimate, tuple(other_raters.drawn_out(one, by) for one in values))


def _row(one: Margin) -> dict[str, Any]:
    def counted(kind: str) -> str | None:
        above, of = one.above[kind]
        return f"{above} of {of}" if of else None

    return {
        "dataset": one.dataset,
        "judge": f"{one.judge}, control" if one.control else one.judge,
        "eval_prompt": one.eval_prompt,
        "criteria": len(one.criteria),
        "stories": one.stories,
        "value": one.value,
        "over_control": one.over[CONTROL],
        "above_control": counted(CONTROL),
        ONE_OUT: _bare(one.same[CEILING]),
        "over_ceiling": one.over[CEILING],
        "above_ceiling": counted(CEILING),
    }


def _bare(estimate: Estimate) -> Estimate:
    """Without its interval: the difference beside it has one."""
    return replace(estimate, low=None, high=None, method=None)
