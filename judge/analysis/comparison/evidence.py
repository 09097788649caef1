"""Compares four tests and intervals of one difference between two sides, which answer different questions.

==============  ==========================================================================================
view            question
==============  ==========================================================================================
permutation     are the sides' scores exchangeable: for new systems, new story-prompts, or on these stories only?
Williams        do both correlate with people equally on these stories? (theory of Pearson's r, applied to tau)
boot-inputs     would the difference hold for new story-prompts?
boot-both       would the difference hold for new systems and story-prompts?
==============  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge.analysis.comparison.family import ALPHA, AdjustedTests
from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.comparison.tau_differences import Agreement
from judge.analysis.options.table_options import Swap
from judge.stats.correlation.dependent_correlations import PEARSON_NOTE

_LONGEST = 6
"""Comparisons named in one note; the rest are counted."""

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
    """Sentences that state the question that each test or interval of a difference answers.

    `swapped` says what the permutation test swaps: story-prompts, systems or single stories.
    """
    how, asks = _SWAPPED[swapped]
    return (
        f"permutation ({how}) asks: {asks}",
        "boot-inputs asks: would it hold for new story-prompts? boot-both: for new systems and story-prompts?",
        f"Williams' t asks whether scores are exchangeable on these stories; it is {PEARSON_NOTE}",
    )


def views(agreement: Agreement, adjusted: AdjustedTests) -> Views:
    """Map from each test or interval to whether it shows a difference in agreement with people.

    A test shows a difference if its adjusted p is below .05, an interval if it excludes 0. None where the test or
    interval is not available.
    """
    return {
        "permutation": None if adjusted.permutation is None else adjusted.permutation < ALPHA,
        "Williams": None if adjusted.williams is None else adjusted.williams < ALPHA,
        "boot-inputs": leaves_zero_out(agreement.inputs),
        "boot-both": leaves_zero_out(agreement.both),
    }


def holds_for(seen: Views, swapped: Swap) -> str:
    """Populations for which a difference was shown, from narrow to wide: these stories, new story-prompts, new systems.

    ``nothing shown`` if there are none, and ``—`` if no test or interval is available.
    """
    reach = {"permutation": _REACH[swapped], "boot-inputs": "new story-prompts", "boot-both": "new systems"}
    shown = {words for view, words in reach.items() if seen[view]}
    if shown:
        return ", ".join(words for words in _WIDEST if words in shown)
    return "nothing shown" if any(value is not None for value in seen.values()) else "—"


def disagreements(rows: Sequence[tuple[str, Views]]) -> list[str]:
    """Sentences on comparisons in which one test or interval shows a difference and another does not.

    Comparisons in which the same tests and intervals disagree share one sentence, which names them.
    """
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
