"""How much the choice of raters adds to the uncertainty of a judge's difference from people.

Let d_i be the difference between a judge and rater i, and d its mean over r raters. Resamples of stories show how d
varies over stories. With other raters of the same kind, d would vary too. Two questions have two variances:

=========================  ===================  =======================================================================
question                   raters' part         why
=========================  ===================  =======================================================================
is it one more person?     sigma2 (1 + 1/r)     the judge is then one rater among others, compared with a mean of r
is it below the average?   sigma2 / r           the judge is what it is; the average person is estimated from r persons
=========================  ===================  =======================================================================

sigma2 is estimated as the variance of d_i over raters minus the variance that stories alone would cause, or as 0 if
this is negative (a variance component from its expectation, Searle, Casella & McCulloch 1992, Variance Components,
section 3.4). The variance that stories cause is computed from the resampled deviations. The variance of d_i over so few
raters is more often below than above its expectation. It is therefore multiplied by (r - 1) / (median of chi-squared
with r - 1 degrees of freedom), so that it is as often too large as too small. The interval then uses the quantile of
Student's t with Satterthwaite's degrees of freedom (1946, Biometrics Bulletin 2): r - 1 for the raters' part and many
for the stories'.

With two raters whose d_i differ by more than stories explain, this quantile can be up to 12.7: two people give little
information on how people differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from judge.base.arrays import Floats

_SURE = 0.975
# Degrees of freedom from which on t is the normal distribution.
_ENOUGH = 1e6

# Units beyond which a number of story-prompts or raters is not named as one that would decide a question.
MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Spread:
    """Variances of the mean difference d between a judge and raters: `of_mean` over stories, `of_raters` sigma2."""

    of_mean: float
    of_raters: float
    raters: int

    @property
    def one_more(self) -> float:
        """Factor on d's interval over stories for whether the judge is one more person; 1 if raters add nothing."""
        return self._factor(1 + 1 / self.raters)

    @property
    def average(self) -> float:
        """Factor on d's interval over stories for the difference from the average person; 1 if raters add nothing."""
        return self._factor(1 / self.raters)

    def _factor(self, share: float) -> float:
        from scipy.special import ndtri

        if self.of_mean <= 0 or self.of_raters <= 0:
            return 1.0
        return self._half_width(share) / float(ndtri(_SURE) * math.sqrt(self.of_mean))

    def _half_width(self, share: float) -> float:
        """Half of the 95 % interval of d, with `share` times sigma2 as the raters' part."""
        from scipy.special import stdtrit

        of_raters = share * self.of_raters
        total = self.of_mean + of_raters
        freedom = min(_ENOUGH, (self.raters - 1) * (total / of_raters) ** 2) if of_raters > 0 else _ENOUGH
        return float(stdtrit(freedom, _SURE)) * math.sqrt(total)

    def with_more(self, *, stories: float = 1.0, raters: int | None = None) -> Spread:
        """The spread that `stories` times as many stories, or this number of `raters`, would have."""
        count = self.raters if raters is None else raters
        # The stories' part of a mean over raters falls with raters by less than 1/r: it is left as it is.
        return replace(self, of_mean=self.of_mean / stories, raters=count)

    def half_width(self) -> float:
        """Half of the 95 % interval of the judge's difference from the average person."""
        return self._half_width(1 / self.raters)


def spread(parts: Floats, resampled: Floats) -> Spread | None:
    """Variances of the mean difference between a judge and raters; None with fewer than two raters or resamples.

    `parts` (r raters,) are the differences, NaN left out, and `resampled` (r, b) those in each resample of stories."""
    from scipy.special import chdtri

    defined = ~np.isnan(parts) & ~np.isnan(resampled).all(axis=1)
    r = int(defined.sum())
    values = resampled[defined]
    values = values[:, ~np.isnan(values).any(axis=0)]
    if r < 2 or values.shape[1] < 2:
        return None
    of_mean = float(values.mean(axis=0).var())
    deviations = values - values.mean(axis=1, keepdims=True)
    deviations -= deviations.mean(axis=0)
    of_stories = float((deviations**2).sum(axis=0).mean()) / (r - 1)
    observed = float(parts[defined].var(ddof=1)) * (r - 1) / float(chdtri(r - 1, 0.5))
    return Spread(of_mean, max(0.0, observed - of_stories), r)


def needed(known: Spread, half_width: float) -> tuple[float | None, int | None]:
    """Factor for stories, and number of raters, that each alone shorten half of the average person's interval enough.

    `known` is the spread at hand, and `half_width` half of the 95 % interval that is wanted. None where that alone does
    not suffice, or takes more than a million times as many."""
    stories = _first(lambda times: known.with_more(stories=times).half_width() <= half_width)
    raters = _first(lambda times: known.with_more(raters=math.ceil(times * known.raters)).half_width() <= half_width)
    return stories, None if raters is None else math.ceil(raters * known.raters)


def _first(suffices: Callable[[float], bool]) -> float | None:
    """Smallest factor from 1 on that suffices, to 1 %; None beyond `MOST`."""
    low, high = 1.0, 1.0
    while not suffices(high):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def drawn_out(values: Floats, by: float) -> Floats:
    """The `values` with their deviations from their mean multiplied `by` a factor, as from `Spread`; NaN stays NaN."""
    if by == 1.0 or np.isnan(values).all():
        return values
    centre = float(np.nanmean(values))
    return np.asarray(centre + by * (values - centre), dtype=np.float64)
