"""Comparison of Eval-Prompts, judges, modes, parsers or runs in pairs, on the stories that both sides rated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judge.analysis.comparison.contrasts import MEASURES, Comparer, Entry, Outcome
from judge.analysis.comparison.pairing import NAMES, Contrast, check_distinct, contrasts
from judge.analysis.comparison.sentence import ALPHA, leaves_zero_out
from judge.analysis.comparison.tau_differences import TauTest
from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.label_criteria import numbers, phi_note
from judge.analysis.inputs.resamples import few_systems
from judge.analysis.inputs.selection import people_said
from judge.analysis.options.choices import LEVELS
from judge.analysis.options.signature import Signed, signature, signature_parts
from judge.analysis.options.table_options import CompareOptions
from judge.base.arrays import number
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import cells_of
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import Cell, RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.estimation import paired_differences

# With no more units swapped as a whole, hardly any pattern of swaps has a p below `ALPHA` (8: six of 128 pairs).
FEW_UNITS = 8
# Variants from which a ranking says more than their contrast.
LEAST = 3

_METHODS: Mapping[str, str] = {
    "bh": "Benjamini-Hochberg",
    "by": "Benjamini-Yekutieli",
    "holm": "Holm",
    "none": "nothing",
}

OVER_CRITERIA = "mean over criteria"
_SHARED = ("run", "judge", "eval_prompt", "structured", "parser")
_TEXT = ("dataset", *_SHARED, "first", "second", "criterion", "tail", "sentence")


@dataclass(frozen=True, slots=True)
class Ranked:
    """One variant of a ranking. `below` is its tau minus that of the best (mean over criteria), with the interval over
    story-prompts, and `tied` says whether this includes 0; `both` has the interval over systems and story-prompts. All
    None for the best. `entry` is any contrast of the same group."""

    rank: int
    variant: str
    below: Estimate | None
    tied: bool | None
    entry: Entry
    both: Estimate | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Signed):
    """All contrasts, with tests adjusted as one family, and a ranking of the variants of every group of three or more
    in which all pairs were compared, best first.

    `family` describes the family of tests and names those that can hardly be significant. `means_signature` is
    for tables without tests, `inputs_signature` for intervals over story-prompts only. `people` are the panels
    whose ratings are used, where panels are known."""

    matrices: tuple[RatingMatrix, ...]
    entries: tuple[Entry, ...]
    family: tuple[str, ...]
    ranking: tuple[Ranked, ...]
    options: CompareOptions
    means_signature: str
    inputs_signature: str
    people: tuple[str, ...] = ()

    def outcomes(self) -> Iterator[tuple[Entry, Outcome]]:
        """Every contrast paired with each of its results, one per criterion."""
        return ((entry, outcome) for entry in self.entries for outcome in entry.outcomes)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per contrast and criterion, and one for the mean over criteria.

        Settings that the sides do not share are null. Each measure (`rating, parsed, explained, icc, tau`) has both
        sides (`_first, _second`) and the difference (second minus first) with `_low, _high, _detectable` and `_reason`;
        `tau_both_...` is the difference in tau with systems resampled too; `rating_d, parsed_h, explained_h` are effect
        sizes; `sentence` stands in the rows of means."""
        rows: list[dict[str, Any]] = []
        for entry in self.entries:
            shared = dict(entry.contrast.shared)
            labels: dict[str, Any] = {"dataset": entry.dataset} | {name: shared.get(name) for name in _SHARED}
            labels |= cells_of(entry.contrast, "first", "second")
            rows += [labels | _flat(outcome) for outcome in entry.outcomes]
            means: dict[str, Any] = {"criterion": OVER_CRITERIA}
            for name in MEASURES:
                means |= _flat_estimate(name, entry.means[name], entry.detectable[name])
            rows.append(labels | means | {"sentence": entry.sentence})
        frame = self.signed(rows)
        numeric = [name for name in frame.columns if name not in _TEXT and not name.endswith("_reason")]
        return frame.astype(dict.fromkeys(numeric, "float64"))


def _flat(outcome: Outcome) -> dict[str, Any]:
    row = cells_of(outcome, "criterion", "stories", "systems", story_prompts=outcome.prompts)
    row |= {"lost_first": outcome.lost[0], "lost_second": outcome.lost[1]}
    for name, measured in outcome.measured.items():
        if name != "tau_both":
            for side, value in (("first", measured.first), ("second", measured.second)):
                row[f"{name}_{side}"] = value.value if isinstance(value, Estimate) else value
        row |= _flat_estimate(name, measured.estimate, measured.detectable)
    sizes = {"rating_d": outcome.size, "parsed_h": outcome.parsed.h, "explained_h": outcome.explained.h}
    row |= {name: estimate.value for name, estimate in sizes.items()}
    row |= {"permutation_p": outcome.permutation.p, "permutation_p_adjusted": outcome.permutation.adjusted}
    row |= {"williams_t": outcome.williams.statistic, "williams_p": outcome.williams.p}
    return row | {"williams_p_adjusted": outcome.williams.adjusted, "tail": "two-sided"}


