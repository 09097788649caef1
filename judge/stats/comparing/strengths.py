"""Strengths of systems with intervals, and numbers derived from them: win rates, differences, position and length
effects.

All numbers are functions of the parameters of one fit (`davidson`). Their intervals come from the same functions of the
parameters estimated without each story-prompt in turn (`cluster_influence`), or in bootstrap resamples of
story-prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.estimate import Estimate
from judge.stats.comparing import cluster_bootstrap, davidson
from judge.stats.comparing.cluster_influence import interval, left_out, spread
from judge.stats.comparing.comparisons import Comparisons, Ties
from judge.stats.comparing.davidson import Fit
from judge.stats.estimation.paired_differences import Difference, adjusted
from judge.stats.resampling.intervals import expanded

Floats = NDArray[np.float64]

NO_TIE = "undefined: no comparison is a tie"
_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """Strengths of systems, and the numbers computed from one fit.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    strengths : tuple of Estimate
        Log strengths that sum to 0; n counts comparisons. All are undefined, with one reason, where the data do
        not determine them.
    win_rates : tuple of Estimate
        Expected share of comparisons won against the other systems, each with equal weight. Ties count one half,
        both positions have equal weight, and covariates are equal (at equal length).
    position : Estimate
        Advantage of being shown first, in log odds.
    log_nu : Estimate
        Log of Davidson's ν, the tendency to call equal stories a tie.
    covariates : tuple of Estimate
        Log odds per unit of each covariate.
    differences : tuple of Difference
        For all pairs of systems, the log strength of the first minus that of the second, with p adjusted over all
        pairs (Holm).
    fit : Fit or None
        The fit; None where undetermined.
    """

    systems: tuple[str, ...]
    strengths: tuple[Estimate, ...]
    win_rates: tuple[Estimate, ...]
    position: Estimate
    log_nu: Estimate
    covariates: tuple[Estimate, ...]
    differences: tuple[Difference, ...]
    fit: Fit | None

    @property
    def reason(self) -> str | None:
        """Reason why the strengths are undetermined; None where they are determined."""
        return self.strengths[0].reason if self.fit is None and self.strengths else None


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Settings of bootstrap intervals: number of resamples of story-prompts, and seed."""

    resamples: int = 1000
    seed: int = 1


def strengths(
    comparisons: Comparisons,
    *,
    position: bool = True,
    covariates: Sequence[int] | None = None,
    ties: Ties = "davidson",
    bootstrap: Bootstrap | None = None,
    confidence: float = 0.95,
) -> Strengths:
    """Strengths, win rates and differences of systems from comparisons, each with its interval.

    Parameters
    ----------
    comparisons : Comparisons
        The data.
    position : bool
        Whether to fit an advantage for being shown first.
    covariates : sequence of int, optional
        Indices of the covariates used; None = all.
    ties : "davidson", "half" or "left-out"
        "davidson" = an outcome of their own, with a parameter; "half" = half a win for each of the two systems;
        "left-out" = not counted.
    bootstrap : Bootstrap, optional
        If given, percentile intervals (`intervals.expanded`) over resamples of story-prompts replace those that are
        clustered by story-prompt.
    confidence : float
        Coverage of each single interval.

    Returns
    -------
    Strengths
        All undefined, with one reason, where the comparisons determine no finite strengths.

    References
    ----------
    Bradley & Terry 1952; Davidson 1970; Davidson & Beaver 1977; Bell & McCaffrey 2002.
    """
    comparisons = comparisons.with_ties(ties)
    fit = davidson.fit(comparisons, position=position, covariates=covariates)
    if isinstance(fit, str):
        return _undefined(comparisons, fit, len(comparisons.covariates.T) if covariates is None else len(covariates))
    intervals = _Intervals.of(fit, bootstrap, confidence)
    systems, size = fit.design.systems, fit.design.size
    after = iter(range(systems, size))
    position_term = _term(fit, intervals, next(after)) if fit.position else _no_term("position", asked=position)
    asked = range(comparisons.covariates.shape[1]) if covariates is None else covariates
    beside = tuple(
        _term(fit, intervals, next(after)) if at in fit.covariates else _no_term(str(at), asked=True) for at in asked
    )
    nu = _term(fit, intervals, size - 1) if fit.design.ties else Estimate.undefined(NO_TIE)
    rates = win_rates(fit, intervals.values)
    return Strengths(
        comparisons.systems,
        tuple(_term(fit, intervals, s) for s in range(systems)),
        tuple(
            intervals.around(value, rates[:, s], (0.0, 1.0))
            for s, value in enumerate(win_rates(fit, fit.parameters[None])[0])
        ),
        position_term,
        nu,
        beside,
        tuple(_differences(fit, confidence)),
        fit,
    )


