"""The declared family of tests of a comparison: every contrast x criterion that could be tested.

The permutation tests are the family. Williams' tests answer the same questions with another method. Their p values are
adjusted separately, over the same number of tests. Intervals are not adjusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge.analysis.comparison.contrasts import Outcome
from judge.analysis.comparison.pairing import NAMES
from judge.analysis.options.table_options import CompareOptions
from judge.base.wording import Advice, Note
from judge.stats.correlation.dependent_correlations import number
from judge.stats.estimation import multiplicity

ALPHA = 0.05
"""Adjusted p below this counts as seen."""

FEW_UNITS = 8
"""With no more units swapped as a whole, hardly any pattern of swaps has a p below `ALPHA` (8: six of 128 pairs)."""

_METHODS: Mapping[str, str] = {
    "bh": "Benjamini-Hochberg",
    "by": "Benjamini-Yekutieli",
    "holm": "Holm",
    "none": "nothing",
}


@dataclass(frozen=True, slots=True)
class AdjustedTests:
    """Adjusted p of two tests that the two sides of a contrast agree equally well with people, on one criterion.

    They are the permutation test and Williams' test; None where there was no test.
    """

    permutation: float | None
    williams: float | None


@dataclass(frozen=True, slots=True)
class Family:
    """Adjusted p values of all tests of a comparison that two sides agree equally well with people.

    `rows` are in the order of the comparison's results. `text` describes the adjustment and gives the number of tests.
    `warnings` are sentences on tests that can hardly be significant.
    """

    rows: tuple[AdjustedTests, ...]
    text: str
    warnings: tuple[str, ...] = ()


def family(outcomes: Sequence[Outcome], options: CompareOptions) -> Family:
    """Adjusted p values of the permutation tests and of Williams' tests that two sides agree equally well with people.

    Each of these two kinds of tests is adjusted separately, over the tests of that kind that could be computed.
    """
    about = options.family or _default(options)
    permutation, williams = (
        multiplicity.adjust(np.array(p, dtype=np.float64), options.adjust, family=about)
        for p in (
            [_nan(outcome.agreement.permutation.p) for outcome in outcomes],
            [_nan(outcome.agreement.williams.p) for outcome in outcomes],
        )
    )
    pairs = zip(permutation.p, williams.p, strict=True)
    rows = tuple(AdjustedTests(number(p), number(w)) for p, w in pairs)
    warnings = (*_too_few_swaps(options, permutation.m), *_too_few_units(outcomes, options, permutation.m))
    return Family(rows, _text(permutation, williams.m, options), warnings)


def _default(options: CompareOptions) -> str:
    which = f"each against {options.baseline}" if options.baseline else "all pairs"
    return f"{NAMES[options.by][1]}, {which}, every criterion: is tau with people different?"


def _text(permutation: multiplicity.Adjusted, williams: int, options: CompareOptions) -> str:
    if permutation.m == 0:
        return f"family: {permutation.family}; m = 0, as no difference of tau could be tested"
    tests = f"m = {permutation.m} permutation tests of {options.swapped}, two-sided, "
    tests += f"adjusted by {_METHODS[permutation.method]}"
    apart = f"Williams' m = {williams} p values, two-sided, are adjusted apart"
    return f"family: {permutation.family}; {tests}; {apart}; intervals are not adjusted"


def _nan(p: float | None) -> float:
    return float("nan") if p is None else p


def _too_few_swaps(options: CompareOptions, m: int) -> tuple[str, ...]:
    """Warning if no p of `m` tests can be significant after adjustment, otherwise empty.

    The reason is that p is at least 1 / (1 + permutations).
    """
    least = m / (1 + options.permutations)
    if options.adjust == "none" or least < ALPHA:
        return ()
    lowest = f"with {options.permutations} permutations p is {1 / (1 + options.permutations):.2g} at least"
    more = Advice("use more ({permutations} or more)", permutations=20 * m)
    return (
        Note(f"{lowest}; a single difference cannot be significant after adjustment over {m} tests", more, joint="; "),
    )


def _too_few_units(outcomes: Sequence[Outcome], options: CompareOptions, m: int) -> tuple[str, ...]:
    """Warnings for permutation tests that swap few units (story-prompts or systems) as a whole.

    With n units there are 2^n swap patterns, which limits the smallest possible p. `m` is the number of tests.
    """
    few: dict[int, float] = {}
    for outcome in outcomes:
        test = outcome.agreement.permutation
        if test.least is not None and test.least > 1 / (1 + options.permutations):
            few[test.units] = test.least
    tests = 1 if options.adjust == "none" else m
    remarks: list[str] = []
    for units, least in sorted(few.items()):
        lowest = f"{units} {options.swapped} swapped as a whole: p is {least:.2g} at least"
        if least >= ALPHA:
            sentence = f"{lowest}; no difference, however large, can have p < {ALPHA:g}"
            other = Advice("{swap} tests for these systems alone", swap="story-prompts")
            remarks.append(Note(sentence, other, joint="; ") if options.swapped == "systems" else sentence)
        elif tests * least >= ALPHA:
            remarks.append(f"{lowest}; a single difference cannot be significant after adjustment over {m} tests")
        elif units <= FEW_UNITS:
            remarks.append(f"{lowest}; only the largest differences can be detected")
    return tuple(remarks)