def _flat_estimate(name: str, estimate: Estimate, detectable: Estimate) -> dict[str, Any]:
    flat = {f"{name}_low": estimate.low, f"{name}_high": estimate.high, f"{name}_detectable": detectable.value}
    return {name: estimate.value, **flat, f"{name}_reason": estimate.reason}


def compared(table: RatingsTable, options: CompareOptions | None = None) -> Comparison:
    """Comparison of every pair of values of `options.by`. For ``by="parser"`` the table is one of `both_parsers`.
    Raises SpecError without a pair, for an unknown baseline, criterion or system, and for two results of one run and
    judge."""
    options = options or CompareOptions()
    check_distinct(table)
    table = numbers(table, needed=True)
    matrices = build(table, drop_systems=options.drop_systems)
    entries: list[Entry] = []
    notes = dict.fromkeys(table.notes)
    for matrix in matrices:
        if not matrix.cells:
            continue
        criterion_match = match(matrix, options.against)
        compared_pairs, left_out = contrasts(matrix, table, options.by, options.baseline)
        notes.update(dict.fromkeys([*criterion_match.notes, *phi_note(matrix), *left_out]))
        notes.update(dict.fromkeys(few_systems(matrix) if LEVELS[options.level].group else ()))
        comparer = Comparer(matrix, options, criterion_match)
        entries += [comparer.compare(contrast) for contrast in compared_pairs]
    if not entries:
        raise SpecError("no judge was asked: there is nothing to compare")
    entries, family = _adjusted(entries, options)
    drawn = f"{options.resamples}/seed{options.seed}"
    both, inputs = f"boot-inputs+boot-both-{options.both}/{drawn}", f"boot-inputs/{drawn}"
    return Comparison(
        matrices=matrices,
        entries=tuple(entries),
        family=family,
        ranking=tuple(_ranked(entries)),
        options=options,
        signature_parts=signature_parts(table, matrices, options, extra=["tau:b"]),
        means_signature=signature(table, matrices, options, extra=["tau:b"], intervals=both),
        inputs_signature=signature(table, matrices, options, intervals=inputs, without=("level", "adjust")),
        notes=tuple(notes),
        people=people_said(table),
    )


def distances(table: RatingsTable, options: CompareOptions) -> list[tuple[str, Contrast, Estimate, Estimate | None]]:
    """Of every dataset and contrast, the mean over criteria of the difference in tau: as in `compared`, in a fraction
    of its time. The last has its interval over systems too, and is None where the first one holds 0."""
    check_distinct(table)
    table = numbers(table, needed=True)
    found = []
    for matrix in build(table, drop_systems=options.drop_systems):
        if matrix.cells:
            comparer = Comparer(matrix, options, match(matrix, options.against))
            pairs, _ = contrasts(matrix, table, options.by, options.baseline)
            found += [(matrix.dataset, contrast, *comparer.tau(contrast)) for contrast in pairs]
    return found


def both_parsers(ours: RatingsTable, as_published: RatingsTable) -> RatingsTable:
    """One table with the answers as read by two parsers; in the second reading, the parser's name follows the run's.
    Imported results occur once, because no parser read them; the second reading is restricted to the cells of `ours`.
    """
    paths = {fact.path for fact in ours.facts}
    parsed = [fact for fact in as_published.facts if fact.parser != "imported" and fact.path in paths]
    names = {fact.run: f"{fact.run}, read by {fact.parser.partition('/')[0]}" for fact in parsed}
    cells = ours.frame.loc[ours.frame["source"] == "judge", list(Cell._fields)].drop_duplicates()
    frame = as_published.frame
    again = frame[(frame["source"] == "judge") & frame["run"].isin(list(names))].merge(cells, on=list(Cell._fields))
    again = again.assign(run=again["run"].map(names))
    facts = tuple(replace(fact, run=names[fact.run]) for fact in parsed)
    return replace(ours, frame=pd.concat([ours.frame, again], ignore_index=True), facts=(*ours.facts, *facts))


# The declared family of tests: every contrast x criterion that could be tested.


