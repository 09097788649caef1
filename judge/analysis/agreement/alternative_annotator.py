"""The alternative annotator test (alt-test) as table rows, for every judge and for null judges (which ignore stories).

The test is refused where individual people are not identified, unless an option lets the position of a rating stand for
a person. Every row also reports how far people agree with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from judge.analysis.correlation.statistic import Intervals, Side, Statistic
from judge.analysis.inputs.bars import CONTROL, JUDGE, Remarks
from judge.analysis.inputs.candidates import Candidate, Subject, comparable
from judge.analysis.inputs.label_criteria import given_labels, scale_of
from judge.analysis.options.agreement_options import ReplacementOptions
from judge.analysis.options.choices import Level
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.arrays import Codes, Floats, Masks
from judge.base.estimate import Estimate
from judge.base.records import Scale
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import Raters, RatingMatrix
from judge.stats.agreement import icc
from judge.stats.agreement.alt_test import MEASURES, PASS, AgainstPerson, AltTest, Measure, alt_test
from judge.stats.agreement.confusion import Confusion, of_cells
from judge.stats.agreement.disagreement import agreement
from judge.stats.resampling.bootstrap_intervals import p_above_zero

# Whether a judge agrees with people more than the best uninformed judge does, on all stories and within systems.

Levels = Mapping[Level, tuple[Statistic, Intervals]]

CHANCE, THE_CONTROL, WORDS = "chance", "the control", "length"


@dataclass(frozen=True, slots=True)
class Lead:
    """A judge's tau-b with people minus that of the uninformed judge with the least difference from it by the evidence.
    `over` has a 95 % interval over story-prompts; it is undefined, with the reason, where an uninformed judge or the
    judge has no tau. `p` is two-sided; None without an interval."""

    over: Estimate
    against: str = CHANCE
    p: float | None = None

    @property
    def shown(self) -> bool:
        """Whether the judge is above every uninformed judge by the 95 % interval."""
        return self.over.low is not None and self.over.low > 0


class Uninformed:
    """The uninformed judges of one dataset and human criterion, and the leads of judges over them.

    An uninformed judge reads no meaning. Those that are set beside a judge, by Kendall's tau-b with people's means:

    - chance: one rating for all stories, or people's ratings randomly permuted; its tau is 0 by construction
    - control: a regression on surface features of the texts, out of fold; on the stories that both rated
    - length: the number of words, in the direction in which people's ratings go with it; on the stories that both have

    A judge that knows which system wrote a story, and nothing else, agrees with people too. It has no agreement
    *within* systems: over pairs of stories of one system. The comparison is therefore made twice, over all stories and
    as the mean of tau within systems. Both are paired, on the same resamples of story-prompts.

    The judge must be above every uninformed judge (an intersection-union test, Berger 1982, Technometrics 24, so that
    each comparison keeps its level). The result is the comparison with the smallest evidence."""

    def __init__(self, matrix: RatingMatrix, control: Candidate, levels: Levels):
        people = np.full(matrix.n, np.nan) if control.people is None else control.people
        self.matrix, self.people, self.control = matrix, Side(people), control
        self._levels = levels

    def lead(self, judge: Floats, level: Level) -> Lead:
        """The judge's lead over the uninformed judges at a level. `judge` has shape (n stories,), NaN = not rated."""
        if self.control.ratings is None:
            return Lead(Estimate.undefined(self.control.reason or "there is no control"), THE_CONTROL)
        statistic, intervals = self._levels[level]
        rivals = self._rivals(judge, statistic)
        return min((self._over(judge, *rival, statistic, intervals) for rival in rivals), key=_evidence)

    def _rivals(self, judge: Floats, statistic: Statistic) -> Iterator[tuple[str, Floats | None]]:
        # None: its tau is 0 by construction.
        yield CHANCE, None
        if self.control.ratings is not None:
            yield THE_CONTROL, np.where(np.isnan(judge), np.nan, self.control.ratings)
        words = np.array(self.matrix.stories["words"], dtype=np.float64)
        words = np.where(np.isnan(judge), np.nan, words)
        there = ~np.isnan(words) & ~np.isnan(self.people.values)
        if np.unique(words[there]).size > 1:
            along = statistic.estimate(Side(words), self.people).value
            yield WORDS, words if along is None or along >= 0 else -words

    def _over(self, judge: Floats, name: str, rival: Floats | None, statistic: Statistic, intervals: Intervals) -> Lead:
        shared = judge if rival is None else np.where(np.isnan(rival), np.nan, judge)
        mine = statistic.estimate(Side(shared), self.people)
        theirs = Estimate(0.0, n=mine.n) if rival is None else statistic.estimate(Side(rival), self.people)
        if mine.value is None or theirs.value is None:
            return Lead(mine if mine.value is None else theirs, name)
        # An uninformed judge that goes against people is no lower bar than chance.
        over = Estimate(mine.value - max(0.0, theirs.value), n=mine.n)
        if not intervals.sets:
            return Lead(over, name)
        rows = shared[None] if rival is None else np.stack([shared, rival])
        drawn = intervals.values(rows, self.people.values)
        values = tuple(each[0] - (0.0 if rival is None else np.maximum(0.0, each[1])) for each in drawn)
        units = min(factor.counts.shape[1] for factor in intervals.sets[0].factors)
        p = p_above_zero(over, values[0], units)
        return Lead(intervals.of_values(over, values), name, None if p is None else min(1.0, 2 * p))


