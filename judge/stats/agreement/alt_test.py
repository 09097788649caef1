"""The alternative annotator test: whether a judge may replace one of the human annotators.

Calderon, Reichart & Dror (ACL 2025, arXiv 2501.10970): leave one person out; on each of that person's
stories ask whether the judge or the person lies closer to the *other* people who rated it. With W_f = 1 where the judge
lies at least as close and W_h = 1 where the person does, d = W_h - W_f, and the judge wins against this person where
mean(d) < epsilon by a one-sided t test. epsilon is what a person is allowed to be better by, as a person costs more:
the authors suggest .1 for crowd workers, .15 for skilled ones, .2 for experts. Benjamini & Yekutieli's procedure at .05
over the people decides who was beaten; the judge passes with a winning rate of one half or more. The average advantage
probability rho, the mean over people of mean(W_f), is for comparing judges.

The t test takes stories as independent. Stories for one story-prompt are not where a judge follows people better on
some story-prompts than on others: the same test is then made once more with the standard error over clusters and t with
as many degrees of freedom as there are clusters less one (`means.clustered_error`), adjusted in the same way. With one
story a cluster it is the published test.

Where people hardly agree any smooth judge wins: show their agreement, and what an uninformed judge gets
(`analysis.agreement.null_judges`), beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate
from judge.stats.estimation import means

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Measure = Literal["rmse", "exact"]
MEASURES: tuple[str, ...] = get_args(Measure)

MIN_PEOPLE, MIN_STORIES = 2, 30
LEVEL = 0.05
PASS = 0.5
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class AgainstPerson:
    """Comparison of the judge with one person.

    Attributes
    ----------
    column : int
        The person's column.
    stories : int
        Stories that the person, another person and the judge rated.
    judge_closer, person_closer : float
        Share of stories where the judge (the person) lies at least as close to the others; ties count for both.
    p, adjusted : float
        One-sided p of mean(d) >= epsilon, and adjusted over the people (Benjamini-Yekutieli).
    clusters : int
        Clusters (story-prompts) of those stories; 0 where none were given.
    clustered_p, clustered_adjusted : float or None
        The same with the standard error over clusters; None where none were given, or a person has fewer than two.
    """

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
        """Whether the judge won against this person."""
        return self.adjusted <= LEVEL

    @property
    def clustered_won(self) -> bool | None:
        """Whether the judge won against this person with the standard error over clusters; None without it."""
        return None if self.clustered_adjusted is None else self.clustered_adjusted <= LEVEL


@dataclass(frozen=True, slots=True)
class AltTest:
    """Result of the alternative annotator test over all people.

    Attributes
    ----------
    winning_rate, advantage : Estimate
        omega and rho of the paper; `n` counts people compared. Undefined, with the reason, where the test is refused.
    people : tuple of AgainstPerson
    too_few : int
        People left out because fewer than 30 of their stories can be compared.
    epsilon : float
    """

    winning_rate: Estimate
    advantage: Estimate
    people: tuple[AgainstPerson, ...]
    too_few: int
    epsilon: float

    @property
    def passed(self) -> bool | None:
        """Whether the winning rate reaches one half; None where the test was refused."""
        rate = self.winning_rate.value
        return None if rate is None else rate >= PASS

    @property
    def p(self) -> float | None:
        """The smallest level at which the judge would pass: the adjusted p value that is reached against one half of
        the people.
        """
        return _passing([person.adjusted for person in self.people])

    @property
    def clustered_rate(self) -> Estimate:
        """The winning rate with standard errors over clusters."""
        if not self.winning_rate.defined:
            return self.winning_rate
        won = [person.clustered_won for person in self.people]
        if None in won:
            return Estimate.undefined("undefined where a person rated stories for one story-prompt only", n=len(won))
        return Estimate(float(np.mean([bool(person_won) for person_won in won])), n=len(won))

    @property
    def clustered_passed(self) -> bool | None:
        """Whether the winning rate with standard errors over clusters reaches one half."""
        rate = self.clustered_rate.value
        return None if rate is None else rate >= PASS

    @property
    def clustered_p(self) -> float | None:
        """The smallest level at which the judge would pass with standard errors over clusters."""
        adjusted = [person.clustered_adjusted for person in self.people]
        return None if None in adjusted else _passing([p for p in adjusted if p is not None])


def alt_test(
    judge: Floats, ratings: Floats, *, epsilon: float, measure: Measure = "rmse", cluster: Codes | None = None
) -> AltTest:
    """The alternative annotator test of one judge.

    Parameters
    ----------
    judge : array, shape (n stories,)
        The judge's rating; NaN = none.
    ratings : array, shape (n stories, r people)
        One column a *person*; NaN where a person did not rate a story. Stories need two people.
    epsilon : float
        0 to 1: what a person may be better by.
    measure : "rmse" or "exact"
        Closeness of a rating to the others': minus the root mean squared difference (numbers), or the share of equal
        ratings (categories). Closenesses within 1e-9 are ties.
    cluster : array of int, shape (n stories,), optional
        Story-prompt of each story: then p is also given with the standard error over story-prompts.

    Returns
    -------
    AltTest
        Refused, as undefined, with fewer than two people who have 30 comparable stories each. Where a person's d is the
        same on every story the t test has no variance: p is then its limit, 0 below epsilon and 1 from epsilon on.

    Raises
    ------
    ValueError
        epsilon outside 0..1.
    """
    from scipy.stats import false_discovery_control

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
    adjusted = false_discovery_control(p, method="by")
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
    """Differences d = W_h - W_f of the alternative annotator test, of each person on each story.

    Parameters
    ----------
    judge, ratings, measure
        As in `alt_test`.

    Returns
    -------
    array, shape (n stories, r people)
        -1, 0 or 1; NaN = not compared, as everything of a person with fewer than `MIN_STORIES` comparable stories.
    """
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
    """The people with their p over clusters, adjusted over the people where each has one."""
    from scipy.stats import false_discovery_control

    codes = [np.unique(group, return_inverse=True)[1].reshape(-1) for group in groups]
    p = [_clustered_p(d, code, epsilon) for d, code in zip(differences, codes, strict=True)]
    defined = [value for value in p if value is not None]
    adjusted = false_discovery_control(defined, method="by").tolist() if len(defined) == len(p) else [None] * len(p)
    return tuple(
        replace(person, clusters=int(code.max()) + 1, clustered_p=raw, clustered_adjusted=adj)
        for person, code, raw, adj in zip(people, codes, p, adjusted, strict=True)
    )


def _closer(
    judge: Floats, ratings: Floats, shared: NDArray[np.bool_], column: int, measure: Measure
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each of the person's stories, whether the judge and whether the person is at least as close to the others."""
    rows = shared & ~np.isnan(ratings[:, column])
    others = np.delete(ratings[rows], column, axis=1)
    distances = []
    for rating in (judge[rows], ratings[rows, column]):
        apart = rating[:, None] - others
        # The order of mean squares is that of their roots; NaN stays NaN for people who did not rate the story.
        loss = apart**2 if measure == "rmse" else np.where(np.isnan(apart), np.nan, np.abs(apart) > _SAME)
        distances.append(np.nanmean(loss, axis=1))
    return distances[0] <= distances[1] + _SAME, distances[1] <= distances[0] + _SAME


def _p(d: Floats, epsilon: float) -> float:
    """One-sided p of "mean(d) is epsilon or more" by a t test."""
    return _t_below(float(d.mean()), epsilon, float(d.std(ddof=1)) / float(np.sqrt(d.size)), d.size - 1)


def _clustered_p(d: Floats, cluster: Codes, epsilon: float) -> float | None:
    """The same with the standard error over clusters; None with one cluster."""
    error, clusters = means.clustered_error(d, cluster)
    return None if error is None else _t_below(float(d.mean()), epsilon, error, clusters - 1)


def _t_below(mean: float, epsilon: float, error: float, df: int) -> float:
    from scipy import stats

    # Equal differences leave no variance: this is the limit of the test as the error goes to 0.
    if error < 1e-12:
        return 0.0 if mean < epsilon else 1.0
    return float(stats.t.cdf((mean - epsilon) / error, df))


def _passing(adjusted: list[float]) -> float | None:
    """The least level at which at least the share `PASS` of people are beaten."""
    return sorted(adjusted)[math.ceil(PASS * len(adjusted)) - 1] if adjusted else None
