"""Six signs of how carefully a person rated, and what attentive people of the same design would show.

The signs are agreement with the others, the difference between two readings of a story, by how much a damaged story was
rated lower, speed, spread of the ratings, and identical rows. No sign finds every kind of careless work: repeats say
nothing of somebody who gives one number throughout, spread finds nobody else. Their sum is compared with that of
attentive people simulated in the same design, with the variances of the study at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from judge.base.arrays import Codes, Floats, Masks
from judge.lab.people.store import Study

NAMES = ("agreement", "repeats", "damaged", "speed", "spread", "identical")
_AGREEMENT, _SPEED, _SPREAD, _IDENTICAL = 0, 3, 4, 5
# By how many points attentive people rate a damaged story lower, the spread of log reading speeds, and that of how
# widely people use the scale: assumptions of the simulation.
DROP, SPEEDS, USES = 1.2, 0.3, 0.2
_FEWEST = 5


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What people did: `ratings` (stories, raters, criteria), NaN where missing; `repeats` and `checks` map onto it by
    (rater, story) with their own ratings (count, criteria); `pace` (raters,) is the median of words a minute."""

    ratings: Floats
    repeats: tuple[tuple[int, int], ...]
    repeated: Floats
    checks: tuple[tuple[int, int], ...]
    checked: Floats
    pace: Floats
    low: float
    high: float

    def without(self, raters: Masks) -> Work:
        """The same work with the ratings of some raters left out."""
        ratings = self.ratings.copy()
        ratings[:, raters] = np.nan
        return replace(self, ratings=ratings)


def work_of(study: Study) -> tuple[Work, list[str], list[str]]:
    """The work in a study, with the names of its raters and the ids of its stories."""
    names = [name for name in study.lists if name not in study.withdrawn]
    texts = {number: text for number, text in study.texts.items() if text.origin is None and not text.practice}
    place = {number: i for i, number in enumerate(texts)}
    criteria = [criterion.name for criterion in study.criteria]
    ratings = np.full((len(texts), len(names), len(criteria)), np.nan)
    second: dict[str, list[tuple[tuple[int, int], list[float]]]] = {"repeat": [], "check": []}
    pace: list[list[float]] = [[] for _ in names]
    for one in study.answered:
        r, values = names.index(one.rater), [one.state.values.get(name, np.nan) for name in criteria]
        if one.entry.use == "rating":
            ratings[place[one.entry.text], r] = values
            if one.state.seconds > 0 and one.state.done(criteria):
                pace[r].append(len(one.text.text.split()) / one.state.seconds * 60)
        elif one.entry.use in second:
            story = place[one.text.origin or one.entry.text]
            second[one.entry.use].append(((r, story), values))
    read = np.array([np.median(each) if len(each) >= _FEWEST else np.nan for each in pace])
    scales = [criterion.scale for criterion in study.criteria]
    arrays = {use: np.array([v for _, v in rows]).reshape(-1, len(criteria)) for use, rows in second.items()}
    work = Work(
        ratings,
        tuple(key for key, _ in second["repeat"]),
        arrays["repeat"],
        tuple(key for key, _ in second["check"]),
        arrays["check"],
        read,
        min(scale.min for scale in scales),
        max(scale.max for scale in scales),
    )
    return work, names, [text.story for text in texts.values()]


def measured(work: Work, others: Work | None = None) -> Floats:
    """The signs (raters, 6), each so that less is worse; NaN where there is too little to say. `others` are the ratings
    that agreement is with; None = `work`."""
    raters = work.ratings.shape[1]
    signs = np.full((raters, len(NAMES)), np.nan)
    group = (others or work).ratings
    total, count = np.nansum(group, axis=1), (~np.isnan(group)).sum(axis=1)
    for r in range(raters):
        own = work.ratings[:, r]
        inside = ~np.isnan(group[:, r])
        rest = (total - np.where(inside, group[:, r], 0)) / np.maximum(count - inside, 1)
        rest = np.where(count - inside > 0, rest, np.nan)
        signs[r, _AGREEMENT] = _correlated(own, rest)
        rated = own[~np.isnan(own).any(axis=1)]
        if len(rated) >= _FEWEST:
            signs[r, _SPREAD] = rated.std(axis=0).mean()
            if rated.shape[1] > 1:
                signs[r, _IDENTICAL] = -float((np.ptp(rated, axis=1) == 0).mean())
    for column, keys, second, sign in ((1, work.repeats, work.repeated, -1), (2, work.checks, work.checked, 1)):
        gaps = [[] for _ in range(raters)]  # type: list[list[float]]
        for (r, story), values in zip(keys, second, strict=True):
            gap = work.ratings[story, r] - values
            if not np.isnan(gap).all():
                gaps[r].append(float(np.nanmean(np.abs(gap) if sign < 0 else gap)))
        signs[:, column] = [sign * np.mean(each) if each else np.nan for each in gaps]
    # Against the study's own pace, for people read faster in their first language.
    if (~np.isnan(work.pace)).any():
        signs[:, _SPEED] = np.log(np.nanmedian(work.pace)) - np.log(work.pace)
    return signs


