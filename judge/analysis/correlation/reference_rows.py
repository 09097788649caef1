"""Compares a judge with one person or with the control judge, both measured in the same way on the same stories.

A judge's correlation with the mean of all r people is not comparable with one person's correlation with the mean of the
r - 1 others. A mean of more people has less error, so a judge that is equivalent to one more person would seem better
than people. The judge is therefore compared with the same means of r - 1 people as each rater, and the two correlations
are subtracted rater by rater (for a pool, draw by draw) on the stories that both rated. The expected difference of a
judge that is equivalent to one more person is then 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import assert_never

import numpy as np

from judge.analysis.correlation.statistic import Intervals, Pair, Side, Statistic
from judge.analysis.inputs.candidates import Candidate
from judge.analysis.options.table_options import Readings
from judge.base.arrays import Floats, Masks, ratio
from judge.base.estimate import Estimate, Reason
from judge.base.wording import Advice, Note, joined
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.correlation import human_ceiling

# A statistic in each set of resamples; empty where there are none.
Values = tuple[Floats, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """Correlations with people of a judge and of its reference `bar` (the control judge, or one person compared with
    the others), and `over`, judge minus reference. Each is an estimate with its values in resamples. For a panel,
    `by_rater` maps each rater to the judge's difference from that rater, with its values in the first set of resamples.
    """

    judge: tuple[Estimate, Values]
    bar: tuple[Estimate, Values]
    over: tuple[Estimate, Values]
    by_rater: Mapping[str, tuple[float, Floats]] = field(default_factory=dict)

    @classmethod
    def undefined(cls, reason: str | Reason) -> Beside:
        """A comparison of a judge with its reference in which all three estimates are undefined for this reason."""
        none = (Estimate.undefined(reason), ())
        return cls(none, none, none)


class OnePerson:
    """Agreement of one person with the mean of the other people on one criterion (one more person). It is averaged
    over all raters of a panel (every rater rated nearly every story), or over random draws of one rater per story from
    a `pool`. `ceiling` is None where raters are not known."""

    def __init__(self, people: Candidate, stories: Masks, statistic: Statistic, seed: int) -> None:
        self.statistic, self.pool = statistic, False
        self.names: tuple[str, ...] = ()
        self.ceiling: human_ceiling.Ceiling | None = None
        raters = people.raters
        self._reason = people.reason or "undefined"
        if raters is None or people.reason is not None:
            return
        ratings = np.where(stories[:, None], raters.ratings, np.nan)
        self.pool = ratings.shape[1] > 1 and not human_ceiling.is_panel(raters.ratings)
        if self.pool:
            ceiling = human_ceiling.one_of_each_story(ratings, human_ceiling.DRAWS, np.random.default_rng(seed))
        else:
            ceiling = human_ceiling.one_against_others(ratings)
            self.names = raters.names
        self.ceiling = replace(ceiling, y=np.where(np.isnan(ceiling.x), np.nan, ceiling.y))
        self._x, self._y = ([Side(row) for row in rows] for rows in (self.ceiling.x, self.ceiling.y))
        self._people: dict[tuple[int, bytes], Estimate] = {}
        self._drawn: dict[tuple[int, int, bytes], Floats] = {}

    @cached_property
    def estimate(self) -> Estimate:
        """One more person, without an interval."""
        if self.ceiling is None:
            return Estimate.undefined(self._reason)
        return self.ceiling.estimate(lambda x, y: self.statistic.estimate(Side(x), Side(y)))

    def pairs(self, readings: Sequence[Floats]) -> tuple[list[Pair], list[Pair]]:
        """What is correlated to compare a judge with one person: each person with the others on all stories, and both
        the person and the judge with the others on the stories that the judge rated."""
        if self.ceiling is None:
            return [], []
        each = list(zip(self.ceiling.x, self.ceiling.y, strict=True))
        with_judge = [
            pair
            for reading in readings
            for x, y in each
            for pair in ((reading, y), (np.where(np.isnan(reading), np.nan, x), y))
        ]
        return each, with_judge

    @property
    def stories(self) -> Masks | None:
        """Mask of the stories on which the ceiling is computed, shape (n stories,); None without a ceiling."""
        if self.ceiling is None or not len(self.ceiling.x):
            return None
        return np.asarray((~np.isnan(self.ceiling.x) & ~np.isnan(self.ceiling.y)).any(axis=0))

    def resampled(self, intervals: Intervals) -> Values:
        """The ceiling in each resample, one array for each set; empty where raters are not known."""
        if self.ceiling is None:
            return ()
        sides = [side.values for side in self._x]
        return tuple(
            self.ceiling.of_resampled(np.stack([self._of_person(i, x, intervals, k) for i, x in enumerate(sides)]))
            for k in range(len(intervals.sets))
        )

    def _of_person(self, i: int, x: Floats, intervals: Intervals, k: int) -> Floats:
        """Correlation of person i with the others in set k of resamples; `x` are the person's ratings, or some."""
        key = (id(intervals.sets[k]), i, np.isnan(x).tobytes())
        if key not in self._drawn:
            self._drawn[key] = self.statistic.resampled(x, self._y[i].values, intervals.sets[k])
        return self._drawn[key]

    def beside(self, readings: Sequence[Floats]) -> tuple[Beside, Masks]:
        """Comparison of a judge with one person, without intervals, averaged over the judge's readings (shape (n,)
        each). The mask, shape (readings, pairs of one person and the others), says where the correlations of judge and
        person are both defined; `resampled_beside` needs it."""
        if self.estimate.value is None:
            return Beside.undefined(self.estimate.why), np.zeros((len(readings), 0), dtype=np.bool_)
        values = np.full((2, len(readings), len(self._x)), np.nan)
        n, reasons = 0, []
        for q, reading in enumerate(readings):
            side, rated = Side(reading), ~np.isnan(reading)
            for i, y in enumerate(self._y):
                pair = self.statistic.estimate(side, y), self._person(i, rated)
                if pair[0].value is None or pair[1].value is None:
                    reasons += [estimate.reason for estimate in pair if estimate.reason]
                    continue
                values[:, q, i] = pair[0].value, pair[1].value
                n = max(n, pair[0].n)
        defined = ~np.isnan(values[0])
        if not defined.any():
            return Beside.undefined(
                reasons[0] if reasons else "undefined: the judge rated none of the stories"
            ), defined
        judge, people = (float(side[defined].mean()) for side in values)
        compared = Beside(
            (Estimate(judge, n=n), ()), (Estimate(people, n=n), ()), (Estimate(judge - people, n=n), ()),
            {name: (part, np.empty(0)) for name, part in self._parts(values[0] - values[1])},
        )  # fmt: skip
        return compared, defined

    def resampled_beside(self, judges: Sequence[Sequence[Floats]], intervals: Intervals) -> list[Beside]:
        """Comparisons of each judge, given by its readings, with one person, with values in each resample."""
        compared = [self.beside(readings) for readings in judges]
        if self.estimate.value is None or not judges:
            return [plain for plain, _ in compared]
        sets = [
            self._set(judges, [defined for _, defined in compared], intervals, k) for k in range(len(intervals.sets))
        ]
        with_intervals = []
        for j, (plain, _) in enumerate(compared):
            if plain.over[0].value is None or not sets:
                with_intervals.append(plain)
                continue
            judge, people = (tuple(values[j][side] for values in sets) for side in (0, 1))
            parts = sets[0][j][2]
            by_rater = {name: (value, parts[i]) for i, (name, (value, _)) in enumerate(plain.by_rater.items())}
            over = tuple(a - b for a, b in zip(judge, people, strict=True))
            with_intervals.append(
                Beside((plain.judge[0], judge), (plain.bar[0], people), (plain.over[0], over), by_rater)
            )
        return with_intervals

    def _set(
        self, judges: Sequence[Sequence[Floats]], defined: Sequence[Masks], intervals: Intervals, k: int
    ) -> list[tuple[Floats, Floats, Floats]]:
        """By judge: its correlation and people's, (b,), and judge minus rater, (raters, b); no rows for a pool."""
        rows = np.stack([reading for readings in judges for reading in readings])
        masks = ~np.isnan(rows)
        distinct, mask_index = np.unique(masks, axis=0, return_inverse=True)
        size, pairs = intervals.sets[k].size, len(self._x)
        sums = np.zeros((len(judges), 2, size))
        count = np.zeros((len(judges), size))
        parts = np.full((len(judges), 0 if self.pool else pairs, size), np.nan)
        for i in range(pairs):
            resampled = self.statistic.resampled(rows, self._y[i].values, intervals.sets[k])
            people = [self._of_person(i, x, intervals, k) for x in np.where(distinct, self._x[i].values, np.nan)]
            start = 0
            for j, readings in enumerate(judges):
                mine = (
                    np.arange(start, start + len(readings))[defined[j][:, i]] if defined[j].size else np.empty(0, int)
                )
                start += len(readings)
                if not mine.size:
                    continue
                both = np.stack([resampled[mine], [people[mask] for mask in mask_index.reshape(-1)[mine]]])
                both_defined = ~np.isnan(both).any(axis=0)
                total = np.where(both_defined, both, 0.0).sum(axis=1)
                sums[j] += total
                count[j] += both_defined.sum(axis=0)
                if len(parts[j]):
                    parts[j, i] = ratio(total[0] - total[1], both_defined.sum(axis=0))
        return [(ratio(sums[j, 0], count[j]), ratio(sums[j, 1], count[j]), parts[j]) for j in range(len(judges))]

    def _person(self, i: int, rated: Masks) -> Estimate:
        key = (i, rated.tobytes())
        if key not in self._people:
            self._people[key] = self.statistic.estimate(self._x[i].only(rated), self._y[i])
        return self._people[key]

    def _parts(self, over: Floats) -> list[tuple[str, float]]:
        """Each rater's name and the judge's difference from that rater, mean over readings; empty for a pool."""
        if self.pool:
            return []
        return [(name, float(np.nanmean(part)) if not np.isnan(part).all() else np.nan)
                for name, part in zip(self.names, over.T, strict=True)]  # fmt: skip


