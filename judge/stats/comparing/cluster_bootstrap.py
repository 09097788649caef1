"""Bootstrap over story-prompts of a fit of strengths, computed for all resamples at once.

With few systems and without covariates, a resample is a table of how often each pair had each outcome. One matrix
product gives the tables of all resamples, and Newton's method runs on all of them together. With covariates, or with
many systems, each resample takes one Newton step from the fit, with its own score and information (Moulton & Zeger
1991, Bootstrapping generalized linear models, Computational Statistics & Data Analysis 11). Resamples that do not
determine the strengths are NaN and are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.comparing import win_graph
from judge.stats.comparing.cluster_influence import informations, scores
from judge.stats.comparing.comparisons import FIRST, SECOND, TIE
from judge.stats.comparing.davidson import Design, Fit

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FEW_SYSTEMS = 30
"""Up to so many systems are refitted in each resample."""

_BLOCK = 250
_STEPS = 30
_NOTHING = 1e-8
_FAR = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """Parameters of a model of systems' strengths in each resample, shape (resamples, parameters); NaN where a resample
    does not determine them.

    `how` names the method that computed them.
    """

    parameters: Floats
    how: str


def resampled(fit: Fit, resamples: int, rng: np.random.Generator) -> Resampled:
    """Parameters of a model of systems' strengths, refitted in each resample of its clusters (story-prompts).

    Parameters
    ----------
    fit : Fit
        The fitted model. Its clusters with comparisons are resampled.
    resamples : int
        Number of resamples.
    rng : numpy Generator
        Random generator for the resamples.

    Returns
    -------
    Resampled
        Full refits; with covariates or more than 30 systems, one Newton step each (Moulton & Zeger 1991).
    """
    code = np.unique(fit.found.cluster, return_inverse=True)[1].reshape(-1).astype(np.int64)
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
    """Design matrix with one row for each (system shown first, system shown second), and the numbers of outcomes of
    these comparisons in each cluster.

    The numbers have shape (clusters, rows x 3), for first, second and tie. `code` gives the cluster of each comparison.
    """
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
    """Parameters of a model of systems' strengths in each resample, by Newton's method for all resamples at once; NaN
    where a resample does not determine them.

    `ended` holds the number of comparisons with each outcome, shape (resamples, rows of `design`, 3), and `start` the
    parameters to begin with.
    """
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


def _determined(design: Design, ended: Floats) -> NDArray[np.bool_]:
    """Whether each resample determines the systems' strengths: wins must connect every system to every other in both
    directions.

    If the design has a parameter for ties, there must be ties and other outcomes. `ended` holds the number of
    comparisons with each outcome, shape (resamples, rows of `design`, 3).
    """
    beaten = np.zeros((len(ended), design.systems, design.systems), dtype=bool)
    won = ended[:, :, [FIRST, SECOND]] + ended[:, :, [TIE]] > 0
    beaten[:, design.first, design.second] |= won[:, :, 0]
    beaten[:, design.second, design.first] |= won[:, :, 1]
    usable = win_graph.connected(beaten)
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
