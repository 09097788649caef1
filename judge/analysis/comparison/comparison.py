"""Comparison of Eval-Prompts, judges, modes, parsers or runs in pairs, on the stories that both sides rated.

`pairing` chooses what to compare, `contrasts` and `tau_differences` compute differences, `result` holds them and
adjusts p values, `sentence` words them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from judge.analysis.comparison.contrasts import Comparer, ContrastResult
from judge.analysis.comparison.pairing import check_distinct, contrasts
from judge.analysis.comparison.result import Comparison, Entry, Ranked, family
from judge.analysis.comparison.sentence import ContrastFacts, leaves_zero_out, sentence
from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.label_criteria import numbers, phi_note
from judge.analysis.inputs.selection import people_said
from judge.analysis.options.choices import LEVELS, Level
from judge.analysis.options.signature import signature_parts
from judge.analysis.options.table_options import CompareOptions
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import Cell, build
from judge.ratings.ratings_table import RatingsTable

# Ranking of several variants by agreement with people, from pairwise contrasts.

# Variants from which a ranking says more than their contrast.
LEAST = 3


def ranked(entries: Sequence[Entry]) -> list[Ranked]:
    """Ranks of variants (e.g. Eval-Prompts), group after group, the best first. A group is the variants of one dataset
    that share all other settings; it is ranked if it has three or more, and every pair has a difference in tau.
    """
    return [rank for group in _groups(entries) for rank in _ranking(group)]


def _groups(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.dataset, entry.result.contrast.shared), []).append(entry)
    yield from groups.values()


def _ranking(entries: Sequence[Entry]) -> Iterator[Ranked]:
    variants = list(
        dict.fromkeys(name for e in entries for name in (e.result.contrast.first, e.result.contrast.second))
    )
    pairs = len(variants) * (len(variants) - 1) // 2
    between = {(e.result.contrast.first, e.result.contrast.second): e.result.means["tau"] for e in entries}
    if len(variants) < LEAST or len(between) < pairs or any(estimate.value is None for estimate in between.values()):
        return
    score = {name: _score(name, between) for name in variants}
    order = sorted(variants, key=lambda name: -score[name])
    best = order[0]
    for rank, name in enumerate(order, 1):
        if name == best:
            yield Ranked(rank, name, None, None, entries[0])
            continue
        below = between[best, name] if (best, name) in between else _reversed(between[name, best])
        shown = leaves_zero_out(below)
        yield Ranked(rank, name, below, None if shown is None else not shown, entries[0])


def _score(name: str, between: dict[tuple[str, str], Estimate]) -> float:
    """Differences in tau, this variant minus each other, summed; `between` holds second minus first."""
    gained = sum(estimate.value or 0.0 for (_, second), estimate in between.items() if second == name)
    lost = sum(estimate.value or 0.0 for (first, _), estimate in between.items() if first == name)
    return gained - lost


def _reversed(difference: Estimate) -> Estimate:
    value, low, high = difference.value, difference.low, difference.high
    return replace(
        difference,
        value=None if value is None else -value,
        low=None if high is None else -high,
        high=None if low is None else -low,
    )


_FEW_SYSTEMS = 10


def compared(table: RatingsTable, options: CompareOptions | None = None) -> Comparison:
    """Comparison of every pair of values of `options.by`. For ``by="parser"`` the table is one of `both_parsers`.
    Raises SpecError without a pair, for an unknown baseline, criterion or system, and for two results of one run and
    judge.
    """
    options = options or CompareOptions()
    check_distinct(table)
    table = numbers(table, needed=True)
    matrices = build(table, drop_systems=options.drop_systems)
    entries: list[Entry] = []
    notes = dict.fromkeys(note for fact in table.facts for note in fact.notes)
    for matrix in matrices:
        if not matrix.cells:
            continue
        criterion_match = match(matrix, options.against)
        compared_pairs, left_out = contrasts(matrix, table, options.by, options.baseline)
        notes.update(dict.fromkeys([*criterion_match.notes, *phi_note(matrix), *left_out]))
        if LEVELS[options.level].group and len(matrix.systems) < _FEW_SYSTEMS:
            notes[f"{matrix.dataset}: {len(matrix.systems)} systems are weak evidence at system level"] = None
        comparer = Comparer(matrix, options, criterion_match)
        for contrast in compared_pairs:
            result = comparer.compare(contrast)
            entries.append(Entry(matrix.dataset, result, sentence(_facts(result, options.level))))
    if not entries:
        raise SpecError("no judge was asked: there is nothing to compare")
    outcomes = [outcome for entry in entries for outcome in entry.result.outcomes]
    drawn = f"{options.resamples}/seed{options.seed}"
    both, inputs = f"boot-inputs+boot-both-{options.both}/{drawn}", f"boot-inputs/{drawn}"
    return Comparison(
        matrices=matrices,
        entries=tuple(entries),
        family=family(outcomes, options),
        ranking=tuple(ranked(entries)),
        options=options,
        signature_parts=signature_parts(table, matrices, options, extra=["tau:b"]),
        means_signature_parts=signature_parts(table, matrices, options, extra=["tau:b"], intervals=both),
        inputs_signature_parts=signature_parts(table, matrices, options, intervals=inputs, without=("level", "adjust")),
        notes=tuple(notes),
        people=people_said(table),
    )


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


def _facts(result: ContrastResult, level: Level) -> ContrastFacts:
    def share(side: int) -> float | None:
        sides = [(outcome.parsed.first, outcome.parsed.second)[side] for outcome in result.outcomes]
        defined = [value for value in sides if value is not None]
        return sum(defined) / len(defined) if defined else None

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