def beside_control(
    judge: tuple[Side, Estimate, Values],
    control: tuple[Side, Estimate, Values],
    people: Side,
    statistic: Statistic,
    values: Callable[[Floats], Values] | None,
) -> Beside:
    """Comparison of a judge with the control judge by their agreement with people, on the stories that both rated.

    `judge` and `control` hold the ratings, and the estimate and resampled values on all stories of that judge. `values`
    computes the resampled values of ratings against people; None = no resamples. A negative correlation of the control
    counts as 0 in the difference, in the estimate and in each resample. With uninformative features, it is negative as
    often as positive, and it varies more than over resamples of stories, because each fold is predicted from all
    others. A judge that is better than such a control must itself have a correlation above 0."""
    keep = ~(np.isnan(judge[0].values) | np.isnan(control[0].values))
    sides: list[tuple[Estimate, Values]] = []
    for side, estimate, own_values in (judge, control):
        rated = ~np.isnan(side.values) & ~np.isnan(people.values)
        if (keep | ~rated).all():
            sides.append((estimate, own_values if values else ()))
            continue
        there = side.only(keep)
        estimate_shared = statistic.estimate(there, people)
        sides.append((estimate_shared, values(there.values) if values and estimate_shared.defined else ()))
    (x, xs), (y, ys) = sides
    if x.value is None or y.value is None:
        why = Estimate.undefined(x.why if x.value is None else y.why)
        return Beside((x, xs), (y, ys), (why, ()))
    difference = tuple(a - np.maximum(b, 0.0) for a, b in zip(xs, ys, strict=False))
    return Beside((x, xs), (y, ys), (Estimate(x.value - max(y.value, 0.0), n=min(x.n, y.n)), difference))