def _adjusted(entries: Sequence[Entry], options: CompareOptions) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries with adjusted p of the permutation tests, and apart from them of Williams' tests, over those that
    were possible; and sentences on this family."""
    which = f"each against {options.baseline}" if options.baseline else "all pairs"
    about = options.family or f"{NAMES[options.by][1]}, {which}, every criterion: is tau with people different?"
    outcomes = [outcome for entry in entries for outcome in entry.outcomes]

    def adjust(tests: Sequence[TauTest]) -> tuple[Iterator[TauTest], int]:
        p = np.array([np.nan if test.p is None else test.p for test in tests], dtype=np.float64)
        adjusted = paired_differences.adjust(p, options.adjust, family=about)
        return (replace(test, adjusted=number(p)) for test, p in zip(tests, adjusted.p, strict=True)), adjusted.m

    permutation, m = adjust([outcome.permutation for outcome in outcomes])
    williams, of_williams = adjust([outcome.williams for outcome in outcomes])
    if m == 0:
        text = f"family: {about}; m = 0, as no difference of tau could be tested"
    else:
        text = (
            f"family: {about}; m = {m} permutation tests of {options.swapped}, two-sided, adjusted by "
            f"{_METHODS[options.adjust]}; Williams' m = {of_williams} p values, two-sided, are adjusted apart; "
            "intervals are not adjusted"
        )
    tested = []
    for entry in entries:
        own = [replace(each, permutation=next(permutation), williams=next(williams)) for each in entry.outcomes]
        tested.append(replace(entry, outcomes=tuple(own)))
    return tested, (text, *_hardly_significant(outcomes, options, m))


def _hardly_significant(outcomes: Sequence[Outcome], options: CompareOptions, m: int) -> Iterator[str]:
    """Warnings of permutation tests that can hardly be significant, after adjustment over `m` tests."""
    # p is at least 1 / (1 + permutations); and with n units there are 2^n swap patterns.
    alone, after = 1 / (1 + options.permutations), f"cannot be significant after adjustment over {m} tests"
    if options.adjust != "none" and m / (1 + options.permutations) >= ALPHA:
        sentence = f"with {options.permutations} permutations p is {alone:.2g} at least; a single difference {after}"
        yield Note(sentence, Advice("use more ({permutations} or more)", permutations=20 * m), joint="; ")
    tests = [outcome.permutation for outcome in outcomes]
    few = {test.units: test.least for test in tests if test.least is not None and test.least > alone}
    for units, least in sorted(few.items()):
        lowest = f"{units} {options.swapped} swapped as a whole: p is {least:.2g} at least"
        if least >= ALPHA:
            sentence = f"{lowest}; no difference, however large, can have p < {ALPHA:g}"
            other = Advice("{swap} tests for these systems alone", swap="story-prompts")
            yield Note(sentence, other, joint="; ") if options.swapped == "systems" else sentence
        elif (1 if options.adjust == "none" else m) * least >= ALPHA:
            yield f"{lowest}; a single difference {after}"
        elif units <= FEW_UNITS:
            yield f"{lowest}; only the largest differences can be detected"


def _ranked(entries: Sequence[Entry]) -> Iterator[Ranked]:
    """Ranks of variants (e.g. Eval-Prompts), group after group, the best first. A group is the variants of one dataset
    that share all other settings; it is ranked if it has three or more, and every pair has a difference in tau."""
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.dataset, entry.contrast.shared), []).append(entry)
    for group in groups.values():
        between = {(entry.contrast.first, entry.contrast.second): entry.means["tau"] for entry in group}
        variants = list(dict.fromkeys(name for pair in between for name in pair))
        pairs = len(variants) * (len(variants) - 1) // 2
        if len(variants) < LEAST or len(between) < pairs or not all(tau.defined for tau in between.values()):
            continue
        score = {name: _score(name, between) for name in variants}
        best, *others = sorted(variants, key=lambda name: -score[name])
        yield Ranked(1, best, None, None, group[0])
        over_both = {(entry.contrast.first, entry.contrast.second): entry.means["tau_both"] for entry in group}
        for rank, name in enumerate(others, 2):
            below, both = (_below(name, best, each) for each in (between, over_both))
            shown = leaves_zero_out(below)
            yield Ranked(rank, name, below, None if shown is None else not shown, group[0], both)


def of_two(entries: Sequence[Entry]) -> Iterator[Ranked]:
    """Ranks of two variants that share all other settings, which `Comparison.ranking` leaves to their contrast; the
    first where both have one tau."""
    for entry in entries:
        tau, both = entry.means["tau"], entry.means["tau_both"]
        alone = sum((each.dataset, each.contrast.shared) == (entry.dataset, entry.contrast.shared) for each in entries)
        if alone > 1 or tau.value is None:
            continue
        best, other = entry.contrast.first, entry.contrast.second
        if tau.value > 0:
            best, other, tau, both = other, best, reverse(tau), reverse(both)
        shown = leaves_zero_out(tau)
        yield Ranked(1, best, None, None, entry)
        yield Ranked(2, other, tau, None if shown is None else not shown, entry, both)


def _score(name: str, between: Mapping[tuple[str, str], Estimate]) -> float:
    """Differences in tau, this variant minus each other, summed; `between` holds second minus first."""
    gained = sum(estimate.value or 0.0 for (_, second), estimate in between.items() if second == name)
    lost = sum(estimate.value or 0.0 for (first, _), estimate in between.items() if first == name)
    return gained - lost


def _below(name: str, best: str, between: Mapping[tuple[str, str], Estimate]) -> Estimate:
    return between[best, name] if (best, name) in between else reverse(between[name, best])


def reverse(difference: Estimate) -> Estimate:
    """The difference the other way round."""
    value, low, high = (None if end is None else -end for end in (difference.value, difference.high, difference.low))
    return replace(difference, value=value, low=low, high=high)
