"""Strengths by maximum likelihood: a conditional logit model of the outcomes first, second and tie, without a penalty.

The model is Bradley & Terry 1952 (Biometrika 39) with the ties of Davidson 1970 (JASA 65) and an advantage for the
position in which a story is shown (Davidson & Beaver 1977, Biometrics 33). With strengths θ that sum to 0, position
effect δ, differences x of covariates, and η = θ_first - θ_second + δ + x'β,

    P(first) : P(second) : P(tie)  =  exp(η / 2) : exp(-η / 2) : ν.

Without ties this is P(first) = 1 / (1 + exp(-η)). The probability of a tie is the same in both orders. Outcomes may be
fractions (soft wins): the score equations are the same, but only the clustered covariance is then valid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import CONFIDENCE, Estimate
from judge.stats.comparing import paired_comparisons
from judge.stats.comparing.paired_comparisons import FIRST, SECOND, TIE, Comparisons

_STEPS = 100
_NOTHING = 1e-9
# Log odds from which on it is asked whether the likelihood has a maximum at all.
_SUSPICIOUS = 12.0


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Design matrix of a model of strengths, for comparisons of the systems `first` and `second` (indices).

    The parameters are the strength of each system, a coefficient for each column of `further` (position effect and
    covariates; shape (comparisons, columns)), and, if `ties`, Davidson's parameter for ties, log ν."""

    systems: int
    first: Codes
    second: Codes
    further: Floats
    ties: bool

    @classmethod
    def of(cls, comparisons: Comparisons, *, position: bool, ties: bool, covariates: Sequence[int]) -> Design:
        """Design matrix for `comparisons`; parameters in the order strengths, position, covariates, log ν.

        `position` asks for a column for the advantage of being shown first, `ties` for a parameter log ν (Davidson
        1970), and `covariates` holds indices of the covariates used."""
        columns = [np.ones((comparisons.first.size, 1))] if position else []
        further = np.concatenate([*columns, comparisons.covariates[:, list(covariates)]], axis=1)
        return cls(len(comparisons.systems), comparisons.first, comparisons.second, further, ties)

    @property
    def size(self) -> int:
        """Number of parameters; with ties the last one is log ν."""
        return int(self.systems + self.further.shape[1] + self.ties)

    def eta(self, parameters: Floats) -> Floats:
        """Log odds η = log(P(first) / P(second)) of each comparison, shape (..., n comparisons); ties do not matter.

        `parameters` has shape (..., parameters), in the order strengths, position, covariates, log ν, as far as they
        exist."""
        strength = parameters[..., : self.systems]
        rest = parameters[..., self.systems : self.systems + self.further.shape[1]]
        return np.asarray(strength[..., self.first] - strength[..., self.second] + rest @ self.further.T)

    def shares(self, parameters: Floats) -> Floats:
        """Probabilities of first, second and tie, shape (..., n comparisons, 3) (Davidson & Beaver 1977).

        `parameters` are as in `eta`. The probability of a tie is 0 without a parameter for ties."""
        half = self.eta(parameters) / 2
        tie = parameters[..., -1:] if self.ties else np.full((*parameters.shape[:-1], 1), -np.inf)
        return shares(half, np.broadcast_to(tie, half.shape))

    def gradient(self, ended: Floats, share: Floats, cluster: Codes | None = None) -> Floats:
        """Score: first derivatives of the log likelihood, (parameters,) or, with `cluster`, (clusters, parameters).

        `ended` (n comparisons, 3) counts outcomes, or shares of them: first, second, tie. `share` are the probabilities
        (`shares`) at the parameters in question. `cluster` holds the code 0, 1, ... of each comparison's cluster."""
        group = np.zeros(self.first.size, dtype=np.int64) if cluster is None else cluster
        groups = int(group.max(initial=-1)) + 1
        off = ended - ended.sum(axis=1, keepdims=True) * share
        lean = (off[:, FIRST] - off[:, SECOND]) / 2
        out = np.zeros((groups, self.size))
        for side, sign in ((self.first, 1), (self.second, -1)):
            cell = group * self.systems + side
            added = np.bincount(cell, weights=sign * lean, minlength=groups * self.systems)
            out[:, : self.systems] += added.reshape(groups, self.systems)
        columns = [lean * column for column in self.further.T] + ([off[:, TIE]] if self.ties else [])
        for at, column in enumerate(columns, self.systems):
            out[:, at] = np.bincount(group, weights=column, minlength=groups)
        return out[0] if cluster is None else out

    def information(self, number: Floats, share: Floats, rows: slice = slice(None)) -> Floats:
        """Information matrix (parameters, parameters): minus the second derivatives of the log likelihood.

        `number` (n rows,) counts the comparisons in each row of the design, `share` (n rows, 3) are their probabilities
        (`shares`), and `rows` selects rows. It is singular in the direction of equal shifts of all strengths, see
        `fixed`."""
        first, second, further = self.first[rows], self.second[rows], self.further[rows]
        p, n, s = share[rows], number[rows], self.systems
        lean = (p[:, FIRST] - p[:, SECOND]) / 2
        spread = n * ((p[:, FIRST] + p[:, SECOND]) / 4 - lean**2)
        out = np.zeros((self.size, self.size))
        met = np.bincount(first * s + second, weights=spread, minlength=s * s).reshape(s, s)
        met = met + met.T
        out[:s, :s] = np.diag(met.sum(axis=1)) - met
        columns = [spread * column for column in further.T]
        if self.ties:
            columns.append(-n * lean * p[:, TIE])
        for at, column in enumerate(columns, s):
            out[:s, at] = np.bincount(first, column, minlength=s) - np.bincount(second, column, minlength=s)
        end = s + further.shape[1]
        out[s:end, s:end] = (further * spread[:, None]).T @ further
        if self.ties:
            out[s:end, -1] = further.T @ columns[-1]
            out[-1, -1] = (n * p[:, TIE] * (1 - p[:, TIE])).sum()
        upper = np.triu(out, 1)
        return np.asarray(np.triu(out) + upper.T, dtype=np.float64)

    def fixed(self, information: Floats) -> Floats:
        """A copy of `information` with the sum of strengths fixed at 0, so that it can be inverted."""
        out = information.copy()
        out[..., : self.systems, : self.systems] += np.mean(np.diagonal(information, axis1=-2, axis2=-1)) + _NOTHING
        return out

    def dense(self) -> Floats:
        """Design matrix, dense, shape (comparisons, parameters), without a column for log ν."""
        out = np.zeros((self.first.size, self.systems + self.further.shape[1]))
        rows = np.arange(self.first.size)
        out[rows, self.first], out[rows, self.second] = 1.0, -1.0
        out[:, self.systems :] = self.further
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted model of strengths.

    `found` holds the comparisons it was fitted to, equal rows merged. `parameters` are the maximum likelihood estimates
    in the order strengths, position, covariates, log ν, as far as they exist. `covariates` are the indices of those
    used."""

    design: Design
    found: Comparisons
    parameters: Floats
    position: bool
    covariates: tuple[int, ...]
    open: tuple[str, ...] = ()
    """Terms that were asked for and cannot be told from the others: "position", or the place of a covariate."""

    @property
    def strengths(self) -> Floats:
        """Fitted log strength of each system; their sum is 0."""
        return self.parameters[: self.design.systems]

    @property
    def share(self) -> Floats:
        """Fitted probabilities of first, second and tie, one row for each comparison in `found`."""
        return self.design.shares(self.parameters)

    def chances(self, first: Codes, second: Codes) -> Floats:
        """Fitted probabilities of first, second and tie, (n comparisons, 3), where no covariate differs.

        `first` and `second` hold the systems of each comparison, as indices into `Comparisons.systems`."""
        further = np.zeros((first.size, self.design.further.shape[1]))
        further[:, : int(self.position)] = 1.0
        return Design(self.design.systems, first, second, further, self.design.ties).shares(self.parameters)

    @property
    def log_likelihood(self) -> float:
        """Log likelihood of the outcomes under the fit (a quasi-likelihood if outcomes are fractions)."""
        return _likelihood(self.design, self.found.ended, self.parameters)


def shares(half: Floats, tie: Floats) -> Floats:
    """Probabilities of first, second and tie, shape (..., 3), in proportion exp(η / 2) : exp(-η / 2) : ν.

    `half` is η / 2, half the log odds of first against second; `tie` is log ν, minus infinity for no ties."""
    logits = np.stack([half, -half, tie], axis=-1)
    power = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(power / power.sum(axis=-1, keepdims=True), dtype=np.float64)


def fit(comparisons: Comparisons, *, position: bool = True, covariates: Sequence[int] | None = None) -> Fit | str:
    """Maximum likelihood fit of strengths, or the reason (which names systems) why it does not exist.

    `position` asks for an advantage of being shown first; `covariates` holds indices, None = all. A position effect or
    covariate that the data do not identify is left out and named in `Fit.open` (for example if every pair was shown in
    one order only). Without a tie in `comparisons` the model has no ν; `Comparisons.with_ties` sets how ties are
    treated. Existence: Ford 1957, Albert & Anderson 1984."""
    reason = paired_comparisons.undetermined(comparisons)
    if reason:
        return reason
    rows = comparisons.gathered()
    places = tuple(range(comparisons.covariates.shape[1]) if covariates is None else covariates)
    ties = bool(rows.ended[:, TIE].any())
    design = Design.of(rows, position=position, ties=ties, covariates=places)
    names = ["position"] * position + [str(at) for at in places]
    kept = _told(design, rows.ended.sum(axis=1))
    if not all(kept):
        names_kept = [name for name, kept_term in zip(names, kept, strict=True) if kept_term]
        places = tuple(at for at in places if str(at) in names_kept)
        position = "position" in names_kept
        design = Design.of(rows, position=position, ties=ties, covariates=places)
    parameters, converged = _newton(design, rows.ended)
    if not converged or np.abs(design.eta(parameters)).max() > _SUSPICIOUS or np.abs(parameters).max() > _SUSPICIOUS:
        reason = _separated(design, rows)
        if reason:
            return reason
    open_terms = tuple(name for name, kept_term in zip(names, kept, strict=True) if not kept_term)
    return Fit(design, rows, parameters, position, places, open_terms)


def _told(design: Design, number: Floats) -> list[bool]:
    """Whether the data identify each column of `further`, given the strengths and the identified earlier columns."""
    even = design.shares(np.zeros(design.size))
    information = design.fixed(design.information(number, even))
    taken = list(range(design.systems))
    independent = []
    for at in range(design.systems, design.systems + design.further.shape[1]):
        own = information[at, at]
        across = information[taken, at]
        rest = own - across @ np.linalg.solve(information[np.ix_(taken, taken)], across)
        independent.append(bool(rest > _NOTHING * max(own, _NOTHING)))
        if independent[-1]:
            taken.append(at)
    return independent


def _newton(design: Design, ended: Floats) -> tuple[Floats, bool]:
    """Estimates by Newton's method, and whether it converged (all first derivatives near 0)."""
    number, parameters = ended.sum(axis=1), np.zeros(design.size)
    height = _likelihood(design, ended, parameters)
    for _ in range(_STEPS):
        share = design.shares(parameters)
        score = design.gradient(ended, share)
        if np.abs(score).max() < _NOTHING * max(1.0, number.sum()):
            return parameters, True
        step = np.linalg.lstsq(design.fixed(design.information(number, share)), score, rcond=None)[0]
        for _halving in range(40):
            tried = _likelihood(design, ended, parameters + step)
            if tried >= height:
                break
            step = step / 2
        parameters, height = parameters + step, tried
    return parameters, False


