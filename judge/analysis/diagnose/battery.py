"""All diagnostic tests for biases of one dataset's judges, each on the stories that have the data the test needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judge.analysis.coverage.coverage import scales_of
from judge.analysis.criteria_profiles import halo_test
from judge.analysis.diagnose import kinds
from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.label_criteria import scale_of
from judge.analysis.options.table_options import DiagnoseOptions
from judge.base.arrays import Floats, ratio
from judge.base.errors import unknown_value
from judge.base.estimate import Estimate
from judge.base.records import Scale
from judge.ratings.rating_matrix import Cell, Raters, RatingMatrix
from judge.stats.bias import rating_bias
from judge.stats.bias.given_quality import RATED_ONCE, GivenQuality, OwnPreference, share_at_end
from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import Test

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


# Tests of one rater beside the others: a judge or a person with the scale turned round, a judge that repeats a person.

# Agreement beyond the others', as a share of what chance leaves, from which a judge is said to repeat a rater.
COPIED = 0.5

ONE_RATER = "undefined with fewer than two raters"
AGREE_WELL = (
    "undefined: people agree so well with each other that repeating one of them cannot be told from agreeing with all"
)
SORTED = "undefined: each story's ratings are stored in ascending order, so that no column is one rater's"


def judge_tests(matrix: RatingMatrix, cell: int, criterion: int, singles: Floats) -> Iterator[kinds.Finding]:
    """The tests of whether the judge in row `cell` has its scale turned round, and of whether it repeats one rater.
    `singles` holds its single ratings, shape (n stories, repeats)."""
    of = matrix.cells[cell]
    test = rating_bias.against_others(matrix.judge[cell], matrix.people[criterion][:, None], matrix.story_prompt)
    yield kinds.Finding(matrix.dataset, of, of.criterion, kinds.REVERSED, test)
    raters = matrix.by_rater(criterion)
    copied = kinds.Finding(
        matrix.dataset, of, of.criterion, kinds.COPY, jackknife.undefined(ONE_RATER, kinds.DIAGNOSTICS[kinds.COPY].tail)
    )
    yield _copied(copied, raters, singles, matrix)


def rater_tests(matrix: RatingMatrix) -> Iterator[kinds.Finding]:
    """For each criterion that people rated, the test of whether one of them has the scale turned round."""
    for j, criterion in enumerate(matrix.criteria):
        scale = matrix.labels.get(criterion.casefold())
        if scale is not None and scale.positive_code is None and not scale.ordered:
            continue
        raters = matrix.by_rater(j)
        undefined = jackknife.undefined(raters.reason or ONE_RATER, kinds.DIAGNOSTICS[kinds.REVERSED_RATER].tail)
        finding = kinds.Finding(
            matrix.dataset, Cell("", kinds.PEOPLE, "", criterion), criterion, kinds.REVERSED_RATER, undefined
        )
        if not raters.known or raters.ratings.shape[1] < 2:
            yield finding
            continue
        tests = [_against_others(raters.ratings, k, matrix) for k in range(raters.ratings.shape[1])]
        # Of two raters nothing tells which one is turned round.
        names = (" or ".join(raters.names),) * 2 if len(tests) == 2 else raters.names
        yield _named(finding, tests[:1] if len(tests) == 2 else tests, names)


def _copied(finding: kinds.Finding, raters: Raters, singles: Floats, matrix: RatingMatrix) -> kinds.Finding:
    ratings = raters.ratings
    if raters.ascending or ratings.shape[1] < 2:
        reason = SORTED if raters.ascending else ONE_RATER
        return replace(finding, test=jackknife.undefined(reason, finding.test.tail))
    tests = [_excess_agreement(ratings, k, singles, matrix) for k in range(ratings.shape[1])]
    names = raters.names or tuple(f"rating {k + 1}" for k in range(len(tests)))
    named = _named(finding, tests, names)
    # People who agree that well leave no room for agreeing with one of them by so much more.
    return replace(named, test=_too_alike(named.test)) if rating_bias.kappa_of_people(ratings) >= 1 - COPIED else named


def _against_others(ratings: Floats, rater: int, matrix: RatingMatrix) -> Test:
    # Only the stories of this rater: of a pool each rated few.
    rows = ~np.isnan(ratings[:, rater])
    own, others = ratings[rows, rater], np.delete(ratings[rows], rater, axis=1)
    return rating_bias.against_others(own, others, matrix.story_prompt[rows])


def _excess_agreement(ratings: Floats, rater: int, singles: Floats, matrix: RatingMatrix) -> Test:
    rows = ~np.isnan(ratings[:, rater])
    own, others = ratings[rows, rater], np.delete(ratings[rows], rater, axis=1)
    return rating_bias.excess_agreement(singles[rows], own, others, matrix.story_prompt[rows], beyond=COPIED)


def _too_alike(test: Test) -> Test:
    return replace(test, estimate=Estimate.undefined(AGREE_WELL, test.estimate.n), se=None, p=None)


def _named(finding: kinds.Finding, tests: list[Test], names: tuple[str, ...]) -> kinds.Finding:
    """The finding on the rater with the smallest p, times the number of raters tested."""
    made = [k for k, test in enumerate(tests) if test.p is not None]
    if not made:
        return replace(finding, test=tests[0])
    at = min(made, key=lambda k: tests[k].p or 0.0)
    p = min(1.0, (tests[at].p or 0.0) * len(made))
    return replace(finding, test=replace(tests[at], p=p), label=names[at], points_tested=len(made))


POSITIVE = "the positive label"

# With fewer second ratings of a story the error of one rating is not known.
LEAST_TWICE = 10

_NO_SPREAD = (
    "undefined: people's disagreement within stories explains more than nine tenths of the variance of stories' mean "
    "ratings, so there is no spread to compare with"
)
_NO_POINTS = "left out: two labels are not points of a scale"
_NO_ORDER = "left out: labels without an order are not points of a scale"
_NO_SINGLES = "undefined: imported means of repeats, which spread less than the judge's single ratings"


class Battery:
    """Runs all diagnostic tests of one dataset's judges; human ratings are prepared once for all of them."""

    def __init__(self, matrix: RatingMatrix, options: DiagnoseOptions, scales: dict[str, tuple[Floats, float]]) -> None:
        self.matrix, self.scales = matrix, scales
        self.labels = [scale_of(matrix, cell.criterion) for cell in matrix.cells]
        self.partner = match(matrix, options.against).partner
        self.raters = [matrix.by_rater(j) for j in range(len(matrix.criteria))]
        self.people = [rating_bias.Replicated.of(raters.ratings, persons=raters.known) for raters in self.raters]
        self.alike = [
            rating_bias.without_leniency(raters.ratings) if raters.known else raters.ratings for raters in self.raters
        ]
        self.length = _scaled_log(matrix.stories["words"].to_numpy(dtype=np.float64))
        self.own, self.no_own = _own_systems(matrix, options.own), options.no_own
        # Repeats of each cell on the axis of all stories; (n, 1) means for imports, whose repeats are not known.
        self.repeats = [self.matrix.wide(i) for i in range(len(matrix.cells))]

    def all(self) -> Iterator[kinds.Finding]:
        """Findings for each judge, Eval-Prompt and criterion; then yes-bias over all criteria (the positive label is
        given too often or too rarely); then halo (ratings of different criteria correlate more than the criteria
        themselves do); then, for each criterion, the test of people's own ratings."""
        for i, j in enumerate(self.partner):
            cell = self.matrix.cells[i]
            if j is None:
                continue
            if (labels := self.labels[i]) is not None and (labels.positive_code is not None or not labels.ordered):
                yield from self._of_labels(i, j, labels)
                continue
            sides = (side[~np.isnan(side)] for side in (self.repeats[i], self.raters[j].ratings))
            on_codes, spread = labels is not None, min(float(side.std()) if side.size else 0.0 for side in sides)
            judge, people = self.matrix.judge[i], self.matrix.people[j]
            each = {
                "leniency": (self._test("leniency", rating_bias.leniency(judge, people), judge, people),),
                "length": (self._length(i, j),),
                "compression": self._compression(i, j),
                "self-preference": (self._self_preference(i, j),),
            }
            for name, (test, *bounding) in each.items():
                factor = 1.0 if name == "compression" else 1 / spread if spread > 0 else np.nan
                finding = kinds.Finding(self.matrix.dataset, cell, cell.criterion, name, test, on_codes=on_codes)
                applies = name != "self-preference" or not self.no_own
                yield replace(finding, bounding=tuple(bounding), factor=factor, applies=applies)
            for finding in kinds.loss_tests(self.matrix, i, j, spread):
                yield replace(finding, on_codes=on_codes)
            yield self._stuck(i, j)
            yield from judge_tests(self.matrix, i, j, self.repeats[i])
        yield from self._yes_biases()
        yield from self._halos()
        yield from rater_tests(self.matrix)

    def _of_labels(self, i: int, j: int, scale: Scale) -> Iterator[kinds.Finding]:
        cell, label = self.matrix.cells[i], scale.positive
        left = {"leniency", "length", "compression", "self-preference", "loss"}
        if label is not None and scale.positive_code is not None:
            left -= {"leniency", "loss"}
            yield self._yes_bias(cell, label, *self._positive(i, j, scale))
            by_quality, _ = kinds.loss_tests(self.matrix, i, j, 1.0)
            yield replace(by_quality, label_kind=kinds.loss_of(scale.labels[1]))
        else:
            yield self._stuck(i, j)
        for name in (diagnostic for diagnostic in kinds.DIAGNOSTICS if diagnostic in left):
            reason = _NO_POINTS if scale.positive_code is not None else _NO_ORDER
            test, label_kind = _undefined(name, reason), kinds.DIAGNOSTICS[name]
            finding = kinds.Finding(self.matrix.dataset, cell, cell.criterion, name, test, label_kind=label_kind)
            # A shorter or narrower scale means nothing for labels; a liking for length or for its own would.
            applies = name in {"length", "loss"} or (name == "self-preference" and not self.no_own)
            yield replace(finding, applies=applies)
        alone, copied = judge_tests(self.matrix, i, j, self.repeats[i])
        yield from (alone, copied) if scale.positive_code is not None else (copied,)

    def _positive(self, i: int, j: int, scale: Scale) -> tuple[Floats, Floats]:
        """Shares of the positive label among the judge's repeats and among people, shape (n stories,)."""
        judge, people = self.matrix.judge[i], self.matrix.people[j]
        return (judge, people) if scale.positive_code == 1 else (1 - judge, 1 - people)

    def _yes_bias(self, cell: Cell, label: str, judge: Floats, people: Floats) -> kinds.Finding:
        test = self._test("leniency", rating_bias.leniency(judge, people), judge, people)
        both = ~np.isnan(judge) & ~np.isnan(people)
        shares = [float(side[both].mean()) if both.any() else np.nan for side in (judge, people)]
        label_kind = kinds.yes_bias(label, shares[0], shares[1])
        return kinds.Finding(self.matrix.dataset, cell, cell.criterion, kinds.YES_BIAS, test, label_kind=label_kind)

    def _yes_biases(self) -> Iterator[kinds.Finding]:
        groups: dict[tuple[str, str, str], list[tuple[Scale, Floats, Floats]]] = {}
        for i, (cell, j, scale) in enumerate(zip(self.matrix.cells, self.partner, self.labels, strict=True)):
            if j is not None and scale is not None and scale.positive_code is not None:
                judge, people = self._positive(i, j, scale)
                # Each story counts with its mean over the binary criteria that judge and people both labelled.
                both = np.isnan(judge) | np.isnan(people)
                sides = np.where(both, np.nan, judge), np.where(both, np.nan, people)
                groups.setdefault((cell.run, cell.judge, cell.eval_prompt), []).append((scale, *sides))
        for key, group in groups.items():
            if len(group) < 2:
                continue
            words = {str(scale.positive) for scale, _, _ in group}
            label = words.pop() if len(words) == 1 else POSITIVE
            judge, people = np.stack([member[1] for member in group]), np.stack([member[2] for member in group])
            yield self._yes_bias(Cell(*key, kinds.ALL), label, _mean_of_rows(judge), _mean_of_rows(people))

    def _length(self, i: int, j: int) -> Test:
        if np.isnan(self.length).all():
            return _undefined("length", "the stories' lengths are not known, or all the same")
        given = self._given(i, j, exact=self.length)
        if reason := given.reason():
            return _undefined("length", reason, int(given.used.sum()))
        every = given.used[None, :].astype(np.float64)
        bias = float(given.slope(every)[0] - given.slope(every, curved=False)[0])
        return jackknife.against_zero(given.slope, self.matrix.story_prompt, given.used, bias=bias)

    def _given(self, i: int, j: int, exact: Floats | None = None) -> GivenQuality:
        at_end = share_at_end(self.raters[j].ratings)
        return GivenQuality.of(self.matrix.judge[i], self.alike[j], self.matrix.system, exact=exact, at_end=at_end)

    def _compression(self, i: int, j: int) -> tuple[Test, ...]:
        """Whether single ratings vary less than people's, followed by the tests that bound this."""
        judge, people = self.matrix.judge[i], self.people[j]
        if people.freedom < LEAST_TWICE:
            return (_undefined("compression", RATED_ONCE),)
        if self.matrix.means[i]:
            return (_undefined("compression", _NO_SINGLES),)
        # Single ratings, so that the number of repeats does not matter. They also vary less if a judge only has less
        # error than a person: its rating must also rise by less than one point per point of the true human mean, and
        # the larger p is reported.
        spread = rating_bias.single_spread(self.repeats[i], self.alike[j])
        deficit = rating_bias.slope_deficit(judge, people)
        parts = [self._test("compression", part, judge, people.mean, why=_NO_SPREAD) for part in (spread, deficit)]
        if parts[1].p is None:
            return (parts[1],)
        p = parts[0].p
        return (parts[0] if p is None else replace(parts[0], p=max(p, parts[1].p)), *parts)

    def _self_preference(self, i: int, j: int) -> Test:
        if self.no_own:
            return _undefined("self-preference", "no system is the judge's own, as was stated")
        own = self.own(self.matrix.cells[i].judge)
        if not own.any():
            return _undefined("self-preference", kinds.NO_OWN)
        if own.all():
            return _undefined("self-preference", "every story was written by a system of this judge's own")
        given = self._given(i, j)
        if reason := given.reason():
            return _undefined("self-preference", reason, int(given.used.sum()))
        preference = OwnPreference(given, own)
        if reason := preference.reason():
            return _undefined("self-preference", reason, int(given.used.sum()))
        return preference.test(self.matrix.story_prompt)

    def _stuck(self, i: int, j: int) -> kinds.Finding:
        """The scale point given too often with the smallest p, times the number of points."""
        cell, ratings = self.matrix.cells[i], self.raters[j].ratings
        if self.matrix.means[i]:
            test = _undefined("stuck", "imported means are not single ratings")
            return kinds.Finding(self.matrix.dataset, cell, cell.criterion, "stuck", test)
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
        # A point that is given far too often may be another than the one that is so most surely.
        highest = max((test for test in tests if test.estimate.high is not None), key=_upper, default=best)
        scale = self.labels[i]
        label = None if scale is None else scale.label_of(float(points[at]))
        return kinds.Finding(
            self.matrix.dataset,
            cell,
            cell.criterion,
            "stuck",
            best,
            point=float(points[at]),
            label=label,
            points_tested=len(points),
            bounding=(highest,),
        )

    def _halos(self) -> Iterator[kinds.Finding]:
        groups: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
        for i, j in enumerate(self.partner):
            scale = self.labels[i]
            if j is not None and (scale is None or (scale.ordered and scale.positive_code is None)):
                cell = self.matrix.cells[i]
                groups.setdefault((cell.run, cell.judge, cell.eval_prompt), []).append((i, j))
        for key, pairs in groups.items():
            cell = Cell(*key, kinds.ALL)
            finding = kinds.Finding(self.matrix.dataset, cell, kinds.ALL, "halo", halo_test(self.matrix, pairs))
            yield replace(finding, applies=len({j for _, j in pairs}) > 1)

    def _test(self, name: str, statistic: jackknife.Statistic, *needed: Floats, why: str = "") -> Test:
        used = np.asarray(~np.isnan(np.stack(needed)).any(axis=0), dtype=bool)
        test = jackknife.against_zero(statistic, self.matrix.story_prompt, used, tail=kinds.DIAGNOSTICS[name].tail)
        if why and test.estimate.value is None and used.any():
            return replace(test, estimate=Estimate.undefined(why, n=test.estimate.n))
        return test


