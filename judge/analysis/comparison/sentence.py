"""Sentences that summarise a contrast, made from its numbers.

The wording follows the intervals: *more than ... would explain* where an interval excludes 0, and *not more than* where
it includes 0 (which does not prove equality). Where there is no interval, the sentence says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from judge.analysis.comparison.contrasts import Comparer, ContrastResult
from judge.analysis.comparison.pairing import Contrast, check_distinct, contrasts
from judge.analysis.comparison.result import ALPHA, AdjustedTests, Comparison, Entry, Ranked, family
from judge.analysis.comparison.tau_differences import Agreement
from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.label_criteria import numbers, phi_note
from judge.analysis.inputs.selection import people_said
from judge.analysis.options.choices import LEVELS, Level
from judge.analysis.options.signature import signature_parts
from judge.analysis.options.table_options import CompareOptions, Swap
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import Cell, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.correlation.heterogeneity import PEARSON_NOTE

_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class ContrastFacts:
    """Numbers from which the sentence on a contrast is made; differences are *second minus first*. `parsed` are shares
    of requested repeats with a rating, `parse` their difference. `rating` is used only where agreement with people is
    undefined. `inputs` and `both` are the mean of the defined `taus` over criteria, with intervals over story-prompts,
    and over systems and story-prompts.
    """

    first: str
    second: str
    parsed: tuple[float | None, float | None]
    parse: Estimate
    rating: Estimate
    taus: Sequence[tuple[str, Estimate]]
    inputs: Estimate
    both: Estimate
    level: Level = "overall"


def sentence(facts: ContrastFacts) -> str:
    """How the second side differs from the first in parsed answers and agreement with people (else in mean ratings)."""
    parsed = "" if facts.parse.value is None else f"{_parse(facts, facts.parse.value)}. "
    subject = f"Compared with {facts.first}, {facts.second}" if not parsed else facts.second
    defined = [(name, e.value) for name, e in facts.taus if e.value is not None]
    if not defined:
        reason = next((e.reason for _, e in facts.taus if e.reason), "nobody rated these stories")
        return f"{parsed}{subject} {_rating(facts)}. Nothing can be said about agreement with people: {reason}."
    text = f"{parsed}{subject} {_agreement(facts, defined)}"
    if _settled(facts.inputs) and _settled(facts.both):
        return f"{text}."
    return f"{text}: {_verdict(facts.inputs, facts.both)}."


def leaves_zero_out(estimate: Estimate) -> bool | None:
    """Whether the interval excludes 0; None without an interval."""
    if estimate.low is None or estimate.high is None:
        return None
    return estimate.low > 0 or estimate.high < 0


def _parse(facts: ContrastFacts, value: float) -> str:
    first, second = facts.first, facts.second
    if facts.parsed == (1.0, 1.0):
        return f"With {second}, as with {first}, every answer holds a rating"
    if abs(value) < _EQUAL:
        return f"With {second} the same share of answers holds a rating as with {first}"
    size = f"{abs(100 * value):.1f} percentage points {'more' if value > 0 else 'fewer'}"
    text = f"With {second}, {size} of the answers hold a rating than with {first}"
    outside = leaves_zero_out(facts.parse)
    if outside is None:
        return f"{text} (no interval)"
    return f"{text} {_interval(facts.parse)}" + (
        "" if outside else ", a difference that new story-prompts could turn round"
    )


def _rating(facts: ContrastFacts) -> str:
    value = facts.rating.value
    if value is None:
        return "has no ratings on the same stories"
    if abs(value) < _EQUAL:
        return "rates the same stories alike on average"
    text = f"rates the same stories {abs(value):.2f} points {'higher' if value > 0 else 'lower'}"
    outside = leaves_zero_out(facts.rating)
    if outside is None:
        return f"{text} (no interval)"
    return f"{text} {_interval(facts.rating, 1, 2)}" + (
        "" if outside else ", a difference that new story-prompts could turn round"
    )


def _agreement(facts: ContrastFacts, defined: Sequence[tuple[str, float]]) -> str:
    level = LEVELS[facts.level]
    people = f"with people {level.over}" if level.group else "with people"
    lower = [name for name, value in defined if value < -_EQUAL]
    higher = [name for name, value in defined if value > _EQUAL]
    count, missing = len(defined), len(facts.taus) - len(defined)
    left_out = f" ({missing} undefined)" if missing else ""
    if not lower and not higher:
        return f"correlates {people} exactly as {facts.first} does{_on(defined)}{left_out}"
    mean = f"{100 * (facts.inputs.value or 0.0):+.1f}" + (f" {_interval(facts.inputs)}" if _has(facts.inputs) else "")
    if count == 1:
        return f"correlates {'lower' if lower else 'higher'} {people} on {defined[0][0]}{left_out} ({mean})"
    if len(lower) == len(higher):
        text = f"correlates lower {people} on {len(lower)} and higher on {len(higher)} of {count} criteria"
        return f"{text}{left_out} (mean {mean})"
    way, number = ("lower", len(lower)) if len(lower) > len(higher) else ("higher", len(higher))
    average = "lower" if (facts.inputs.value or 0.0) < 0 else "higher"
    if average != way:
        # Most criteria go one way and the mean the other: the mean is what the verdict speaks of, so it leads.
        text = f"correlates {average} {people} on average (mean {mean} over {count} criteria{left_out})"
        return f"{text}, though {way} on {number} of them"
    share = f"all {count}" if number == count else f"{number} of {count}"
    return f"correlates {way} {people} on {share} criteria{left_out} (mean {mean})"


def _verdict(inputs: Estimate, both: Estimate) -> str:
    over_prompts, over_both = leaves_zero_out(inputs), leaves_zero_out(both)
    if over_prompts is None:
        text = f"without an interval over story-prompts ({_why(inputs)}) this may be chance"
        if over_both is None:
            return text
        return (
            f"{text}; over systems and story-prompts {_interval(both)}, {'excluding' if over_both else 'including'} 0"
        )
    if over_both is None:
        tail = f". For new systems there is no interval: {_why(both)}"
        return ("more" if over_prompts else "not more") + " than new story-prompts would explain" + tail
    if over_prompts and over_both:
        return "more than new story-prompts or new systems would explain"
    if over_prompts:
        return f"more than new story-prompts would explain, not more than new systems would {_interval(both)}"
    if over_both:
        return (
            "not more than new story-prompts would explain, though the interval over systems and story-prompts "
            f"leaves 0 out {_interval(both)}: too close to rely on"
        )
    return "not more than new story-prompts would explain"


def _on(defined: Sequence[tuple[str, float]]) -> str:
    return f" on {defined[0][0]}" if len(defined) == 1 else f" on all {len(defined)} criteria"


def _interval(estimate: Estimate, factor: float = 100, digits: int = 1) -> str:
    low, high = (round(factor * (end or 0.0), digits) + 0.0 for end in (estimate.low, estimate.high))
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def _has(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.high is not None


def _settled(estimate: Estimate) -> bool:
    # The interval contains only 0: there is nothing to explain.
    return _has(estimate) and max(abs(estimate.low or 0.0), abs(estimate.high or 0.0)) < _EQUAL


def _why(estimate: Estimate) -> str:
    return estimate.why.fact if estimate.reason else "none was asked for"


# Compares four tests and intervals of one difference between two sides, which answer different questions.

# Comparisons named in one note; the rest are counted.
_LONGEST = 6

_SWAPPED: Mapping[Swap, tuple[str, str]] = {
    "systems": ("PERM-SYSTEMS, whole systems are swapped", "would it hold for new systems?"),
    "story-prompts": (
        "PERM-INPUTS, whole story-prompts are swapped",
        "would it hold for new story-prompts, with these systems?",
    ),
    "stories": (
        "PERM-BOTH, single stories are swapped",
        "are these scores exchangeable on these stories, whatever they would be on others?",
    ),
}
_REACH: Mapping[Swap, str] = {
    "systems": "new systems",
    "story-prompts": "new story-prompts",
    "stories": "these stories",
}
_WIDEST = ("these stories", "new story-prompts", "new systems")

Views = Mapping[str, bool | None]


def questions(swapped: Swap) -> tuple[str, ...]:
    """The question that each test or interval of a difference answers, for this unit of the permutation test."""
    how, asks = _SWAPPED[swapped]
    return (
        f"permutation ({how}) asks: {asks}",
        "boot-inputs asks: would it hold for new story-prompts? boot-both: for new systems and story-prompts?",
        f"Williams' t asks whether scores are exchangeable on these stories; it is {PEARSON_NOTE}",
    )


def views(agreement: Agreement, adjusted: AdjustedTests) -> Views:
    """Whether each test (adjusted p below .05) or interval (excludes 0) shows a difference; None = not available."""
    return {
        "permutation": None if adjusted.permutation is None else adjusted.permutation < ALPHA,
        "Williams": None if adjusted.williams is None else adjusted.williams < ALPHA,
        "boot-inputs": leaves_zero_out(agreement.inputs),
        "boot-both": leaves_zero_out(agreement.both),
    }


def holds_for(seen: Views, swapped: Swap) -> str:
    """Populations for which a difference was shown, from narrow to wide. ``nothing shown`` if there are none, and ``—``
    if no test or interval is available.
    """
    reach = {"permutation": _REACH[swapped], "boot-inputs": "new story-prompts", "boot-both": "new systems"}
    shown = {words for view, words in reach.items() if seen[view]}
    if shown:
        return ", ".join(words for words in _WIDEST if words in shown)
    return "nothing shown" if any(value is not None for value in seen.values()) else "—"


def disagreements(rows: Sequence[tuple[str, Views]]) -> list[str]:
    """Sentences on comparisons where one test or interval shows a difference and another does not."""
    names_by_views: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for name, seen in rows:
        yes = tuple(view for view, value in seen.items() if value)
        no = tuple(view for view, value in seen.items() if value is False)
        if yes and no:
            names_by_views.setdefault((yes, no), []).append(name)
    return [
        f"the views disagree: {_sees(yes)}, {_sees_not(no)}: {_listed(names)}"
        for (yes, no), names in names_by_views.items()
    ]


def _sees(names: Sequence[str]) -> str:
    return f"{_joined(names)} {'sees' if len(names) == 1 else 'see'} a difference"


def _sees_not(names: Sequence[str]) -> str:
    return f"{_joined(names)} {'does' if len(names) == 1 else 'do'} not"


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _LONGEST
    return "; ".join(names[:_LONGEST]) + (f"; and {rest} more (column 'shown for')" if rest > 0 else "")


# Comparison of Eval-Prompts, judges, modes, parsers or runs in pairs, on the stories that both sides rated.

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


def distances(table: RatingsTable, options: CompareOptions) -> list[tuple[str, Contrast, Estimate]]:
    """Of every dataset and contrast, the mean over criteria of the difference in tau: as in `compared`, in a fraction
    of its time.
    """
    check_distinct(table)
    table = numbers(table, needed=True)
    found = []
    for matrix in build(table, drop_systems=options.drop_systems):
        if matrix.cells:
            comparer = Comparer(matrix, options, match(matrix, options.against))
            pairs, _ = contrasts(matrix, table, options.by, options.baseline)
            found += [(matrix.dataset, contrast, comparer.tau(contrast)) for contrast in pairs]
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
