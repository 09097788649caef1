"""Result types of a comparison of Eval-Prompts, judges, modes, parsers or runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from judge.analysis.comparison.contrasts import MEASURES, ContrastResult, Outcome
from judge.analysis.comparison.family import AdjustedTests, Family
from judge.analysis.options.signature import joined
from judge.analysis.options.signed import Signed
from judge.analysis.options.table_options import CompareOptions
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix

OVER_CRITERIA = "mean over criteria"
_SHARED = ("run", "judge", "eval_prompt", "structured", "parser")
_TEXT = ("dataset", *_SHARED, "first", "second", "criterion", "tail", "sentence")


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One contrast (comparison of two sides, e.g. two judges) on one dataset, with a sentence that summarises it."""

    dataset: str
    result: ContrastResult
    sentence: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """One variant of a ranking: its rank, its difference in tau from the best, and whether it is tied with the best.

    `below` is its tau minus that of the best variant (mean over criteria), None for the best variant. `tied` says
    whether the interval of this difference includes 0; None where there is no interval, and for the best variant.
    `entry` is any contrast of the same group; its settings name the group.
    """

    rank: int
    variant: str
    below: Estimate | None
    tied: bool | None
    entry: Entry


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Signed):
    """All contrasts (comparisons of two sides, e.g. two judges), with adjusted tests and a ranking.

    Attributes
    ----------
    matrices : tuple of RatingMatrix
        The ratings, by dataset.
    entries : tuple of Entry
        The contrasts with their results.
    family : Family
        Adjusted p values, in the order of `outcomes`.
    ranking : tuple of Ranked
        Variants of every group of three or more in which all pairs were compared, best first. Variants are the values
        that are compared, e.g. Eval-Prompts.
    options : CompareOptions
        The options that were chosen.
    means_signature_parts, inputs_signature_parts : tuple of str
        Parts of the signature of tables without tests, and of tables with intervals over story-prompts only.
    people : tuple of str
        Panels whose ratings are used, where panels are known; a contrast uses all people together, or one panel.
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
        """Signature line of tables without tests, which lists each choice that can change their numbers."""
        return joined(self.means_signature_parts)

    @property
    def inputs_signature(self) -> str:
        """Signature line of tables with intervals over story-prompts only: each choice that can change their
        numbers.
        """
        return joined(self.inputs_signature_parts)

    def outcomes(self) -> Iterator[tuple[Entry, Outcome]]:
        """Every contrast paired with each of its results, one result per criterion."""
        return ((entry, outcome) for entry in self.entries for outcome in entry.result.outcomes)

    @property
    def frame(self) -> pd.DataFrame:
        """A frame of all numbers of a comparison: one row per contrast and criterion, and one for the mean over
        criteria.

        Its `attrs` hold `signature` and `notes`; its columns are:

        `dataset`; settings that both sides share (`run, judge, eval_prompt, structured, parser`, null where they are
        not shared); `first, second, criterion, stories, systems, story_prompts, lost_first, lost_second`; for each
        measure (`rating, parsed, explained, icc, tau`) both sides (`_first, _second`) and the difference (second minus
        first) with `_low, _high, _detectable` and, where undefined, `_reason`; `tau_both_low, tau_both_high,
        tau_both_detectable` for the difference in tau with systems resampled too; the effect sizes `rating_d, parsed_h,
        explained_h`; `permutation_p, williams_t, williams_p` and their `_adjusted`; `tail` (two-sided); `sentence` in
        the rows of means.
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
