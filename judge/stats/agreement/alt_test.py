"""The alternative annotator test (alt-test): whether a judge may replace one of the human annotators.

Source: Calderon, Reichart & Dror (ACL 2025, arXiv 2501.10970). One person is left out at a time. On each story of that
person, the test asks whether the judge or the person is closer to the *other* people who rated the story. W_f is 1
where the judge is at least as close, W_h is 1 where the person is, and d = W_h - W_f. The judge wins against the person
if mean(d) < epsilon by a one-sided t test. epsilon is the advantage that a person is allowed to have, because people
cost more; the authors suggest .1 for crowd workers, .15 for skilled workers and .2 for experts. p values are adjusted
over people by Benjamini & Yekutieli's procedure at .05. The judge passes if it wins against at least half of the
people. The average advantage probability rho, the mean over people of mean(W_f), serves to compare judges.

The t test treats stories as independent. Stories for one story-prompt are not independent if a judge follows people
better on some story-prompts than on others. The test is therefore repeated with the standard error over clusters
(`means.clustered_error`) and clusters - 1 degrees of freedom; its p values are adjusted in the same way. With one story
per cluster it equals the published test.

Where people hardly agree, any judge with smooth ratings wins. The result should therefore be shown together with
people's agreement and with the result of uninformed judges (`analysis.agreement.alternative_annotator`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from judge.base.arrays import Codes, Floats, Masks, renumbered
from judge.base.choices import registry
from judge.base.estimate import Estimate
from judge.stats.estimation import means

Measure = Literal["rmse", "exact"]

MIN_PEOPLE, MIN_STORIES = 2, 30
LEVEL = 0.05
PASS = 0.5
_SAME = 1e-9


def _unequal(apart: Floats) -> Floats:
    return np.where(np.isnan(apart), np.nan, np.abs(apart) > _SAME)


@dataclass(frozen=True, slots=True)
class MeasureRecord:
    """All that depends on the choice of a measure of closeness.

    `loss` takes differences of ratings (NaN stays NaN) and gives losses whose mean orders raters by closeness.
    `ordered` is true if labels need an order, `whole` if the judge's mean over repeats is rounded to whole points
    first."""

    loss: Callable[[Floats], Floats]
    ordered: bool
    whole: bool


# The measures of closeness. The order of mean squares is that of their roots.
MEASURES: Mapping[Measure, MeasureRecord] = registry(
    Measure,
    {
        "rmse": MeasureRecord(np.square, ordered=True, whole=False),
        "exact": MeasureRecord(_unequal, ordered=False, whole=True),
    },
)


@dataclass(frozen=True, slots=True)
class AgainstPerson:
    """The judge against one person; a story's d is 1 if the person is closer to the others, -1 if the judge is, else 0.

    `column` is the person's; `stories` were rated by the person, another person and the judge. `judge_closer` and
    `person_closer` are shares of them where the judge (the person) is at least as close; ties count for both. `p` is
    one-sided, of the hypothesis mean(d) >= epsilon; `adjusted` is over people (Benjamini-Yekutieli). `clusters` counts
    story-prompts, 0 if none were given. The `clustered_p` have the standard error over clusters: None without clusters
    or with one; `clustered_adjusted` is None for all people if one person has no p."""

    column: int
    stories: int
    judge_closer: float
    person_closer: float
    p: float
    adjusted: float
    clusters: int = 0
    clustered_p: float | None = None
    clustered_adjusted: float | None = None

    @property
    def won(self) -> bool:
        """Whether the judge won against this person by the test as published, which treats stories as independent."""
        return self.adjusted <= LEVEL

    @property
    def clustered_won(self) -> bool | None:
        """Whether the judge won with the standard error over clusters; None if not computed."""
        return None if self.clustered_adjusted is None else self.clustered_adjusted <= LEVEL


@dataclass(frozen=True, slots=True)
class AltTest:
    """Result of the alternative annotator test over all people.

    `winning_rate` (omega in the paper) is the share of people against whom the judge wins; `advantage` (rho) is the
    mean share of stories on which the judge is at least as close. Their n counts people compared; undefined, with the
    reason, where the test is refused. `too_few` people were left out with fewer than 30 comparable stories."""

    winning_rate: Estimate
    advantage: Estimate
    people: tuple[AgainstPerson, ...]
    too_few: int
    epsilon: float

    @property
    def passed(self) -> bool | None:
        """Whether the judge wins against at least half of the people; None where the test was refused."""
        rate = self.winning_rate.value
        return None if rate is None else rate >= PASS

    @property
    def p(self) -> float | None:
        """Smallest significance level at which the judge would pass; None where the test was refused."""
        return _passing([person.adjusted for person in self.people])

    @property
    def clustered_rate(self) -> Estimate:
        """Winning rate with standard errors over clusters; undefined if a person rated stories of one cluster only."""
        if not self.winning_rate.defined:
            return self.winning_rate
        won = [person.clustered_won for person in self.people]
        if None in won:
            return Estimate.undefined("undefined where a person rated stories for one story-prompt only", n=len(won))
        return Estimate(float(np.mean([bool(person_won) for person_won in won])), n=len(won))

    @property
    def clustered_passed(self) -> bool | None:
        """Whether the judge passes with standard errors over clusters; None if undefined."""
        rate = self.clustered_rate.value
        return None if rate is None else rate >= PASS

    @property
    def clustered_p(self) -> float | None:
        """Smallest significance level at which the judge would pass, with standard errors over clusters."""
        adjusted = [person.clustered_adjusted for person in self.people]
        return None if None in adjusted else _passing([p for p in adjusted if p is not None])


def alt_test(
    judge: Floats, ratings: Floats, *, epsilon: float, measure: Measure = "rmse", cluster: Codes | None = None
) -> AltTest:
    """Alternative annotator test of one judge.

    `judge` (n,) and `ratings` (n, r people), one column per *person*, have NaN where missing; only stories rated by two
    people are used. `epsilon`, 0 to 1 (else ValueError), is the advantage that a person is allowed to have. `measure`
    is the root mean squared difference to the others (for numbers) or the share of equal ratings (for categories);
    values within 1e-9 are ties. With `cluster` (n,), the story-prompts, p values over story-prompts are computed too.

    Refused (undefined) with fewer than two people who have 30 comparable stories each. If a person's d is equal on all
    stories, the t test has no variance and p is its limit: 0 for d below epsilon, otherwise 1."""
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon {epsilon} must lie between 0 and 1")
    rated = ~np.isnan(ratings)
    shared = ~np.isnan(judge) & (rated.sum(axis=1) >= 2)
    counts = (rated & shared[:, None]).sum(axis=0)
    columns = np.flatnonzero(counts >= MIN_STORIES)
    too_few = int(((counts < MIN_STORIES) & rated.any(axis=0)).sum())
    if columns.size < MIN_PEOPLE:
        reason = (
            f"refused: the alt-test needs {MIN_PEOPLE} people with {MIN_STORIES} stories each that another person "
            f"rated too; {columns.size} of {int(rated.any(axis=0).sum())} have them"
        )
        refused = Estimate.undefined(reason, n=int(columns.size))
        return AltTest(refused, refused, (), too_few, epsilon)
    closer = [_closer(judge, ratings, shared, int(c), measure) for c in columns]
    p = np.array([_p(person.astype(np.float64) - by_judge, epsilon) for by_judge, person in closer])
    adjusted = _adjusted(p)
    people = tuple(
        AgainstPerson(int(c), w.size, float(w.mean()), float(h.mean()), float(raw), float(adj))
        for c, (w, h), raw, adj in zip(columns, closer, p, adjusted, strict=True)
    )
    if cluster is not None:
        groups = [cluster[shared & rated[:, c]] for c in columns]
        people = _over_clusters(people, [person.astype(np.float64) - w for w, person in closer], groups, epsilon)
    wins = float(np.mean([person.won for person in people]))
    rho = float(np.mean([person.judge_closer for person in people]))
    return AltTest(Estimate(wins, n=len(people)), Estimate(rho, n=len(people)), people, too_few, epsilon)


def person_differences(judge: Floats, ratings: Floats, *, measure: Measure = "rmse") -> Floats:
    """The d of each story and person, (n, r people): 1 = the person is closer to the others, -1 = the judge, 0 = tie.

    `judge`, `ratings` and `measure` are as in `alt_test`. NaN = not compared; a person with fewer than 30 comparable
    stories has only NaN."""
    present = ~np.isnan(ratings)
    shared = ~np.isnan(judge) & (present.sum(axis=1) >= 2)
    out = np.full(ratings.shape, np.nan)
    for column in np.flatnonzero((present & shared[:, None]).sum(axis=0) >= MIN_STORIES):
        by_judge, person = _closer(judge, ratings, shared, int(column), measure)
        out[shared & present[:, column], column] = person.astype(np.float64) - by_judge
    return out


def _over_clusters(
    people: tuple[AgainstPerson, ...], differences: list[Floats], groups: list[Codes], epsilon: float
) -> tuple[AgainstPerson, ...]:
    codes = [renumbered(group) for group in groups]
    p = [_clustered_p(d, code, epsilon) for d, code in zip(differences, codes, strict=True)]
    defined = [value for value in p if value is not None]
    # The p values are adjusted over people only if each person has one.
    adjusted = _adjusted(np.array(defined)).tolist() if len(defined) == len(p) else [None] * len(p)
    return tuple(
        replace(person, clusters=int(code.max()) + 1, clustered_p=raw, clustered_adjusted=adj)
        for person, code, raw, adj in zip(people, codes, p, adjusted, strict=True)
    )


def _closer(judge: Floats, ratings: Floats, shared: Masks, column: int, measure: Measure) -> tuple[Masks, Masks]:
    """Whether the judge is at least as close to the others as the person on each of its stories, and the reverse."""
    rows = shared & ~np.isnan(ratings[:, column])
    others = np.delete(ratings[rows], column, axis=1)
    distances = []
    for rating in (judge[rows], ratings[rows, column]):
        distances.append(np.nanmean(MEASURES[measure].loss(rating[:, None] - others), axis=1))
    return distances[0] <= distances[1] + _SAME, distances[1] <= distances[0] + _SAME


def _p(d: Floats, epsilon: float) -> float:
    """p of the hypothesis mean(d) >= epsilon, by a t test."""
    return _t_below(float(d.mean()), epsilon, float(d.std(ddof=1)) / float(np.sqrt(d.size)), d.size - 1)


def _clustered_p(d: Floats, cluster: Codes, epsilon: float) -> float | None:
    """As `_p`, with the standard error over clusters; None with one cluster."""
    error, clusters = means.clustered_error(d, cluster)
    return None if error is None else _t_below(float(d.mean()), epsilon, error, clusters - 1)


def _t_below(mean: float, epsilon: float, error: float, df: int) -> float:
    from scipy.special import stdtr

    # Equal differences leave no variance: this is the limit of the test as the error goes to 0.
    if error < 1e-12:
        return 0.0 if mean < epsilon else 1.0
    return float(stdtr(df, (mean - epsilon) / error))


def _adjusted(p: Floats) -> Floats:
    """p adjusted by Benjamini & Yekutieli's procedure (2001, Annals of Statistics 29), at most 1."""
    # Equal to scipy.stats.false_discovery_control(p, method="by"), whose checks take longer than its sums where
    # thousands of judges are tested.
    rank = np.arange(1, p.size + 1)
    order = np.argsort(p)
    raised = p[order] * (p.size / rank * np.sum(1 / rank))
    out = np.empty(p.size)
    out[order] = np.minimum.accumulate(raised[::-1])[::-1]
    return np.clip(out, 0.0, 1.0)


def _passing(adjusted: list[float]) -> float | None:
    """Smallest level at which the judge wins against at least half of the people; None without people."""
    return sorted(adjusted)[math.ceil(PASS * len(adjusted)) - 1] if adjusted else None