def _correlated(own: Floats, rest: Floats) -> float:
    """Mean over criteria of the correlation with the others, as Fisher's z, which has an even spread."""
    values = []
    for c in range(own.shape[1]):
        both = ~np.isnan(own[:, c]) & ~np.isnan(rest[:, c])
        if both.sum() >= _FEWEST:
            a, b = own[both, c], rest[both, c]
            flat = a.std() < 1e-9 or b.std() < 1e-9
            values.append(0.0 if flat else float(np.corrcoef(a, b)[0, 1]))
    return float(np.arctanh(np.clip(np.mean(values), -0.99, 0.99))) if values else float("nan")


@dataclass(frozen=True, slots=True)
class Variances:
    """Of one rating: stories, raters' leniency and the rest; `mean`; and the correlation between criteria."""

    story: float
    rater: float
    rest: float
    mean: float
    criteria: float


def variances(work: Work) -> Variances:
    """Variances by moments: products of two people's ratings of one story, after each person's mean is taken off, tell
    the stories' share; what varies beyond is the rest; people's means, beyond that, are leniency."""
    ratings = work.ratings
    own = np.nanmean(ratings, axis=0)
    centred = ratings - own
    here = ~np.isnan(centred)
    filled = np.where(here, centred, 0.0)
    sums, n = filled.sum(axis=1), here.sum(axis=1)
    products = (sums**2 - (filled**2).sum(axis=1)).sum()
    pairs = (n * (n - 1)).sum()
    total = float((filled**2).sum() / max(here.sum() - ratings.shape[1] * ratings.shape[2], 1))
    story = min(max(float(products / max(pairs, 1)), 0.02 * total), 0.95 * total)
    each = here.sum(axis=0)
    leniency = float(np.nanmean(np.nanvar(own, axis=0, ddof=1)) - total / max(float(each.mean()), 1.0))
    flat = centred.reshape(-1, ratings.shape[2])
    flat = flat[~np.isnan(flat).any(axis=1)]
    between = 0.0
    if ratings.shape[2] > 1 and len(flat) > _FEWEST and (flat.std(axis=0) > 0).all():
        matrix = np.corrcoef(flat.T)
        between = float(matrix[np.triu_indices(len(matrix), 1)].mean())
    return Variances(story, max(leniency, 0.0), total - story, float(np.nanmean(ratings)), min(max(between, 0.0), 0.95))


