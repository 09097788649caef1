"""Strengths of systems, and numbers from one fit (`davidson`): win rates, differences, position and length effects.

Intervals come from the parameters estimated without each story-prompt in turn (`davidson.left_out`), or in bootstrap
resamples of story-prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, Masks, renumbered
from judge.base.choices import RESAMPLES
from judge.base.estimate import Estimate
from judge.stats.comparing import davidson, paired_comparisons
from judge.stats.comparing.davidson import Design, Fit, informations, interval, left_out, scores, spread
from judge.stats.comparing.paired_comparisons import FIRST, SECOND, TIE, Comparisons, Ties
from judge.stats.estimation.paired_differences import Difference, adjusted
from judge.stats.resampling.bootstrap_intervals import expanded

# Bootstrap over story-prompts of a fit of strengths, computed for all resamples at once.


# Up to so many systems are refitted in each resample.
FEW_SYSTEMS = 30

_BLOCK = 250
_STEPS = 30
_NOTHING = 1e-8
_FAR = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """Parameters in each resample, (resamples, parameters), NaN where not determined; `how` names the method."""

    parameters: Floats
    how: str


def resampled(fit: Fit, resamples: int, rng: np.random.Generator) -> Resampled:
    """Parameters of `fit`, refitted in `resamples` draws by `rng` of its clusters (story-prompts) with comparisons.

    Full refits; with covariates or more than 30 systems, one Newton step each (Moulton & Zeger 1991)."""
    code = renumbered(fit.found.cluster)
    clusters = int(code.max()) + 1
    drawn = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples).astype(np.float64)
    if fit.covariates or fit.design.systems > FEW_SYSTEMS:
        return Resampled(_one_step(fit, drawn), "one step each")
    design, tables = _tables(fit, code, clusters)
    start = fit.parameters
    blocks = (drawn[at : at + _BLOCK] @ tables for at in range(0, resamples, _BLOCK))
    parts = [_refitted(design, block.reshape(len(block), -1, 3), start) for block in blocks]
    return Resampled(np.concatenate(parts), "refitted")


def _tables(fit: Fit, code: Codes, clusters: int) -> tuple[Design, Floats]:
    """Design with one row per (first, second) pair of systems, and its outcomes by cluster, (clusters, rows x 3)."""
    systems, compared = fit.design.systems, fit.found
    pair, position = np.unique(compared.first * systems + compared.second, return_inverse=True)
    position = position.reshape(-1)
    size = pair.size
    tables = np.zeros((clusters, size, 3))
    for k in range(3):
        counted = np.bincount(code * size + position, weights=compared.ended[:, k], minlength=clusters * size)
        tables[:, :, k] = counted.reshape(clusters, size)
    further = np.ones((size, int(fit.position)))
    first, second = (side.astype(np.int64) for side in np.divmod(pair, systems))
    return Design(systems, first, second, further, fit.design.ties), tables.reshape(clusters, -1)


def _refitted(design: Design, ended: Floats, start: Floats) -> Floats:
    """Parameters by Newton's method for all resamples at once; NaN where a resample does not determine them."""
    parameters = np.tile(start, (len(ended), 1))
    usable = _determined(design, ended)
    number, columns = ended.sum(axis=2), design.dense()
    outer = (columns[:, :, None] * columns[:, None, :]).reshape(len(columns), -1)
    going = np.flatnonzero(usable)
    for _ in range(_STEPS):
        if not going.size:
            break
        share = design.shares(parameters[going])
        score = _score(design, columns, ended[going], number[going], share)
        information = _information(design, columns, outer, number[going], share)
        step = np.linalg.solve(design.fixed(information), score[..., None])[..., 0]
        # A step longer than this is a resample running away, or about to overshoot.
        step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True) / 2)
        parameters[going] += step
        going = going[np.abs(step).max(axis=1) > _NOTHING]
    usable[going] = False
    usable &= np.abs(parameters).max(axis=1) < _FAR
    parameters[~usable] = np.nan
    return parameters


def _determined(design: Design, ended: Floats) -> Masks:
    """Whether each resample determines the strengths: wins connect every system to every other in both directions."""
    beaten = np.zeros((len(ended), design.systems, design.systems), dtype=bool)
    won = ended[:, :, [FIRST, SECOND]] + ended[:, :, [TIE]] > 0
    beaten[:, design.first, design.second] |= won[:, :, 0]
    beaten[:, design.second, design.first] |= won[:, :, 1]
    usable = paired_comparisons.connected(beaten)
    if design.ties:
        usable &= (ended[:, :, TIE].sum(axis=1) > 0) & (ended[:, :, :TIE].sum(axis=(1, 2)) > 0)
    return usable


def _score(design: Design, columns: Floats, ended: Floats, number: Floats, share: Floats) -> Floats:
    off = ended - number[..., None] * share
    score = (off[..., FIRST] - off[..., SECOND]) / 2 @ columns
    if not design.ties:
        return np.asarray(score)
    return np.concatenate([score, off[..., TIE].sum(axis=1, keepdims=True)], axis=1)


