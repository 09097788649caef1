"""A judge's ratings at equal quality: regression on human ratings, corrected for the error in the human ratings.

An honest judge may use its own scale: its expected rating is then a rising curve of people's opinion, not a line, and
not the same number. A method that subtracts human ratings, or fits a line, mistakes this curve for a preference for
anything that is correlated with quality: length, a good system, other criteria. The model here is therefore that the
judge's expected rating is a + b E[P] + c E[P²], where P is one person's rating of the story. The curve allows for
ratings near an end of the scale, where ratings differ less than opinions do. Spiliopoulou et al. 2025 (arXiv
2508.06709) argue that judge and people need not have the same distribution of ratings, and that quality must be
accounted for. Tests use the difference between the results of the curve and of a line as a bound for the remaining
bias.

A story's means of P and P² are measured with error, and error in a regressor biases all other coefficients. The
covariance of the errors is estimated from the disagreement of people within each story, and subtracted from the matrix
of products (Fuller 1987, *Measurement Error Models*, section 3.1: the error's covariance may differ between stories).
Products are taken within systems, so that the judge's opinion of whole systems does not affect other coefficients. The
judge's own error is in the response only and cancels, so that one repeat is enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats, Masks, renumbered
from judge.base.estimate import Estimate
from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import Test, Weights

# Below this share of true variance in people's means nothing can be corrected for: the statistic is undefined.
LEAST_RELIABILITY = 0.1

NO_QUALITY = (
    "undefined: people's disagreement within stories explains more than nine tenths of the variance of stories' mean "
    "ratings within systems, so that the stories' quality is not known"
)
NO_CURVE = (
    "undefined: people disagree too much to show whether the judge's scale is a curved function of theirs, which can "
    "look like this bias"
)
CROWDED = (
    "undefined: 40 % or more of people's ratings are at one end of the scale; how these stories differ in quality is "
    "not known, and a judge that distinguishes them would seem to follow whatever is correlated with quality"
)
# Share of people's ratings at one end of the scale from which on the curve is lost in what nobody can see there.
MOST_AT_END = 0.4

NO_OTHER = "undefined: the tested property hardly differs between stories of equal quality"
RATED_ONCE = "undefined: no story has two of people's ratings, so that the error of people's ratings is not known"


@dataclass(frozen=True, slots=True, eq=False)
class GivenQuality:
    """Data of the regression of a judge's ratings on human ratings P and a tested variable; unused stories weigh 0.

    `used` (n,) marks stories with all data: the judge's rating, ratings by two people, and the tested variable.
    `regressors` (n, r) are people's mean of P and of P², the tested variable, and last the judge's rating; `error` (n,
    r - 1, r - 1) is the covariance of their errors. `at_end` is the share of human ratings at the lowest or at the
    highest value, whichever is larger."""

    used: Masks
    regressors: Floats
    error: Floats
    system: Codes
    at_end: float

    @classmethod
    def of(
        cls,
        judge: Floats,
        people: Floats,
        system: Codes,
        *,
        exact: Floats | None = None,
        other: Floats | None = None,
        at_end: float = 0.0,
    ) -> GivenQuality:
        """Data of the regression of the judge's ratings on human ratings, which are standardised before squaring.

        `judge` (n,) and `people` (n, k people) are ratings, NaN = none; only stories with two human ratings are used,
        the others have 0 in all data. `system` (n,): if most systems have only one story, all stories are treated as
        one system's. The tested variable is `exact` (n,), known without error, such as log length, or `other` (n, k),
        as the same people rated it, such as another criterion: each column must be the same person as in `people`,
        because a person's errors on two criteria of one story are correlated. `at_end` is from `share_at_end`, of the
        ratings before leniency is removed."""
        present = ~np.isnan(people) if other is None else ~(np.isnan(people) | np.isnan(other))
        used = (present.sum(axis=1) > 1) & ~np.isnan(judge)
        if exact is not None:
            used &= ~np.isnan(exact)
        defined = people[present]
        spread = float(defined.std()) if defined.size else 0.0
        scaled = (np.where(present, people, 0.0) - (defined.mean() if defined.size else 0.0)) / (spread or 1.0)
        columns = [scaled, scaled**2] if other is None else [scaled, scaled**2, np.where(present, other, 0.0)]
        mean, error = _means_and_errors(np.stack(columns, axis=2), present)
        parts = [mean] if exact is None else [mean, exact[:, None]]
        regressors = np.concatenate([*parts, judge[:, None]], axis=1)
        wide = np.zeros((judge.size, regressors.shape[1] - 1, regressors.shape[1] - 1))
        wide[:, : error.shape[1], : error.shape[1]] = error
        codes = renumbered(system)
        if 2 * np.unique(codes[used]).size > used.sum():
            codes = np.zeros_like(codes)
        return cls(
            used, np.where(used[:, None], regressors, 0.0), np.where(used[:, None, None], wide, 0.0), codes, at_end
        )

    def reason(self) -> str | None:
        """Reason why the regression is unreliable, or None.

        No story has all data, too many human ratings are at an end of the scale, or a regressor has too little true
        variance."""
        if not self.used.any():
            return RATED_ONCE
        if self.at_end >= MOST_AT_END:
            return CROWDED
        raw, error, _ = self._moments(self.used[None, :].astype(np.float64))
        r = self.error.shape[1]
        raw, true = raw[0, :r, :r], raw[0, :r, :r] - error[0]
        reasons = [NO_QUALITY, NO_CURVE, *[NO_OTHER] * (r - 2)]
        for k, why in enumerate(reasons):
            left, whole = _left(true, k), _left(raw, k)
            # Dividing by the true variance of a regressor that is nearly all error would inflate that error.
            if not (whole > 1e-12 and left > LEAST_RELIABILITY * whole):
                return why
        return None

    def slope(self, weights: Weights, *, curved: bool = True) -> Floats:
        """Coefficient of the tested variable at equal quality for each of b sets of weights, (b,), in points per unit.

        `weights` (b, n) are 0 or 1, and 0 for unused stories. `curved` regresses on P and P², otherwise on P alone (a
        line). NaN where the corrected products are singular."""
        return np.asarray(self._fit(weights, curved)[0][:, -1], dtype=np.float64)

    def opinions(self, weights: Weights, *, curved: bool = True) -> Floats:
        """Systems' intercepts, (b, systems), in points: how far each is rated above what human ratings predict.

        `weights` and `curved` are as in `slope`. NaN for a system without stories. Only differences between systems are
        meaningful."""
        coefficients, means = self._fit(weights, curved)
        kept = self._kept(curved)
        return np.asarray(means[..., -1] - np.einsum("bsr,br->bs", means[..., kept], coefficients), dtype=np.float64)

    def spread_within(self) -> Floats:
        """SD of the judge's ratings within each system; NaN where undefined."""
        judge = self.regressors[:, -1]
        groups = [judge[self.used & (self.system == s)] for s in range(int(self.system.max()) + 1)]
        spread = [float(part.std(ddof=1)) if part.size > 1 else 0.0 for part in groups]
        return np.asarray([variance if variance > 0 else np.nan for variance in spread], dtype=np.float64)

    def _kept(self, curved: bool) -> list[int]:
        return [k for k in range(self.error.shape[1]) if curved or k != 1]

    def _fit(self, weights: Weights, curved: bool) -> tuple[Floats, Floats]:
        raw, error, means = self._moments(weights)
        kept = self._kept(curved)
        true = raw[:, kept][:, :, kept] - error[:, kept][:, :, kept]
        singular = ~(np.abs(np.linalg.det(true)) > 1e-12)
        true[singular] = np.eye(len(kept))
        out = np.linalg.solve(true, raw[:, kept, -1:])[..., 0]
        out[singular] = np.nan
        return np.asarray(out, dtype=np.float64), means

    def _moments(self, weights: Weights) -> tuple[Floats, Floats, Floats]:
        """Products within systems (b, r, r), their part due to error (less the judge), and means (b, systems, r)."""
        b, n = weights.shape
        r = self.regressors.shape[1]
        member = np.eye(int(self.system.max()) + 1)[self.system]
        products = np.einsum("ni,nj->nij", self.regressors, self.regressors).reshape(n, -1)
        count = weights @ member
        sums = (weights @ np.einsum("ns,nr->nsr", member, self.regressors).reshape(n, -1)).reshape(b, -1, r)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / count[..., None]
            share = np.where(count > 0, 1 / count, 0.0)
        within = (weights @ products).reshape(b, r, r) - np.einsum("bs,bsi,bsj->bij", share, sums, sums)
        # A system's mean carries error too: a story's share of it is taken off twice otherwise.
        errors = self.error.reshape(n, -1)
        twice = [(share * (weights @ (member * column[:, None]))).sum(axis=1) for column in errors.T]
        error = (weights @ errors - np.stack(twice, axis=1)).reshape(b, r - 1, r - 1)
        return within, error, means