# Number of readings (single ratings) per story on each side of a comparison with people.


def of_judge(matrix: RatingMatrix, cell: int, how: Readings) -> list[Floats] | str:
    """Ratings of the judge in row `cell` for the comparison with one person, shape (n stories,) each: its means, or
    each repeat (``single``). A string is the reason why there are none."""
    if how == "mean":
        return [matrix.judge[cell]]
    if how != "single":
        assert_never(how)
    if matrix.means[cell]:
        return "undefined for imported means of repeats: single repeats are not in the file"
    repeats = [row for row in matrix.wide(cell).T if not np.isnan(row).all()]
    return repeats or "undefined: the judge rated none of the stories"


def judges_side(matrix: RatingMatrix, cells: list[int], how: Readings = "mean") -> str:
    """Description of the ratings of the judges in rows `cells`, e.g. `the mean of 3 repeats` or `one repeat`."""
    if how == "single":
        return "one repeat"
    if any(matrix.means[i] for i in cells):
        return "the mean of its repeats"
    counts = [matrix.valid[i][matrix.valid[i] > 0] for i in cells]
    repeat_counts = np.concatenate(counts) if counts else np.empty(0, dtype=np.int64)
    if not repeat_counts.size or repeat_counts.max() <= 1:
        return "one reading"
    return f"the mean of {_range(repeat_counts)} repeats"


def others_side(matrix: RatingMatrix, j: int) -> str:
    """What one person is compared with on human criterion `j`, e.g. `the mean of the 2 others`."""
    counts = matrix.raters[j][matrix.raters[j] > 1] - 1
    words = _range(counts)
    return "the one other" if words == "1" else f"the mean of the {words} others"


def note(matrix: RatingMatrix, j: int, cells: list[int], person: OnePerson, how: Readings) -> str:
    """How many ratings per story are behind a judge's correlation and behind a person's on human criterion `j`."""
    mine, counts = judges_side(matrix, cells, how), matrix.raters[j][matrix.raters[j] > 0]
    who = "one random person a story" if person.pool else "one person"
    text: str = f"leave-one-out sets {mine} of a judge and one reading of {who} against {others_side(matrix, j)}"
    if how == "mean" and mine != "one reading":
        text = Note(text, Advice("single repeats: {readings}", readings="single"))
    return joined(text, f"; the judge's own row is against the mean of all {_range(counts)} people")


def pool_note(dataset: str) -> str:
    """What a pool of raters is and how to read its numbers."""
    return (
        f"{dataset}: people are a pool, not a panel (some rated less than 80 % of the shared stories). One more person "
        "is one random rater of each story against the mean of that story's others, averaged over draws. "
        "Raters' own scales differ from story to story there, while a judge keeps to one"
    )


def _range(counts: np.typing.NDArray[np.int64]) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low} to {high}"
