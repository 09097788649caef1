"""Result types of a comparison of Eval-Prompts, judges, modes, parsers or runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge.analysis.comparison.contrasts import MEASURES, ContrastResult, Outcome
from judge.analysis.comparison.pairing import NAMES
from judge.analysis.options.signature import Signed, joined
from judge.analysis.options.table_options import CompareOptions
from judge.base.estimate import Estimate
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.correlation.heterogeneity import number
from judge.stats.estimation import paired_differences

# The declared family of tests of a comparison: every contrast x criterion that could be tested.

# Adjusted p below this counts as seen.
ALPHA = 0.05

# With no more units swapped as a whole, hardly any pattern of swaps has a p below `ALPHA` (8: six of 128 pairs).
FEW_UNITS = 8

_METHODS: Mapping[str, str] = {
    "bh": "Benjamini-Hochberg",
    "by": "Benjamini-Yekutieli",
    "holm": "Holm",
    "none": "nothing",
}


@dataclass(frozen=True, slots=True)
class AdjustedTests:
    """Adjusted p of the permutation test and of Williams' test on one criterion; None = no test."""

    permutation: float | None
    williams: float | None


@dataclass(frozen=True, slots=True)
class Family:
    """Adjusted p values of all tests of a comparison, in the order of its results. `text` describes the adjustment and
    the number of tests; `warnings` name tests that can hardly be significant.
    """

    rows: tuple[AdjustedTests, ...]
    text: str
    warnings: tuple[str, ...] = ()