def share_at_end(ratings: Floats) -> float:
    """Share of `ratings` at the lowest or the highest value that occurs, whichever is larger; 0 without any."""
    defined = ratings[~np.isnan(ratings)]
    return max(float((defined == end).mean()) for end in (defined.min(), defined.max())) if defined.size else 0.0


def _means_and_errors(values: Floats, present: Masks) -> tuple[Floats, Floats]:
    """Means over people for each story, (stories, p), and the covariance of their errors, (stories, p, p)."""
    filled = values * present[..., None]
    count = present.sum(axis=1).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = filled.sum(axis=1) / count[:, None]
        deviation = np.where(present[..., None], filled - mean[:, None, :], 0.0)
        error = np.einsum("nki,nkj->nij", deviation, deviation) / (count * (count - 1))[:, None, None]
    return mean, error


def _left(products: Floats, k: int) -> float:
    """Variance of regressor k that regressors 0 to k - 1 do not explain (Schur complement)."""
    if k == 0:
        return float(products[0, 0])
    before, cross = products[:k, :k], products[:k, k]
    if abs(np.linalg.det(before)) < 1e-12:
        return 0.0
    return float(products[k, k] - cross @ np.linalg.solve(before, cross))


# Self-preference: whether a judge prefers its own systems to others at equal quality.