def _undefined(name: str, reason: str, n: int = 0) -> Test:
    return Test(Estimate.undefined(reason, n), None, None, kinds.DIAGNOSTICS[name].tail, 0)


def _upper(test: Test) -> float:
    return float("-inf") if test.estimate.high is None else test.estimate.high


def _mean_of_rows(rows: Floats) -> Floats:
    return ratio(np.nansum(rows, axis=0), (~np.isnan(rows)).sum(axis=0))


def _scaled_log(words: Floats) -> Floats:
    """Standardised log of the length; NaN where unknown, or everywhere if all lengths are equal."""
    counted = ~np.isnan(words)
    log = np.where(counted, np.log(np.where(counted, np.maximum(words, 1), 1.0)), np.nan)
    spread = float(log[counted].std()) if counted.any() else 0.0
    return (
        np.asarray((log - log[counted].mean()) / spread, dtype=np.float64) if spread > 0 else np.full(log.shape, np.nan)
    )


def points_of(table: RatingsTable) -> dict[str, tuple[Floats, float]]:
    """Points of the scale and the step between them, by criterion, for scales of 2 to 20 points."""
    steps = {c.name: c.scale.step for fact in table.facts for c in fact.criteria}
    points_by_name: dict[str, tuple[Floats, float]] = {}
    for name, (low, high) in scales_of(table).items():
        step = float(steps.get(name) or 1.0)
        count = round((high - low) / step) + 1
        if 2 <= count <= 20:
            points_by_name[name] = (np.asarray(low + step * np.arange(count), dtype=np.float64), step)
    return points_by_name


def _observed_points(*ratings: Floats) -> tuple[Floats, float]:
    """Distinct ratings, rounded, and the step 1: the points of an unknown scale."""
    values = np.concatenate([values_of[~np.isnan(values_of)] for values_of in ratings])
    return np.unique(np.round(values)).astype(np.float64), 1.0


def _own_systems(matrix: RatingMatrix, named: Sequence[str]) -> Callable[[str], Any]:
    for name in named:
        if name not in matrix.systems:
            raise unknown_value("own", name, matrix.systems)

    def own(judge: str) -> Any:
        plain = _letters(judge)
        mine = named or [s for s in matrix.systems if len(_letters(s)) > 3 and _letters(s) in plain]
        return np.isin(matrix.system, [matrix.systems.index(name) for name in mine])

    return own


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