def levels_of(matrix: RatingMatrix, options: CorrelationOptions) -> Levels:
    """The statistics by which judges are compared with uninformed ones, with their resamples, at both levels."""
    levels: tuple[Level, ...] = ("overall", "by-system")
    at = {level: replace(options, level=level) for level in levels}
    statistics = {level: Statistic.of(matrix, own) for level, own in at.items()}
    return {level: (statistics[level], Intervals.of(matrix, own, statistics[level])) for level, own in at.items()}


def _evidence(lead: Lead) -> tuple[bool, float, float]:
    """Order by evidence, the least first: undefined, then the largest p, then the smallest difference."""
    if lead.over.value is None:
        return False, 0.0, 0.0
    return True, -(1.0 if lead.p is None else lead.p), lead.over.value


# Null judges, which ignore the stories: a baseline for tests that a judge may pass by chance.


MEAN, MODE, PERMUTED = "always the mean", "always the commonest label", "people permuted"
RANDOM = "labels at random, as often as people"
# How many times people's ratings are dealt to the stories; figures are means over them.
DEALT = 20


def constant(ratings: Floats, stories: Masks) -> Floats:
    """The human mean of the selected stories, for each of them, shape (n,); NaN elsewhere. `ratings`: (n, people)."""
    return np.where(stories, float(np.nanmean(ratings[stories])), np.nan)


def commonest(ratings: Floats, stories: Masks) -> Floats:
    """The label that people gave most often to the selected stories, for each of them, shape (n,); NaN elsewhere.
    `ratings` holds label codes, shape (n stories, people)."""
    codes, counts = np.unique(ratings[stories][~np.isnan(ratings[stories])], return_counts=True)
    return np.where(stories, codes[counts.argmax()], np.nan)


def permuted(ratings: Floats, stories: Masks, rng: np.random.Generator) -> Iterator[Floats]:
    """Ratings of 20 null judges (`DEALT`), each of shape (n stories,): each takes one human rating of every selected
    story at random and permutes these over the stories. Stories that are not selected have NaN."""
    rows = np.flatnonzero(stories)
    rated = ~np.isnan(ratings[rows])
    for _ in range(DEALT):
        chosen = np.argmax(np.where(rated, rng.random(rated.shape), -1.0), axis=1)
        shuffled = np.full(len(ratings), np.nan)
        shuffled[rng.permutation(rows)] = ratings[rows, chosen]
        yield shuffled


