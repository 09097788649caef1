"""False-positive share of a threshold, with its uncertainty, corrected for having chosen the threshold on the same
texts. The share of this set's own unseen texts that reach the threshold is therefore lower than the share of other
unseen texts: a little lower if the rule fixes the share (`fpr=0.05`), much lower if the rule looks for the best
threshold (`youden`). This difference (optimism) is estimated by bootstrap resamples of the set (of whole books, if
books are named). In each resample the rule chooses a threshold again; the optimism is the share in texts that were not
drawn minus the share in texts that were (Efron 1983, JASA 78, out of the bag, which errs to the high side). The
standard deviation over resamples is the standard error of the share and includes the uncertainty of the threshold. The
effective number of independent texts follows from it. A share of stories above the threshold is evidence only if it
exceeds this baseline by more than the errors of both; `prevalence.corrected_share` computes by how much, with the
stories of one story-prompt as a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.estimate import Estimate
from judge.base.wording import Advice, Note
from judge.stats.estimation.proportions import corrected_share, effective_size
from judge.stats.shares.proportion import wilson_of_share

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]
# From scores and labels to a threshold, or None where the rule has none on them.
Choose = Callable[[Floats, Flags], float | None]

# Enough for a standard error (Efron & Tibshirani 1993, p. 52); no percentile is taken of them.
RESAMPLES = 200
NO_RATES = Note(
    "undefined: the scores file has no rates of unseen texts",
    Advice("score the stories again with {calibration}"),
    joint="; ",
)


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected shares of texts outside the labelled set that reach a threshold, with effective sample sizes.
    `unseen_groups` is the number of books with unseen texts, or of unseen texts if books are not named."""

    false_positive_expected: float
    true_positive_expected: float
    unseen_effective: float
    seen_effective: float
    unseen_groups: float


def expected_rates(values: Floats, label: Flags, group: Sequence[str | None], choose: Choose) -> Expected | None:
    """Expected error rates, outside the labelled set, of the threshold that `choose` finds on it.

    `values` (no NaN) and `label` (True = seen) have shape (texts,). If any text's book (`group`) is None, every text is
    its own group. None if the rule finds no threshold, or if more than half of the bootstrap resamples give none (or
    lack seen or unseen texts)."""
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
    # Yields [share of unseen texts, share of seen texts] for all, for the drawn, and for the texts not drawn.
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
    """Expected share of unseen texts that reach the threshold (false positives); undefined without expected rates.

    The interval is Wilson's, with the effective number of independent texts as n, and with a quantile of Student's t
    (degrees of freedom: number of books, or of texts if books are not named, minus 1) in place of the normal quantile.
    `texts` is the number of unseen texts in the labelled set."""
    if expected is None:
        return Estimate.undefined(NO_RATES)
    share, effective = expected.false_positive_expected, expected.unseen_effective
    low, high = wilson_of_share(share, effective, _t(expected.unseen_groups))
    # Rounding may put the lower end of a share of 0 above it.
    return Estimate(share, n=texts, low=min(low, share), high=high, method=f"Wilson, effective n {effective:.1f}, 95 %")


def corrected(called: Flags, cluster: Codes, expected: Expected | None) -> Estimate:
    """Share of seen stories, corrected for the threshold's error rates, whose uncertainty the interval includes.
    `called` (reach the threshold) and `cluster` (story-prompts) have shape (stories,). Undefined without `expected`."""
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
