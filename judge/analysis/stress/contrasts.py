"""Compares the Eval-Prompts of a judge in a stress test: with which of them the judge notices more perturbations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.bars import JUDGE
from judge.analysis.stress.pairing import Changed, Pairing
from judge.analysis.stress.rated import Rated
from judge.analysis.stress.result import Contrast
from judge.base.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.estimation.multiplicity import Method, adjust
from judge.stats.ordering.detection import credit


def contrasts(rated: Sequence[Rated], pairs: Pairing) -> Iterator[Contrast]:
    """Yield the comparison of every two Eval-Prompts of a judge, on each criterion and each perturbation that should be
    noticed.

    Only the highest strength of a perturbation is used. Detection is the share of pairs in which the untouched story is
    rated higher. The estimate is the detection with the second Eval-Prompt minus the detection with the first, over the
    original stories that have ratings with both Eval-Prompts.
    """
    groups: dict[tuple[str | None, ...], list[Rated]] = {}
    for source in rated:
        if source.subject.kind == JUDGE:
            groups.setdefault((source.subject.run, source.subject.judge, source.subject.criterion), []).append(source)
    highest = {changed.facts.name: changed for changed in pairs.changed if changed.facts.test == "discrimination"}
    for group in groups.values():
        for first, second in combinations(group, 2):
            yield from (_contrast(first, second, pairs, changed) for changed in highest.values())


def _contrast(first: Rated, second: Rated, pairs: Pairing, changed: Changed) -> Contrast:
    there = changed.story >= 0
    before, after, prompt = pairs.untouched[there], changed.story[there], pairs.prompt[there]
    sides = [credit(side.merit[before] - side.merit[after]) for side in (first, second)]
    difference = sides[1] - sides[0]
    defined = ~np.isnan(difference)
    names = (str(first.subject.eval_prompt), str(second.subject.eval_prompt))
    if not defined.any():
        nothing = Estimate.undefined("no pair was rated with both")
        return Contrast(first.subject, changed.facts, changed.strength, *names, nothing, None)
    codes = np.unique(prompt[defined], return_inverse=True)[1].reshape(-1)
    estimate = means.clustered(difference[defined], codes, bounds=means.OF_SHARES)
    return Contrast(first.subject, changed.facts, changed.strength, *names, estimate, _p(difference[defined], codes))


def _p(difference: NDArray[np.float64], codes: NDArray[np.int64]) -> float | None:
    from scipy import special

    error, clusters = means.clustered_error(difference, codes)
    if error is None or error < 1e-12:
        return None
    return float(2 * special.stdtr(clusters - 1, -abs(float(difference.mean())) / error))


def adjusted(rows: Sequence[Contrast], method: Method) -> tuple[Contrast, ...]:
    """Copies of the contrasts `rows` whose `adjusted` is set: the p value adjusted by `method` for the number of
    contrasts in `rows`.
    """
    p = np.array([np.nan if row.p is None else row.p for row in rows], dtype=np.float64)
    p_adjusted = adjust(p, method, family="all contrasts of this report").p
    return tuple(
        replace(row, adjusted=None if np.isnan(q) else float(q)) for row, q in zip(rows, p_adjusted, strict=True)
    )
