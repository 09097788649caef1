"""All tests of one dataset's judges, each on the stories that have what it needs. Never fills a missing rating."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judge.analysis.coverage import scales_of
from judge.analysis.diagnose.kinds import DIAGNOSTICS, Finding
from judge.analysis.matching import match
from judge.analysis.options import DiagnoseOptions
from judge.errors import SpecError, unknown
from judge.rating_matrix import Cell, RatingMatrix
from judge.stats import jackknife, rating_bias
from judge.stats.estimate import Estimate
from judge.stats.jackknife import Test
from judge.stats.rating_bias import Floats, Replicated

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

ALL = "all criteria"


class Battery:
    """One dataset: people's ratings prepared once for all cells."""

    def __init__(self, matrix: RatingMatrix, options: DiagnoseOptions, scales: dict[str, tuple[Floats, float]]) -> None:
        self.matrix, self.scales = matrix, scales
        self.partner = match(matrix, options.against).partner
        self.raters = [matrix.by_rater(j) for j in range(len(matrix.criteria))]
        self.people = [Replicated.of(raters.ratings, known=raters.known) for raters in self.raters]
        self.words = matrix.stories["words"].to_numpy(dtype=np.float64)
        self.own = _own_systems(matrix, options.own)
        # Repeats of each cell on the axis of all stories; (n, 1) means for imports, whose repeats are not known.
        self.repeats = [self._wide(i) for i in range(len(matrix.cells))]

    def all(self) -> Iterator[Finding]:
        """Cell by cell; then the halo of each judge and Eval-Prompt."""
        for i, j in enumerate(self.partner):
            cell = self.matrix.cells[i]
            if j is None:
                continue
            tests = (self._leniency, self._length, self._compression, self._self_preference, self._loss)
            for name, test in zip(("leniency", "length", "compression", "self-preference", "loss"), tests, strict=True):
                yield Finding(self.matrix.dataset, cell, cell.criterion, name, test(i, j))
            yield self._stuck(i, j)
        yield from self._halos()

    def _leniency(self, i: int, j: int) -> Test:
        judge, people = self.matrix.judge[i], self.matrix.people[j]
        return self._test("leniency", rating_bias.leniency(judge, people), judge, people)

    def _length(self, i: int, j: int) -> Test:
        judge, people = self.matrix.judge[i], self.people[j]
        if np.isnan(self.words).all():
            return _undefined("length", "the stories' lengths are not known")
        statistic = rating_bias.length_slope(judge, people, self.words)
        return self._test("length", statistic, judge, people.mean, self.words, why=_NO_QUALITY)

    def _compression(self, i: int, j: int) -> Test:
        judge = Replicated.of(self.repeats[i])
        statistic = rating_bias.log_spread(judge, self.people[j])
        return self._test("compression", statistic, judge.mean, self.people[j].mean, why=_NO_QUALITY)

    def _self_preference(self, i: int, j: int) -> Test:
        own = self.own(self.matrix.cells[i].judge)
        if not own.any():
            return _undefined("self-preference", "no system is known to be this judge's own (--own SYSTEM)")
        if own.all():
            return _undefined("self-preference", "every story is by a system of this judge's own")
        judge, people = self.matrix.judge[i], self.matrix.people[j]
        return self._test("self-preference", rating_bias.own_preference(judge, people, own), judge, people)

    def _loss(self, i: int, j: int) -> Test:
        asked = self.matrix.asked[i].astype(np.float64)
        lost = asked - self.matrix.valid[i]
        if not lost.sum():
            return _undefined("loss", "nothing was lost")
        used = np.where(asked > 0, 1.0, np.nan)
        people = self.matrix.people[j]
        weighted = np.where(np.isnan(people), 0.0, 1.0)
        statistic = rating_bias.loss_gap(lost * weighted, asked * weighted, people)
        return self._test("loss", statistic, used, people, why="everything, or nothing, was lost on rated stories")

    def _stuck(self, i: int, j: int) -> Finding:
        """The point of the scale that the judge gives most in excess of people; p times the number of points."""
        cell, ratings = self.matrix.cells[i], self.raters[j].ratings
        if self.matrix.means[i]:
            test = _undefined("stuck", "imported means are not single ratings")
            return Finding(self.matrix.dataset, cell, cell.criterion, "stuck", test)
        points, step = self.scales.get(cell.criterion) or _observed_points(self.repeats[i], ratings)
        tests = [
            self._test(
                "stuck",
                rating_bias.excess_at(point, step, self.repeats[i], ratings),
                self.matrix.judge[i],
                self.matrix.people[j],
            )
            for point in points
        ]
        at = int(np.argmin([1.0 if test.p is None else test.p for test in tests]))
        best = tests[at]
        if best.p is not None:
            best = replace(best, p=min(1.0, best.p * len(points)))
        return Finding(self.matrix.dataset, cell, cell.criterion, "stuck", best, point=float(points[at]))

    def _halos(self) -> Iterator[Finding]:
        groups: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
        for i, j in enumerate(self.partner):
            if j is not None:
                cell = self.matrix.cells[i]
                groups.setdefault((cell.run, cell.judge, cell.eval_prompt), []).append((i, j))
        for key, pairs in groups.items():
            cell = Cell(*key, ALL)
            if len({j for _, j in pairs}) < 2:
                test = _undefined("halo", "undefined with fewer than 2 criteria that people rated too")
            else:
                test = self._halo(pairs)
            yield Finding(self.matrix.dataset, cell, ALL, "halo", test)

    def _halo(self, pairs: Sequence[tuple[int, int]]) -> Test:
        """On the stories that have all criteria from both sides."""
        judge = tuple(Replicated.of(self.repeats[i]) for i, _ in pairs)
        people = tuple(self.people[j] for _, j in pairs)
        arrays = [one.mean for one in (*judge, *people)]
        return self._test("halo", rating_bias.halo(judge, people), *arrays, why=_NO_QUALITY)

    def _test(self, name: str, statistic: jackknife.Statistic, *needed: Floats, why: str = "") -> Test:
        used = np.asarray(~np.isnan(np.stack(needed)).any(axis=0), dtype=bool)
        test = jackknife.against_zero(statistic, self.matrix.story_prompt, used, tail=DIAGNOSTICS[name].tail)
        if why and test.estimate.value is None and used.any():
            return replace(test, estimate=Estimate.undefined(why, n=test.estimate.n))
        return test

    def _wide(self, i: int) -> Floats:
        asked = self.matrix.asked[i] > 0
        repeats = self.matrix.repeats(i)
        wide = np.full((self.matrix.n, max(1, repeats.shape[1])), np.nan)
        wide[asked, : repeats.shape[1]] = repeats
        return wide


