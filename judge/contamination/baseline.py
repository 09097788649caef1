"""Share of unseen texts that reaches a threshold, with its uncertainty, estimated on texts that did not choose it.

A threshold is chosen on a labelled set, so that the share of the set's own unseen texts that reach it is too low for
other unseen texts: by little where the rule fixes that share (`fpr=0.05`), by much where it looks for the best one
(`youden`). How much too low is told by resamples of the set (of whole books, where they are named), in each of which
the rule chooses anew: the share of the texts that were not drawn less that of those that were (the optimism of Efron
1983, JASA 78, out of the bag, which errs to the high side). The spread of such differences over resamples is the
error of the share, the wandering of the threshold included; from it comes the number of independent texts that the
set is worth. A share of stories above the threshold is a finding only where it exceeds that baseline by more than the
errors of both; `prevalence.corrected_share` says by how much, with stories for one story-prompt as clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.stats.estimate import Estimate
from judge.stats.shares.prevalence import corrected_share
from judge.stats.shares.proportion import wilson_of_share
from judge.stats.shares.weighted_proportion import effective_size
from judge.wording import Advice, Note

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]
Choose = Callable[[Floats, Flags], float | None]
"""From scores and labels to a threshold, or None where the rule has none on them."""

RESAMPLES = 200
"""Enough for a standard error (Efron & Tibshirani 1993, p. 52); no percentile is taken of them."""
NO_RATES = Note(
    "undefined: the scores file has no rates of unseen texts",
    Advice("score the stories again with {calibration}"),
    joint="; ",
)


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected shares of other unseen and seen texts that reach a threshold, and the effective sample sizes behind
    them.

    `unseen_effective, seen_effective` are independent texts, `unseen_groups` books, or texts.
    """

    false_positive_expected: float
    true_positive_expected: float
    unseen_effective: float
    seen_effective: float
    unseen_groups: float


def expected_rates(values: Floats, label: Flags, group: Sequence[str | None], choose: Choose) -> Expected | None:
    """Compute the expected shares of other seen and unseen texts that reach a threshold, and the effective sample sizes
    behind them.

    Parameters
    ----------
    values, label : array, shape (texts,), no NaN
    group : book of each text; where one is not known texts stand for themselves.
    choose : the rule; it has a threshold on all of these.

    None where the rule has no threshold on most resamples.
    """
    named = all(book is not None for book in group)
    names = [str(book) if named else f"{i:09d}" for i, book in enumerate(group)]
    code = np.unique(names, return_inverse=True)[1].astype(np.int64)
    threshold = choose(values, label)
    shares = [shares for shares in _resampled(values, label, code, choose) if shares is not None]
    if threshold is None or len(shares) < RESAMPLES / 2:
        return None
    whole, inside, outside = np.array(shares).transpose(1, 0, 2)
    out: dict[str, float] = {}
    for side, (name, rate, own) in enumerate((("unseen", "false_positive", ~label), ("seen", "true_positive", label))):
        apparent = float((values[own] >= threshold).mean())
        share = float(np.clip(apparent + np.nanmean(outside[:, side] - inside[:, side]), 0.0, 1.0))
        spread, error = share * (1 - share), float((whole[:, side] - inside[:, side]).std())
        texts, books = float(own.sum()), float(np.unique(code[own]).size)
        out[f"{rate}_expected"] = share
        out[f"{name}_effective"] = books if min(spread, error) < 1e-9 else min(texts, spread / error**2)
    return Expected(unseen_groups=float(np.unique(code[~label]).size), **out)


def _resampled(values: Floats, label: Flags, code: Codes, choose: Choose) -> Iterator[list[list[float]] | None]:
    """Each resample's shares of [unseen, seen] texts at its threshold or above: of all, of the drawn, of the others."""
    rng, books = np.random.default_rng(1), int(code.max()) + 1
    for _ in range(RESAMPLES):
        times = rng.multinomial(books, np.full(books, 1 / books))[code]
        drawn = np.repeat(np.arange(code.size), times)
        if len(set(label[drawn].tolist())) < 2:
            yield None
            continue
        threshold = choose(values[drawn], label[drawn])
        if threshold is None:
            yield None
            continue
        reached = values >= threshold
        sides = (~label, label)
        yield [
            [float(reached[side].mean()) for side in sides],
            [float(np.average(reached[side], weights=times[side])) for side in sides],
            [_share(reached[side & (times == 0)]) for side in sides],
        ]


def _share(reached: Flags) -> float:
    return float(reached.mean()) if reached.size else float("nan")


def of_unseen(expected: Expected | None, texts: int) -> Estimate:
    """Expected false-positive share with its interval: Wilson's with the number of independent texts, Student's t over
    books.

    `texts` are the labelled set's unseen ones; `expected` is None for a file that has no such rates.
    """
    if expected is None:
        return Estimate.undefined(NO_RATES)
    share, effective = expected.false_positive_expected, expected.unseen_effective
    low, high = wilson_of_share(share, effective, _t(expected.unseen_groups))
    # Rounding may put the lower end of a share of 0 above it.
    return Estimate(share, n=texts, low=min(low, share), high=high, method=f"Wilson, effective n {effective:.1f}, 95 %")


def corrected(called: Flags, cluster: Codes, expected: Expected | None) -> Estimate:
    """Share of stories that were seen, corrected for the threshold's error rates; the interval includes the uncertainty
    of those rates.

    Parameters
    ----------
    called : array of bool, shape (stories,)
        Which stories reach the threshold.
    cluster : array of int, shape (stories,)
        Their story-prompts.
    """
    if expected is None:
        return Estimate.undefined(NO_RATES)
    if not called.size:
        return Estimate.undefined("a share of nothing")
    size = effective_size(called.astype(np.float64), cluster)
    unseen, seen = expected.unseen_effective, expected.seen_effective
    estimate = corrected_share(
        float(called.mean()) * size,
        size,
        hits=expected.true_positive_expected * seen,
        positives=seen,
        rejections=(1 - expected.false_positive_expected) * unseen,
        negatives=unseen,
        z=_t(min(float(np.unique(cluster).size), expected.unseen_groups)),
    )
    return replace(estimate, n=int(called.size))


def _t(groups: float) -> float:
    return float(special.stdtrit(max(1.0, groups - 1), 0.975))
