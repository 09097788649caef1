"""Two prompts, judges, modes, parsers or runs against each other on the same stories. Never compares other stories.

`compared` holds everything as values, `compare` as one frame; `printing.tables` prints. Which cells are paired:
`pairing`; what differs: `contrasts`; agreement with people: `tau_differences`; the family of tests:
`family`; what four views of a difference say together: `evidence`; the sentence: `sentence`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge.analysis.comparison.contrasts import MEASURES, Comparer, ContrastResult, Outcome
from judge.analysis.comparison.family import Family, family
from judge.analysis.comparison.pairing import check_distinct, contrasts
from judge.analysis.comparison.sentence import ContrastFacts, sentence
from judge.analysis.inputs.criterion_matching import match
from judge.analysis.options.table_options import CompareOptions, Factor
from judge.errors import SpecError
from judge.rating_matrix import Cell, RatingMatrix, build
from judge.ratings_table import RatingsTable
from judge.stats.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

OVER_CRITERIA = "mean over criteria"
_FEW_SYSTEMS = 10
_SHARED = ("run", "judge", "eval_prompt", "structured", "parser")
_TEXT = ("dataset", *_SHARED, "first", "second", "criterion", "tail", "sentence")


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One contrast of one dataset, with its sentence."""

    dataset: str
    result: ContrastResult
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All contrasts, the family of their tests (in the order of `outcomes`), and what has to be said beneath them."""

    matrices: tuple[RatingMatrix, ...]
    entries: tuple[Entry, ...]
    family: Family
    notes: tuple[str, ...]
    by: Factor

    def outcomes(self) -> Iterator[tuple[Entry, Outcome]]:
        """Every contrast x criterion."""
        for entry in self.entries:
            for outcome in entry.result.outcomes:
                yield entry, outcome


def compared(table: RatingsTable, options: CompareOptions | None = None) -> Comparison:
    """Compare both sides of every contrast of `options.by`.

    Parameters
    ----------
    table : RatingsTable
        For ``by="parser"`` a table as made by `both_parsers`.
    options : CompareOptions

    Raises
    ------
    SpecError
        Nothing to compare, an unknown baseline, criterion or system, or two results that cannot be told apart.
    """
    options = options or CompareOptions()
    check_distinct(table)
    matrices = build(table, drop_systems=options.drop_systems)
    entries: list[Entry] = []
    notes: dict[str, None] = {}
    for matrix in matrices:
        if not matrix.cells:
            continue
        found = match(matrix, options.against)
        made, left_out = contrasts(matrix, table, options.by, options.baseline)
        notes.update(dict.fromkeys([*found.notes, *left_out]))
        if options.level == "system" and len(matrix.systems) < _FEW_SYSTEMS:
            notes[f"{matrix.dataset}: {len(matrix.systems)} systems prove little at system level"] = None
        comparer = Comparer(matrix, options, found)
        for contrast in made:
            result = comparer.compare(contrast)
            entries.append(Entry(matrix.dataset, result, sentence(_facts(result, options.level))))
    if not entries:
        raise SpecError("no judge was asked: there is nothing to compare")
    outcomes = [outcome for entry in entries for outcome in entry.result.outcomes]
    return Comparison(matrices, tuple(entries), family(outcomes, options), tuple(notes), options.by)


def compare(table: RatingsTable, options: CompareOptions | None = None) -> pd.DataFrame:
    """Every number of a comparison, one row for each contrast and criterion and one for the mean over criteria.

    Returns
    -------
    DataFrame
        `dataset`, what both sides share (`run, judge, eval_prompt, structured, parser`, null where they do not),
        `first, second, criterion, stories, systems, story_prompts, lost_first, lost_second`; for each measure (`rating,
        parsed, explained, icc, tau`) the sides (`_first, _second`), the difference (second minus first) with `_low,
        _high, _detectable` and, where undefined, `_reason`; `tau_both_low, tau_both_high, tau_both_detectable`: the
        same difference with systems resampled too; `rating_d, parsed_h, explained_h`; `permutation_p, williams_t,
        williams_p` and `_adjusted`, `tail` (two-sided); `sentence` on the rows of means.
    """
    return frame_of(compared(table, options))


def frame_of(found: Comparison) -> pd.DataFrame:
    """The same of a comparison that is at hand already."""
    adjusted = iter(found.family.rows)
    rows = []
    for entry in found.entries:
        labels = {"dataset": entry.dataset, **_shared(entry)}
        labels |= {"first": entry.result.contrast.first, "second": entry.result.contrast.second}
        for outcome in entry.result.outcomes:
            rows.append(labels | _flat(outcome) | _flat_tests(outcome, next(adjusted)))
        means: dict[str, Any] = {}
        for measure in MEASURES:
            means |= _flat_estimate(measure, entry.result.means[measure], entry.result.detectable[measure])
        rows.append(labels | {"criterion": OVER_CRITERIA} | means | {"sentence": entry.sentence})
    frame = pd.DataFrame(rows)
    numbers = [name for name in frame.columns if name not in _TEXT and not name.endswith("_reason")]
    return frame.astype(dict.fromkeys(numbers, "float64"))


def both_parsers(ours: RatingsTable, as_published: RatingsTable) -> RatingsTable:
    """One table of the same results read by two parsers; the second reading's runs get the parser's name.

    Results that were imported, and so parsed by neither, stand in it once. Of the second reading only what `ours` has
    is taken: it may have been narrowed.
    """
    paths = {fact.path for fact in ours.facts}
    parsed = [fact for fact in as_published.facts if fact.parser != "imported" and fact.path in paths]
    names = {fact.run: f"{fact.run}, read by {fact.parser.partition('/')[0]}" for fact in parsed}
    cells = ours.frame.loc[ours.frame["source"] == "judge", list(Cell._fields)].drop_duplicates()
    frame = as_published.frame
    again = frame[(frame["source"] == "judge") & frame["run"].isin(list(names))].merge(cells, on=list(Cell._fields))
    again = again.assign(run=again["run"].map(names))
    facts = tuple(replace(fact, run=names[fact.run]) for fact in parsed)
    return RatingsTable(pd.concat([ours.frame, again], ignore_index=True), ours.stories, (*ours.facts, *facts))


def _facts(result: ContrastResult, level: str) -> ContrastFacts:
    def share(side: int) -> float | None:
        sides = [(outcome.parsed.first, outcome.parsed.second)[side] for outcome in result.outcomes]
        known = [value for value in sides if value is not None]
        return sum(known) / len(known) if known else None

    return ContrastFacts(
        first=result.contrast.first,
        second=result.contrast.second,
        parsed=(share(0), share(1)),
        parse=result.means["parsed"],
        rating=result.means["rating"],
        taus=tuple((outcome.criterion, outcome.agreement.inputs) for outcome in result.outcomes),
        inputs=result.means["tau"],
        both=result.means["tau_both"],
        level=level,
    )


def _shared(entry: Entry) -> dict[str, str | None]:
    known = dict(entry.result.contrast.shared)
    return {name: known.get(name) for name in _SHARED}


def _flat(outcome: Outcome) -> dict[str, Any]:
    row: dict[str, Any] = {
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


def _flat_estimate(name: str, estimate: Estimate, detectable: Estimate) -> dict[str, Any]:
    flat = {f"{name}_low": estimate.low, f"{name}_high": estimate.high, f"{name}_detectable": detectable.value}
    return {name: estimate.value, **flat, f"{name}_reason": estimate.reason}


def _flat_tests(outcome: Outcome, adjusted: Any) -> dict[str, Any]:
    agreement = outcome.agreement
    return {
        "permutation_p": agreement.permutation.p,
        "permutation_p_adjusted": adjusted.permutation,
        "williams_t": agreement.williams.statistic,
        "williams_p": agreement.williams.p,
        "williams_p_adjusted": adjusted.williams,
        "tail": "two-sided",
    }