def attentive(work: Work, of: Variances, rng: np.random.Generator) -> Work:
    """The same design rated by attentive people with these variances, on the same scale; pace as people's differs."""
    stories, raters, criteria = work.ratings.shape
    # A story's damage, and noise, are shared by criteria as far as criteria go together.
    mixed, single = np.sqrt(of.criteria), np.sqrt(1 - of.criteria)

    def shared(*shape: int) -> Floats:
        drawn: Floats = mixed * rng.normal(size=(*shape, 1)) + single * rng.normal(size=(*shape, criteria))
        return drawn

    truth = np.sqrt(of.story) * shared(stories)
    lenient = np.sqrt(of.rater) * shared(raters)
    use = np.exp(USES * rng.normal(size=raters))

    def rated(people: Codes, quality: Floats) -> Floats:
        noise = np.sqrt(of.rest) * shared(len(people))
        points = of.mean + lenient[people] + use[people][:, None] * (quality + noise)
        whole: Floats = np.clip(np.round(points), work.low, work.high)
        return whole

    ratings = np.full(work.ratings.shape, np.nan)
    there = ~np.isnan(work.ratings).all(axis=2)
    story, rater = np.nonzero(there)
    ratings[story, rater] = rated(rater.astype(np.int64), truth[story])
    second = []
    for keys, drop in ((work.repeats, 0.0), (work.checks, DROP)):
        r, s = np.array(keys, dtype=np.int64).reshape(-1, 2).T
        second.append(rated(r, truth[s] - drop) if len(keys) else np.empty((0, criteria)))
    pace = np.where(np.isnan(work.pace), np.nan, np.exp(SPEEDS * rng.normal(size=raters)))
    return replace(work, ratings=ratings, repeated=second[0], checked=second[1], pace=pace)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Signs of each rater: as measured, as z against attentive people, their sums with and without agreement, and who
    is in doubt by each; `false` is the share of simulated attentive people below the cuts."""

    signs: Floats
    z: Floats
    total: Floats
    independent: Floats
    doubted: Masks
    doubted_independently: Masks
    cut: float
    cut_independent: float


def judged(work: Work, *, false: float, simulated: int, rng: np.random.Generator) -> Judged:
    """Who is in doubt. Once the worst are found, the variances and the others' means are computed again without them,
    so that careless people do not make attentive ones look as if they disagreed."""
    out = np.zeros(work.ratings.shape[1], dtype=np.bool_)
    found = _judged(work, work, false, simulated, rng)
    for _ in range(2):
        again = found.doubted | found.doubted_independently
        if (again == out).all() or again.mean() > 0.5:
            break
        out = again
        found = _judged(work, work.without(out), false, simulated, rng)
    return found


def _judged(work: Work, others: Work, false: float, simulated: int, rng: np.random.Generator) -> Judged:
    signs, of = measured(work, others), variances(others)
    raters = len(signs)
    drawn = np.concatenate([measured(attentive(work, of, rng)) for _ in range(-(-simulated // raters))])
    middle, spread = np.nanmean(drawn, axis=0), np.nanstd(drawn, axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)

    def standard(values: Floats) -> Floats:
        z: Floats = (values - middle) / spread
        z[:, _SPEED] = np.minimum(z[:, _SPEED], 0)
        z[:, _SPREAD] = -np.abs(z[:, _SPREAD])
        z[:, _IDENTICAL] = np.minimum(z[:, _IDENTICAL], 0)
        # Nobody is in doubt for what could not be measured.
        return np.where(np.isnan(z), 0.0, np.clip(z, -4, 4))

    z, normal = standard(signs), standard(drawn)
    total, independent = z.sum(axis=1), z[:, 1:].sum(axis=1)
    cut = float(np.quantile(normal.sum(axis=1), false))
    cut_independent = float(np.quantile(normal[:, 1:].sum(axis=1), false))
    rated = (~np.isnan(work.ratings).all(axis=2)).sum(axis=0) >= _FEWEST
    doubted, alone = (total < cut) & rated, (independent < cut_independent) & rated
    return Judged(signs, z, total, independent, doubted, alone, cut, cut_independent)


def openmeva(work: Work) -> Masks:
    """Raters whom the rule of OpenMEVA rejects: some whole story of a check below 4, or some damaged one above 2, in
    the mean over criteria. Attentive people are strict or lenient, and many fall to it."""
    out = np.zeros(work.ratings.shape[1], dtype=np.bool_)
    for (r, story), values in zip(work.checks, work.checked, strict=True):
        whole, damaged = np.nanmean(work.ratings[story, r]), np.nanmean(values)
        out[r] |= bool(whole < 4 or damaged > 2)
    return out


def in_order(work: Work) -> list[tuple[int, int]]:
    """For each rater: checks in which the whole story was rated above its damaged version, of how many."""
    found = [(0, 0)] * work.ratings.shape[1]
    for (r, story), values in zip(work.checks, work.checked, strict=True):
        gap = np.nanmean(work.ratings[story, r] - values)
        if not np.isnan(gap):
            found[r] = (found[r][0] + int(gap > 0), found[r][1] + 1)
    return found