def _likelihood(design: Design, ended: Floats, parameters: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(ended > 0, ended * np.log(design.shares(parameters)), 0.0)
    return float(parts.sum())


def _separated(design: Design, rows: Comparisons) -> str | None:
    """Reason why the likelihood has no maximum (Albert & Anderson 1984, Biometrika 71); None where it has one."""
    from scipy.optimize import linprog

    # Linear programming searches for a direction in the space of parameters along which no log odds of an observed
    # outcome against another outcome fall, and some rise (Konis 2007).
    steps = np.array(list(_advantages(design, rows.ended)))
    solution = linprog(-steps.sum(axis=0), A_ub=-steps, b_ub=np.zeros(steps.shape[0]), bounds=(-1, 1), method="highs")
    # An objective within the solver's tolerance of 0 means that no separating direction exists.
    if solution.x is None or solution.fun is None or solution.fun > -1e-6:
        return None
    along = solution.x[design.systems : design.systems + design.further.shape[1]]
    if rows.ended[:, SECOND].sum() == 0 or rows.ended[:, FIRST].sum() == 0:
        return "undefined: the story in one of the two positions won every comparison that was not a tie"
    terms = "strengths and covariates or position" if np.abs(along).max(initial=0.0) > 1e-6 else "strengths"
    return f"undefined: {terms} predict every win and loss of some systems perfectly, so that no finite fit exists"


def _advantages(design: Design, ended: Floats) -> Iterator[Floats]:
    """Distinct log odds of observed against other possible outcomes, as rows of coefficients of the parameters."""
    columns = design.dense()
    utility = {FIRST: 0.5, SECOND: -0.5, TIE: 0.0}
    endings = (FIRST, SECOND, TIE) if design.ties else (FIRST, SECOND)
    seen: set[bytes] = set()
    for row, counts in zip(columns, ended, strict=True):
        for ending in endings:
            for other in endings:
                if counts[ending] <= 0 or ending == other:
                    continue
                over = np.append(
                    (utility[ending] - utility[other]) * row, [(ending == TIE) - (other == TIE)] * design.ties
                )
                if over.tobytes() not in seen:
                    seen.add(over.tobytes())
                    yield over


# Clustered covariance of a fit, and its parameters without each story-prompt.

# Standard error up to which nothing varies.
_NO_ERROR = 1e-12


def covariance(fit: Fit) -> Floats:
    """Clustered covariance of a model's parameters, without a correction for few clusters (Liang & Zeger 1986).

    H^-1 (sum over clusters of s s') H^-1, with the information matrix H and a cluster's score s; in the order of the
    parameters of `fit`."""
    inverse, score = _inverse(fit), scores(fit)
    return np.asarray(inverse @ (score.T @ score) @ inverse, dtype=np.float64)


def scores(fit: Fit) -> Floats:
    """Score of each cluster (story-prompt with comparisons) at the parameters of `fit`, (clusters, parameters)."""
    return fit.design.gradient(fit.found.ended, fit.share, _dense_clusters(fit))


def informations(fit: Fit) -> Floats:
    """Information matrix of each cluster (story-prompt with comparisons) at the parameters of `fit`."""
    cluster = _dense_clusters(fit)
    ends = np.searchsorted(cluster, np.arange(int(cluster.max()) + 2))
    share, number = fit.share, fit.found.ended.sum(axis=1)
    parts = [fit.design.information(number, share, slice(a, b)) for a, b in pairwise(ends)]
    return np.stack(parts)


def left_out(fit: Fit) -> Floats:
    """Parameters without each cluster (story-prompt with comparisons), (clusters, parameters).

    By one Newton step from the `fit`; NaN where the other clusters do not determine them."""
    score, parts = scores(fit), informations(fit)
    whole = parts.sum(axis=0)
    out = np.full(score.shape, np.nan)
    for at, (lost, part) in enumerate(zip(score, parts, strict=True)):
        rest = fit.design.fixed(whole - part)
        scale = np.sqrt(np.maximum(np.diag(rest), 1e-300))
        level = rest / np.outer(scale, scale)
        if np.linalg.eigvalsh(level)[0] > 1e-9:
            out[at] = fit.parameters - np.linalg.solve(rest, lost)
    return out


def spread(without: Floats) -> Floats:
    """Standard errors (k,) of k values from `without` (clusters, k), the values without each cluster.

    CR3; Bell & McCaffrey 2002. NaN where a value without some cluster is."""
    clusters = len(without)
    return np.asarray(np.sqrt((clusters - 1) / clusters * ((without - without.mean(axis=0)) ** 2).sum(axis=0)))


def interval(estimate: Estimate, without: Floats, *, bounds: tuple[float, float] = (-np.inf, np.inf)) -> Estimate:
    """A value with its 95 % interval, limited to `bounds`, from the values without each cluster (CR3).

    `without` (clusters,) has NaN where undetermined (Bell & McCaffrey 2002). An undefined `estimate` is returned
    unchanged. No interval, but a reason, for one cluster, where the value depends on one cluster alone, and where
    nothing varies."""
    clusters, value = without.size, estimate.value
    if value is None:
        return estimate
    if clusters < 2:
        return estimate.without_interval("comparisons of one story-prompt only")
    if not np.isfinite(without).all():
        return estimate.without_interval(f"it rests on one of the {clusters} story-prompts alone")
    error = float(spread(without[:, None])[0])
    if error < _NO_ERROR:
        return estimate.without_interval("nothing varies between story-prompts")
    half = float(special.stdtrit(clusters - 1, 0.5 + CONFIDENCE / 2)) * error
    low = min(value, max(bounds[0], float(value - half)))
    high = max(value, min(bounds[1], float(value + half)))
    method = f"clustered by story-prompt ({clusters}), CR3, t({clusters - 1}), 95 %"
    return replace(estimate, low=low, high=high, method=method)


def _inverse(fit: Fit) -> Floats:
    information = fit.design.information(fit.found.ended.sum(axis=1), fit.share)
    return np.asarray(np.linalg.inv(fit.design.fixed(information)), dtype=np.float64)


def _dense_clusters(fit: Fit) -> Codes:
    """Code 0, 1, ... without gaps of the cluster of each of the fit's merged comparisons."""
    return renumbered(fit.found.cluster)
