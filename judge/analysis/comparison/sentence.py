"""Results of comparisons in words: the sentence on a contrast, and which tests and intervals show a difference.

The wording follows the intervals: *more than ... would explain* where an interval excludes 0, and *not more than* where
it includes 0 (which does not prove equality). Where there is no interval, the sentence says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.analysis.options.choices import LEVELS, Level
from judge.analysis.options.table_options import Swap
from judge.base.estimate import Estimate
from judge.base.wording import enumerated
from judge.stats.correlation.heterogeneity import PEARSON_NOTE

# Adjusted p below this counts as seen.
ALPHA = 0.05
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class ContrastFacts:
    """Numbers from which the sentence on a contrast is made; differences are *second minus first*. `parsed` are shares
    of requested repeats with a rating, `parse` their difference. `rating` is used only where agreement with people is
    undefined. `inputs` and `both` are the mean of the defined `taus` over criteria, with intervals over story-prompts,
    and over systems and story-prompts."""

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
        return f"{parsed}{subject} {_rating(facts.rating)}. Nothing can be said about agreement with people: {reason}."
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
    return f"With {second}, {size} of the answers hold a rating than with {first} {_with_doubt(facts.parse, 100, 1)}"


def _rating(rating: Estimate) -> str:
    if rating.value is None:
        return "has no ratings on the same stories"
    if abs(rating.value) < _EQUAL:
        return "rates the same stories alike on average"
    size = f"{abs(rating.value):.2f} points {'higher' if rating.value > 0 else 'lower'}"
    return f"rates the same stories {size} {_with_doubt(rating, 1, 2)}"


def _with_doubt(estimate: Estimate, factor: float, digits: int) -> str:
    outside = leaves_zero_out(estimate)
    if outside is None:
        return "(no interval)"
    doubt = "" if outside else ", a difference that new story-prompts could turn round"
    return f"{_interval(estimate, factor, digits)}{doubt}"


def _agreement(facts: ContrastFacts, defined: Sequence[tuple[str, float]]) -> str:
    level = LEVELS[facts.level]
    people = f"with people {level.over}" if level.group else "with people"
    lower = sum(value < -_EQUAL for _, value in defined)
    higher = sum(value > _EQUAL for _, value in defined)
    count, missing = len(defined), len(facts.taus) - len(defined)
    left_out = f" ({missing} undefined)" if missing else ""
    if not lower and not higher:
        on = defined[0][0] if count == 1 else f"all {count} criteria"
        return f"correlates {people} exactly as {facts.first} does on {on}{left_out}"
    mean = f"{100 * (facts.inputs.value or 0.0):+.1f}" + (f" {_interval(facts.inputs)}" if _has(facts.inputs) else "")
    if count == 1:
        return f"correlates {'lower' if lower else 'higher'} {people} on {defined[0][0]}{left_out} ({mean})"
    if lower == higher:
        text = f"correlates lower {people} on {lower} and higher on {higher} of {count} criteria"
        return f"{text}{left_out} (mean {mean})"
    way, number = ("lower", lower) if lower > higher else ("higher", higher)
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


# Which tests and intervals of one difference show it; they answer different questions.

# Comparisons named in one note; the rest are counted.
_LONGEST = 6

# Units swapped -> for what the permutation test speaks, its name, and its question.
_SWAPPED: Mapping[Swap, tuple[str, str, str]] = {
    "systems": ("new systems", "PERM-SYSTEMS, whole systems are swapped", "would it hold for new systems?"),
    "story-prompts": (
        "new story-prompts",
        "PERM-INPUTS, whole story-prompts are swapped",
        "would it hold for new story-prompts, with these systems?",
    ),
    "stories": (
        "these stories",
        "PERM-BOTH, single stories are swapped",
        "are these scores exchangeable on these stories, whatever they would be on others?",
    ),
}
_WIDEST = ("these stories", "new story-prompts", "new systems")

Views = Mapping[str, bool | None]


def questions(swapped: Swap) -> tuple[str, ...]:
    """The question that each test or interval of a difference answers, for this unit of the permutation test."""
    _, how, asks = _SWAPPED[swapped]
    return (
        f"permutation ({how}) asks: {asks}",
        "boot-inputs asks: would it hold for new story-prompts? boot-both: for new systems and story-prompts?",
        f"Williams' t asks whether scores are exchangeable on these stories; it is {PEARSON_NOTE}",
    )


def views(inputs: Estimate, both: Estimate, permutation: float | None, williams: float | None) -> Views:
    """Whether each test (adjusted p below .05) or interval (excludes 0) shows a difference; None = not available."""
    return {
        "permutation": None if permutation is None else permutation < ALPHA,
        "Williams": None if williams is None else williams < ALPHA,
        "boot-inputs": leaves_zero_out(inputs),
        "boot-both": leaves_zero_out(both),
    }


def holds_for(seen: Views, swapped: Swap) -> str:
    """Populations for which a difference was shown, from narrow to wide. ``nothing shown`` if there are none, and ``—``
    if no test or interval is available."""
    reach = {"permutation": _SWAPPED[swapped][0], "boot-inputs": "new story-prompts", "boot-both": "new systems"}
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
        f"the views disagree: {enumerated(yes)} {'sees' if len(yes) == 1 else 'see'} a difference, "
        f"{enumerated(no)} {'does' if len(no) == 1 else 'do'} not: {_listed(names)}"
        for (yes, no), names in names_by_views.items()
    ]


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _LONGEST
    return "; ".join(names[:_LONGEST]) + (f"; and {rest} more (column 'shown for')" if rest > 0 else "")