_NO_QUALITY = (
    "undefined: less than a tenth of the differences between stories' mean ratings is more than disagreement within "
    "stories, so there is no quality to compare with"
)


def _undefined(name: str, reason: str) -> Test:
    return Test(Estimate.undefined(reason), None, None, DIAGNOSTICS[name].tail, 0)


def points_of(table: RatingsTable) -> dict[str, tuple[Floats, float]]:
    """Criterion -> points of its scale and their step, for scales of 2 to 20 points."""
    steps = {c.name: c.scale.step for fact in table.facts for c in fact.criteria}
    found: dict[str, tuple[Floats, float]] = {}
    for name, (low, high) in scales_of(table).items():
        step = float(steps.get(name) or 1.0)
        count = round((high - low) / step) + 1
        if 2 <= count <= 20:
            found[name] = (np.asarray(low + step * np.arange(count), dtype=np.float64), step)
    return found


def _observed_points(*ratings: Floats) -> tuple[Floats, float]:
    """The whole numbers that were given, where the scale is not known."""
    values = np.concatenate([one[~np.isnan(one)] for one in ratings])
    return np.unique(np.round(values)).astype(np.float64), 1.0


def _own_systems(matrix: RatingMatrix, named: Sequence[str]) -> Callable[[str], Any]:
    """From a judge's name to its own systems' stories: those named, else those whose name is part of the judge's."""
    for name in named:
        if name not in matrix.systems:
            raise SpecError(unknown("--own", name, matrix.systems))

    def own(judge: str) -> Any:
        plain = _letters(judge)
        mine = named or [s for s in matrix.systems if len(_letters(s)) > 3 and _letters(s) in plain]
        return np.isin(matrix.system, [matrix.systems.index(name) for name in mine])

    return own


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