def at_random(people: Floats, labels: int, positive: int | None) -> Confusion:
    """Expected confusion matrix of random labels with the label frequencies of `people` (codes; NaN = none)."""
    rated = ~np.isnan(people)
    code = people[rated].astype(np.int64)
    share = np.bincount(code, minlength=labels) / max(1, code.size)
    cells = np.zeros((people.size, labels, labels))
    cells[np.flatnonzero(rated), code] = share
    return of_cells(cells, positive=positive)


# The kind of a row of an uninformed judge; others are judges'.
NULL: Final = "null"

# How far the people of a criterion agree: ICC(1,1), and the share of their pairs who rate a story the same.
Agreed = tuple[Estimate, Estimate]

# A judge that rated less of people's stories is set beside uninformed judges on the same stories.
_WHOLE = 0.98


@dataclass(frozen=True, slots=True)
class AltTestRow:
    """The alternative annotator test of one judge or of one null judge (`kind`).

    `winning_rate` is the share of people against whom the judge wins, by one test for each. `advantage` is the share of
    stories on which the judge is at least as close to the other people as one person is, averaged over people.
    `passed`: the judge wins against at least half of the people; `p` is the smallest significance level at which it
    would. The fields `clustered_...` have standard errors clustered by story-prompt, and `clusters` is the smallest
    number of story-prompts that a person rated. `epsilon` is the advantage that a person is allowed over the judge.
    `too_few` counts people with fewer than 30 stories. `people_icc` is ICC(1,1), `people_equal` the share of pairs of
    people who rate a story the same. `people` has the people compared, `names` all. `lead` and `within` say how far the
    judge's tau lies above that of the best uninformed judge, over all stories and within systems; `beside` is the
    judge's tau minus that of one more person. These three are None for null judges, where the test was refused, and
    where labels have no order."""

    subject: Subject
    kind: Literal["judge", "null"]
    winning_rate: Estimate
    advantage: Estimate
    passed: bool | None
    p: float | None
    clustered_rate: Estimate
    clustered_passed: bool | None
    clustered_p: float | None
    clusters: int | None
    epsilon: float
    measure: Measure
    labels: bool
    compared: int
    too_few: int
    least_stories: int | None
    most_stories: int | None
    people_icc: Estimate
    people_equal: Estimate
    people: tuple[AgainstPerson, ...]
    names: tuple[str, ...]
    lead: Lead | None = None
    within: Lead | None = None
    beside: Estimate | None = None
    # The rating that every story got; None where the judge told some stories apart.
    constant: float | None = None

    @property
    def people_share(self) -> float | None:
        """Share of stories on which a person's rating is at least as close to the other people's as the judge's, mean
        over people. The counterpart of the judge's advantage probability rho; None where the test was not possible."""
        shares = [person.person_closer for person in self.people]
        return sum(shares) / len(shares) if shares and self.advantage.defined else None


def leads_of(row: AltTestRow) -> dict[str, Estimate | None]:
    """Leads of a judge over uninformed judges, by column; None where there is none."""
    return {name: None if lead is None else lead.over for name, lead in (("lead", row.lead), ("within", row.within))}