def _information(design: Design, columns: Floats, outer: Floats, number: Floats, share: Floats) -> Floats:
    lean = (share[..., FIRST] - share[..., SECOND]) / 2
    spread = number * ((share[..., FIRST] + share[..., SECOND]) / 4 - lean**2)
    size, parameters = columns.shape[1], design.size
    out = np.zeros((len(number), parameters, parameters))
    out[:, :size, :size] = (spread @ outer).reshape(-1, size, size)
    if design.ties:
        out[:, :size, -1] = out[:, -1, :size] = (-number * lean * share[..., TIE]) @ columns
        out[:, -1, -1] = (number * share[..., TIE] * (1 - share[..., TIE])).sum(axis=1)
    return out


def _one_step(fit: Fit, drawn: Floats) -> Floats:
    score, parts = scores(fit), informations(fit)
    size = fit.design.size
    out = np.full((len(drawn), size), np.nan)
    step = max(1, 4_000_000 // size**2)
    for at in range(0, len(drawn), step):
        block = drawn[at : at + step]
        information = fit.design.fixed((block @ parts.reshape(len(parts), -1)).reshape(-1, size, size))
        for k, (whole, lost) in enumerate(zip(information, block @ score, strict=True), at):
            if np.linalg.cond(whole) < 1 / _NOTHING:
                out[k] = fit.parameters + np.linalg.solve(whole, lost)
    return out


NO_TIE = "undefined: no comparison is a tie"
_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """Strengths of systems, and the numbers computed from one fit.

    `strengths` are log strengths that sum to 0, n counts comparisons; all are undefined, with one reason, where the
    data do not determine them. `win_rates` are expected shares of comparisons won against the other systems, each with
    equal weight: ties count one half, both positions have equal weight, and covariates are equal. `position` is the
    advantage of being shown first, in log odds, `covariates` log odds per unit, and `log_nu` the log of Davidson's ν,
    the tendency to call equal stories a tie. `differences` holds, for all pairs, the log strength of the first minus
    that of the second, p adjusted over all pairs (Holm)."""

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

    resamples: int = RESAMPLES
    seed: int = 1


def strengths(
    comparisons: Comparisons,
    *,
    position: bool = True,
    covariates: Sequence[int] | None = None,
    ties: Ties = "davidson",
    bootstrap: Bootstrap | None = None,
) -> Strengths:
    """Strengths, win rates and differences of systems, each with its interval; undefined if no finite strengths exist.

    `comparisons` are the data, `position` asks for an advantage of being shown first, and `covariates` holds indices
    (None = all). `ties` are an outcome of their own with a parameter ("davidson"), half a win for each system ("half")
    or not counted ("left-out"). `bootstrap`, if given, replaces the intervals clustered by story-prompt with percentile
    intervals (`intervals.expanded`) over resamples of story-prompts. Bradley & Terry 1952; Davidson 1970; Davidson &
    Beaver 1977; Bell & McCaffrey 2002."""
    comparisons = comparisons.with_ties(ties)
    fit = davidson.fit(comparisons, position=position, covariates=covariates)
    if isinstance(fit, str):
        return _undefined(comparisons, fit, len(comparisons.covariates.T) if covariates is None else len(covariates))
    intervals = _Intervals.of(fit, bootstrap)
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
        tuple(_differences(fit)),
        fit,
    )


def win_rates(fit: Fit, parameters: Floats) -> Floats:
    """Expected win rate of each system of `fit` against all others, (b, systems), ties counted one half.

    `parameters` (b, parameters) are in the order strengths, position, covariates, log ν, as far as the model has them.
    Both positions have equal weight and covariates are equal."""
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
    """`values`: parameters without each cluster in turn (`method` None) or in each bootstrap resample."""

    n: int
    clusters: int
    values: Floats
    method: str | None

    @classmethod
    def of(cls, fit: Fit, bootstrap: Bootstrap | None) -> _Intervals:
        n, clusters = round(fit.found.n), np.unique(fit.found.cluster).size
        if bootstrap is None:
            return cls(n, clusters, left_out(fit), None)
        drawn = resampled(fit, bootstrap.resamples, np.random.default_rng(bootstrap.seed))
        method = f"bootstrap by story-prompt ({clusters}), {drawn.how}, expanded percentile, 95 %"
        return cls(n, clusters, drawn.parameters, method)

    def around(self, value: float, values: Floats, bounds: tuple[float, float] = (-np.inf, np.inf)) -> Estimate:
        estimate = Estimate(float(value), n=self.n)
        if self.method is None:
            return interval(estimate, values, bounds=bounds)
        return expanded(estimate, values, self.clusters, self.method)


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


def _differences(fit: Fit) -> list[Difference]:
    systems = fit.design.systems
    # Intervals and tests always come from the clusters left out in turn, never from a bootstrap.
    without = left_out(fit)[:, :systems]
    clusters, out = len(without), []
    n = round(fit.found.n)
    for i in range(systems - 1):
        apart = without[:, [i]] - without[:, i + 1 :]
        error = spread(apart) if clusters > 1 else np.full(apart.shape[1], np.nan)
        for k, j in enumerate(range(i + 1, systems)):
            value = float(fit.strengths[i] - fit.strengths[j])
            estimate = interval(Estimate(value, n=n), apart[:, k])
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