# With fewer other systems their spread is not known well enough for a test.
LEAST_OTHERS = 3


@dataclass(frozen=True, slots=True, eq=False)
class OwnPreference:
    """Data of the test of a judge's preference for its own systems (such as its own model), whose stories are `own`."""

    given: GivenQuality
    own: Masks

    @property
    def systems(self) -> tuple[Codes, Codes]:
        """Codes of the judge's own systems, and of the other systems that have stories."""
        codes = np.unique(self.given.system[self.given.used])
        mine = np.unique(self.given.system[self.given.used & self.own])
        return mine, np.setdiff1d(codes, mine)

    def reason(self) -> str | None:
        """Reason why the test is undefined, or None."""
        mine, others = self.systems
        if not mine.size:
            return "undefined: none of the own systems' stories has the judge's rating and two of people's ratings"
        if others.size < LEAST_OTHERS:
            return (
                f"undefined with fewer than {LEAST_OTHERS} other systems: how much the judge's opinions of systems "
                "differ anyway is not known"
            )
        return None

    def value(self, weights: Weights, *, curved: bool = True) -> Floats:
        """Mean over own minus other systems of how far the judge rates them above human ratings, in points.

        `weights` (b, n) and `curved` are as in `GivenQuality.opinions`; each system counts once. NaN where one has no
        story."""
        mine, others = self.systems
        opinions = self.given.opinions(weights, curved=curved)
        return np.asarray(opinions[:, mine].mean(axis=1) - opinions[:, others].mean(axis=1), dtype=np.float64)

    def test(self, story_prompt: Codes) -> Test:
        """Test of `value` against 0 over story-prompts (jackknife) or systems (t, systems - 2 df), the wider one.

        `story_prompt` (n,). The bias that it reports is the difference from the result with a line in place of the
        curve (see `given_quality`)."""
        mine, others = self.systems
        used, every = self.given.used, self.given.used[None, :].astype(np.float64)
        value = float(self.value(every)[0])
        bias = abs(value - float(self.value(every, curved=False)[0]))
        by_prompt = jackknife.against_zero(self.value, story_prompt, used, bias=bias)
        between = self._between()
        if by_prompt.se is None or between == 0:
            return by_prompt
        estimate = Estimate(value, by_prompt.estimate.n, method="between systems")
        df = mine.size + others.size - 2
        by_system = jackknife.student(estimate, between, df, by_prompt.clusters, bias=bias)
        return max(by_prompt, by_system, key=_width)

    def _between(self) -> float:
        """Standard error from the spread of the judge's deviations among systems."""
        mine, others = self.systems
        opinions = self.given.opinions(self.given.used[None, :].astype(np.float64))[0]
        spread = self.given.spread_within()
        df = mine.size + others.size - 2
        variances = []
        # An opinion about a system changes ratings less near an end of the judge's scale: the larger error in points,
        # and in units of the standard deviation within each system, is taken.
        for unit in (np.ones_like(spread), spread):
            parts = [((opinions[some] - opinions[some].mean()), unit[some]) for some in (mine, others)]
            squares = sum(float(((apart / each) ** 2).sum()) for apart, each in parts) / df
            variances.append(squares * sum(float((each**2).mean()) / each.size for _, each in parts))
        return float(np.sqrt(np.nanmax(variances)))


def _width(test: Test) -> float:
    low, high = test.estimate.low, test.estimate.high
    return float("inf") if low is None or high is None else high - low