def tested_rows(
    matrices: Sequence[RatingMatrix], options: ReplacementOptions, *, nulls: bool
) -> tuple[list[AltTestRow], Remarks]:
    """The test of every judge that can be compared with people, and remarks. With `nulls`, the judges on a criterion
    are followed by its null judges."""
    matrix_candidates, remarks = comparable(matrices, options.against, None)
    tests: dict[tuple[str, str], _Test] = {}
    judges: dict[tuple[str, str], list[Candidate]] = {}
    rows: list[AltTestRow] = []
    last: dict[tuple[str, str], int] = {}
    for matrix, candidate in matrix_candidates:
        criterion = str(candidate.subject.against)
        key = (matrix.dataset, criterion)
        if key not in tests:
            raters, reason, agreed = _people(matrix, criterion, options, remarks)
            # People rated labels, whatever the judge's criterion is called.
            scale = scale_of(matrix, criterion)
            tests[key] = _Test(raters, matrix.story_prompt, reason, agreed, options, scale, criterion)
        test = tests[key]
        kept = candidate
        if test.scale is not None and candidate.cell is not None:
            kept = replace(candidate, ratings=given_labels(matrix, candidate.cell, test.scale))
        last[key] = len(rows)
        rows.append(test.row(candidate.subject, kept.sides[0]))
        judges.setdefault(key, []).append(kept)
    if nulls:
        after = {last[key]: _null_rows(own, tests[key]) for key, own in judges.items()}
        rows = [row for i, judge in enumerate(rows) for row in (judge, *after.get(i, ()))]
    return rows, remarks


class _Test:
    def __init__(
        self,
        raters: Raters,
        story_prompt: Codes,
        reason: str | None,
        agreed: Agreed,
        options: ReplacementOptions,
        scale: Scale | None,
        criterion: str,
    ) -> None:
        self.raters, self.story_prompt, self.reason = raters, story_prompt, reason
        self.agreed, self.options, self.scale = agreed, options, scale
        self.measure = options.measure_of(criterion, scale)
        self.names = raters.names or tuple(f"position {i + 1}" for i in range(raters.ratings.shape[1]))

    @property
    def stories(self) -> Masks:
        return np.asarray((~np.isnan(self.raters.ratings)).any(axis=1), dtype=np.bool_)

    def result(self, judge: Floats) -> AltTest:
        options = self.options
        if self.reason:
            nothing = Estimate.undefined(self.reason)
            return AltTest(nothing, nothing, (), 0, options.epsilon)
        given = np.floor(judge + 0.5) if MEASURES[self.measure].whole else judge
        return alt_test(
            given, self.raters.ratings, epsilon=options.epsilon, measure=self.measure, cluster=self.story_prompt
        )

    def row(self, subject: Subject, judge: Floats) -> AltTestRow:
        result = self.result(judge)
        stories = [person.stories for person in result.people]
        given = np.unique(judge[self.stories & ~np.isnan(judge)])
        return AltTestRow(
            subject,
            kind=JUDGE if subject.kind == JUDGE else NULL,
            winning_rate=result.winning_rate,
            advantage=result.advantage,
            passed=result.passed,
            p=result.p,
            clustered_rate=result.clustered_rate,
            clustered_passed=result.clustered_passed,
            clustered_p=result.clustered_p,
            clusters=min((person.clusters for person in result.people), default=None),
            epsilon=self.options.epsilon,
            measure=self.measure,
            labels=self.scale is not None,
            compared=len(result.people),
            too_few=result.too_few,
            least_stories=min(stories, default=None),
            most_stories=max(stories, default=None),
            people_icc=self.agreed[0],
            people_equal=self.agreed[1],
            people=result.people,
            names=self.names,
            constant=float(given[0]) if given.size == 1 else None,
        )


def _null_rows(judges: Sequence[Candidate], test: _Test) -> list[AltTestRow]:
    """Null judges on all stories (if a judge rated nearly all), and on the stories of each other judge."""
    if test.reason or not test.stories.any():
        return []
    rated, own = test.stories, judges[0].subject
    sets = [("", rated)] if any(_share_kept(cell, rated) >= _WHOLE for cell in judges) else []
    for cell in judges:
        if 0 < _share_kept(cell, rated) < _WHOLE:
            name = " ".join(part for part in (cell.subject.judge, cell.subject.eval_prompt) if part)
            sets.append((f", stories of {name}", rated & ~np.isnan(cell.sides[0])))
    rows = []
    for suffix, stories in sets:
        ratings, rng = test.raters.ratings, np.random.default_rng(test.options.seed)
        name_of_same, give_same = (MEAN, constant) if test.scale is None else (MODE, commonest)
        same, dealt = (
            Subject(CONTROL, own.dataset, None, f"{name}{suffix}", None, str(own.against), own.against)
            for name in (name_of_same, PERMUTED)
        )
        rows.append(test.row(same, give_same(ratings, stories)))
        rows.append(_mean_row([test.row(dealt, judge) for judge in permuted(ratings, stories, rng)]))
    return [row for row in rows if row.winning_rate.defined]