def win_rates(fit: Fit, parameters: Floats) -> Floats:
    """Expected win rate of each system against all others, with ties counted one half.

    Parameters
    ----------
    fit : Fit
        The fitted model.
    parameters : array, shape (b, number of parameters)
        b sets of parameters at which the rates are computed, in the order strengths, position,
        covariates, log ν (Davidson's parameter for ties), as far as the model has them.

    Returns
    -------
    array, shape (b, systems)
        0 to 1, for equal weights of both positions and equal covariates.
    """
    systems = fit.design.systems
    step = max(1, _CHUNK // systems**2)
    parts = [_win_rates(fit, parameters[at : at + step]) for at in range(0, len(parameters), step)]
    return np.concatenate(parts) if parts else np.empty((0, systems))


def _pair_rates(fit: Fit, parameters: Floats) -> Floats:
    systems = fit.design.systems
    strength = parameters[:, :systems]
    apart = (strength[:, :, None] - strength[:, None, :]) / 2
    lead = parameters[:, systems, None, None] / 2 if fit.position else np.zeros((len(parameters), 1, 1))
    tie = parameters[:, -1:, None] if fit.design.ties else np.full((len(parameters), 1, 1), -np.inf)
    credit = np.zeros(apart.shape)
    for sign in (1, -1):
        share = davidson.shares(apart + sign * lead, np.broadcast_to(tie, apart.shape))
        credit += (share[..., 0] + share[..., 2] / 2) / 2
    return credit


def _win_rates(fit: Fit, parameters: Floats) -> Floats:
    credit = _pair_rates(fit, parameters)
    systems = credit.shape[1]
    # A system against itself has one half.
    return np.asarray((credit.sum(axis=2) - 0.5) / (systems - 1), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Intervals:
    """Data from which the intervals of numbers that depend on a fit are computed.

    `values` holds the fit's parameters, one row for each cluster (story-prompt) that is left out in turn or for each
    bootstrap resample. `method` describes the bootstrap, and is None where clusters are left out. `n` and `clusters`
    are the numbers of comparisons and of clusters, and `confidence` is the coverage of the intervals.
    """

    n: int
    clusters: int
    values: Floats
    method: str | None
    confidence: float

    @classmethod
    def of(cls, fit: Fit, bootstrap: Bootstrap | None, confidence: float) -> _Intervals:
        n, clusters = round(fit.found.n), np.unique(fit.found.cluster).size
        if bootstrap is None:
            return cls(n, clusters, left_out(fit), None, confidence)
        drawn = cluster_bootstrap.resampled(fit, bootstrap.resamples, np.random.default_rng(bootstrap.seed))
        method = f"bootstrap by story-prompt ({clusters}), {drawn.how}, expanded percentile, {100 * confidence:g} %"
        return cls(n, clusters, drawn.parameters, method, confidence)

    def around(self, value: float, values: Floats, bounds: tuple[float, float] = (-np.inf, np.inf)) -> Estimate:
        estimate = Estimate(float(value), n=self.n)
        if self.method is None:
            return interval(estimate, values, confidence=self.confidence, bounds=bounds)
        return expanded(estimate, values, self.clusters, self.method, confidence=self.confidence)


def _term(fit: Fit, intervals: _Intervals, at: int) -> Estimate:
    return intervals.around(float(fit.parameters[at]), intervals.values[:, at])


def _no_term(name: str, *, asked: bool) -> Estimate:
    if not asked:
        return Estimate.undefined("not asked for")
    if name == "position":
        return Estimate.undefined(
            "undefined: the position effect cannot be separated from strengths, since pairs had one order"
        )
    return Estimate.undefined("undefined: it cannot be separated from strengths and position")


def _differences(fit: Fit, confidence: float) -> list[Difference]:
    """Log strength of the first system minus that of the second, for all pairs of systems, with p values adjusted over
    the pairs.

    Intervals and tests always come from the parameters estimated without each cluster (story-prompt) in turn, and never
    from a bootstrap.
    """
    systems = fit.design.systems
    without = left_out(fit)[:, :systems]
    clusters, out = len(without), []
    n = round(fit.found.n)
    for i in range(systems - 1):
        apart = without[:, [i]] - without[:, i + 1 :]
        error = spread(apart) if clusters > 1 else np.full(apart.shape[1], np.nan)
        for k, j in enumerate(range(i + 1, systems)):
            value = float(fit.strengths[i] - fit.strengths[j])
            estimate = interval(Estimate(value, n=n), apart[:, k], confidence=confidence)
            if estimate.low is None:
                out.append(Difference(i, j, estimate))
                continue
            t = value / float(error[k])
            p = float(2 * special.stdtr(clusters - 1, -abs(t)))
            out.append(Difference(i, j, estimate, t=t, p=p, test="clustered t"))
    return adjusted(out)


def _undefined(comparisons: Comparisons, reason: str, covariates: int) -> Strengths:
    nothing = replace(Estimate.undefined(reason), n=round(comparisons.n))
    each = (nothing,) * len(comparisons.systems)
    return Strengths(comparisons.systems, each, each, nothing, nothing, (nothing,) * covariates, (), None)