def family(outcomes: Sequence[Outcome], options: CompareOptions) -> Family:
    """Adjusted p of the permutation tests, and apart from them of Williams' tests, over those that were possible."""
    about = options.family or _default(options)
    permutation, williams = (
        paired_differences.adjust(np.array(p, dtype=np.float64), options.adjust, family=about)
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


def _text(permutation: paired_differences.Adjusted, williams: int, options: CompareOptions) -> str:
    if permutation.m == 0:
        return f"family: {permutation.family}; m = 0, as no difference of tau could be tested"
    tests = f"m = {permutation.m} permutation tests of {options.swapped}, two-sided, "
    tests += f"adjusted by {_METHODS[permutation.method]}"
    apart = f"Williams' m = {williams} p values, two-sided, are adjusted apart"
    return f"family: {permutation.family}; {tests}; {apart}; intervals are not adjusted"


def _nan(p: float | None) -> float:
    return float("nan") if p is None else p


def _too_few_swaps(options: CompareOptions, m: int) -> tuple[str, ...]:
    # p is at least 1 / (1 + permutations).
    least = m / (1 + options.permutations)
    if options.adjust == "none" or least < ALPHA:
        return ()
    lowest = f"with {options.permutations} permutations p is {1 / (1 + options.permutations):.2g} at least"
    more = Advice("use more ({permutations} or more)", permutations=20 * m)
    return (
        Note(f"{lowest}; a single difference cannot be significant after adjustment over {m} tests", more, joint="; "),
    )


def _too_few_units(outcomes: Sequence[Outcome], options: CompareOptions, m: int) -> tuple[str, ...]:
    # With n units there are 2^n swap patterns, which limits the smallest possible p.
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


OVER_CRITERIA = "mean over criteria"
_SHARED = ("run", "judge", "eval_prompt", "structured", "parser")
_TEXT = ("dataset", *_SHARED, "first", "second", "criterion", "tail", "sentence")


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One contrast on one dataset, with a sentence that summarises it."""

    dataset: str
    result: ContrastResult
    sentence: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """One variant of a ranking. `below` is its tau minus that of the best (mean over criteria), and `tied` says whether
    the interval of this includes 0; both None for the best. `entry` is any contrast of the same group.
    """

    rank: int
    variant: str
    below: Estimate | None
    tied: bool | None
    entry: Entry


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Signed):
    """All contrasts, with adjusted tests in the order of `outcomes`, and a ranking. `ranking` has the variants of every
    group of three or more in which all pairs were compared, best first. `means_signature_parts` are for tables without
    tests, `inputs_signature_parts` for intervals over story-prompts only. `people` are the panels whose ratings are
    used, where panels are known.
    """

    matrices: tuple[RatingMatrix, ...]
    entries: tuple[Entry, ...]
    family: Family
    ranking: tuple[Ranked, ...]
    options: CompareOptions
    means_signature_parts: tuple[str, ...]
    inputs_signature_parts: tuple[str, ...]
    people: tuple[str, ...] = ()

    @property
    def means_signature(self) -> str:
        return joined(self.means_signature_parts)

    @property
    def inputs_signature(self) -> str:
        return joined(self.inputs_signature_parts)

    def outcomes(self) -> Iterator[tuple[Entry, Outcome]]:
        """Every contrast paired with each of its results, one per criterion."""
        return ((entry, outcome) for entry in self.entries for outcome in entry.result.outcomes)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per contrast and criterion, and one for the mean over criteria.

        Settings that the sides do not share are null. Each measure (`rating, parsed, explained, icc, tau`) has both
        sides (`_first, _second`) and the difference (second minus first) with `_low, _high, _detectable` and `_reason`;
        `tau_both_...` is the difference in tau with systems resampled too; `rating_d, parsed_h, explained_h` are effect
        sizes; `sentence` stands in the rows of means.
        """
        adjusted = iter(self.family.rows)
        rows = []
        for entry in self.entries:
            labels: dict[str, object] = {"dataset": entry.dataset, **_shared(entry)}
            labels |= {"first": entry.result.contrast.first, "second": entry.result.contrast.second}
            for outcome in entry.result.outcomes:
                rows.append(labels | _flat(outcome) | _flat_tests(outcome, next(adjusted)))
            means: dict[str, object] = {}
            for measure in MEASURES:
                means |= _flat_estimate(measure, entry.result.means[measure], entry.result.detectable[measure])
            rows.append(labels | {"criterion": OVER_CRITERIA} | means | {"sentence": entry.sentence})
        frame = self.signed(rows)
        numbers = [name for name in frame.columns if name not in _TEXT and not name.endswith("_reason")]
        return frame.astype(dict.fromkeys(numbers, "float64"))


def _shared(entry: Entry) -> dict[str, str | None]:
    shared = dict(entry.result.contrast.shared)
    return {name: shared.get(name) for name in _SHARED}


def _flat(outcome: Outcome) -> dict[str, object]:
    row: dict[str, object] = {
        "criterion": outcome.criterion,
        "stories": outcome.stories,
        "systems": outcome.systems,
        "story_prompts": outcome.prompts,
        "lost_first": outcome.lost[0],
        "lost_second": outcome.lost[1],
    }
    sides: dict[str, Sequence[Estimate | float | None]] = {
        "rating": outcome.means,
        "parsed": (outcome.parsed.first, outcome.parsed.second),
        "explained": (outcome.explained.first, outcome.explained.second),
        "icc": outcome.icc_sides,
        "tau": (outcome.agreement.first, outcome.agreement.second),
    }
    for measure in MEASURES:
        for name, side in zip(("first", "second"), sides.get(measure, ()), strict=False):
            row[f"{measure}_{name}"] = side.value if isinstance(side, Estimate) else side
        row |= _flat_estimate(measure, outcome.estimate(measure), outcome.detectable[measure])
    sizes = {"rating_d": outcome.size, "parsed_h": outcome.parsed.h, "explained_h": outcome.explained.h}
    return row | {name: estimate.value for name, estimate in sizes.items()}


def _flat_estimate(name: str, estimate: Estimate, detectable: Estimate) -> dict[str, object]:
    flat = {f"{name}_low": estimate.low, f"{name}_high": estimate.high, f"{name}_detectable": detectable.value}
    return {name: estimate.value, **flat, f"{name}_reason": estimate.reason}


def _flat_tests(outcome: Outcome, adjusted: AdjustedTests) -> dict[str, object]:
    agreement = outcome.agreement
    return {
        "permutation_p": agreement.permutation.p,
        "permutation_p_adjusted": adjusted.permutation,
        "williams_t": agreement.williams.statistic,
        "williams_p": agreement.williams.p,
        "williams_p_adjusted": adjusted.williams,
        "tail": "two-sided",
    }