def _share_kept(candidate: Candidate, rated: Masks) -> float:
    return float((~np.isnan(candidate.sides[0][rated])).mean())


def _mean_row(rows: Sequence[AltTestRow]) -> AltTestRow:
    """Mean rates and median p of several random null judges; `passed` follows from the mean winning rate."""
    rate, clustered = _mean([row.winning_rate for row in rows]), _mean([row.clustered_rate for row in rows])
    return replace(
        rows[0],
        winning_rate=rate,
        advantage=_mean([row.advantage for row in rows]),
        passed=None if rate.value is None else rate.value >= PASS,
        p=_median([row.p for row in rows]),
        clustered_rate=clustered,
        clustered_passed=None if clustered.value is None else clustered.value >= PASS,
        clustered_p=_median([row.clustered_p for row in rows]),
    )


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    """The first estimate with the mean of all values; unchanged if any is undefined."""
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    return replace(estimates[0], value=float(np.mean(values))) if len(values) == len(estimates) else estimates[0]


def _median(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.median(defined)) if len(defined) == len(values) else None


def _people(
    matrix: RatingMatrix, criterion: str, options: ReplacementOptions, remarks: Remarks
) -> tuple[Raters, str | None, Agreed]:
    raters = matrix.by_rater(matrix.criteria.index(criterion))
    several = packed(raters.ratings)
    equal = agreement(several, columns="people").flip
    if equal.value is not None:
        equal = replace(equal, value=1 - equal.value)
    names, ratings = (raters.names, raters.ratings) if raters.known else ((), None)
    family = icc.family(several, columns="people", names=names, raters=ratings)
    forms = {row.form: row.estimate for row in family.rows}
    scale = scale_of(matrix, criterion)
    loose = scale is not None and not scale.numeric
    agreed = (Estimate.undefined("undefined: the labels have no order") if loose else forms["ICC(1,1)"], equal)
    if raters.known:
        return raters, None, agreed
    if not several.size:
        return raters, "refused: no story has two people's ratings, so nobody can be left out", agreed
    if not (np.diff(raters.ratings, axis=1) < 0).any():
        reason = f"refused: {raters.reason}, so positions are ratings sorted from lowest to highest, not persons"
        return raters, reason, agreed
    if not options.positions:
        instead = Advice("{positions} treats the first, second, ... rating of each story as a person's", positions=True)
        return raters, Note(f"refused: {raters.reason}", instead), agreed
    note = (
        f"{matrix.dataset}: {raters.reason}; the first, second, ... rating of each story stand in for persons, "
        "and each may mix several persons"
    )
    remarks.notes[note] = None
    return raters, None, agreed


def packed(ratings: Floats) -> Floats:
    """Ratings of the stories with at least two ratings, shifted left so that missing ratings come last. The number of
    columns is the most frequent number of ratings per story; further ratings are cut. A column is then a position and
    not a person, so only one-way measures of agreement apply."""
    rated = ~np.isnan(ratings)
    rows, count = ratings[rated.sum(axis=1) >= 2], rated.sum(axis=1)
    if not rows.size:
        return np.asarray(rows, dtype=np.float64)
    width = int(np.bincount(count[count >= 2]).argmax())
    order = np.argsort(np.isnan(rows), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(rows, order, axis=1)[:, :width], dtype=np.float64)
