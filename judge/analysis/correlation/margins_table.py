"""Printed table of each judge's differences from ceiling and control, with notes on the best judge's rivals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from judge.analysis.correlation.margins import CEILING, CONTROL, Bar, Margin
from judge.analysis.correlation.result import ONE_OUT, Correlations
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.stats import near_ties

_NOTES = (
    "minus control, minus people: paired, on the stories that the judge shares with the bar, in the same resamples",
    "minus control: a control below 0 counts as 0, since an informative judge lies above 0",
    (
        "rows are ordered by their values on these stories: the first row's value is biased upwards, since it was "
        "selected as the highest"
    ),
)

_OF_PEOPLE = (
    "leave-one-out: the judge against the mean of the other people, as each person is; minus people: the "
    "judge's value less people's"
)
_OF_RATERS = "the interval of minus people is for new story-prompts and for other raters who differ as these do"


def table_of(result: Correlations, margins: Sequence[Margin], of_panels: Sequence[Margin] = ()) -> Table:
    """Each judge's differences from ceiling and control, highest mean first, then its rows for single panels."""
    highest = [margins[i] for i in near_ties.descending([margin.value.value for margin in margins])]
    ordered = [row for best in highest for row in (best, *(each for each in of_panels if _key(each) == _key(best)))]
    several = len({margin.dataset for margin in ordered}) > 1
    columns = [Column("dataset", "dataset")] if several else []
    columns += [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        *([Column("people", "people")] if of_panels else []),
        Column("criteria", "criteria"),
        Column("stories", "stories"),
        Column("value", "mean x100", digits=1, factor=100),
        Column("over_control", "minus control", digits=1, factor=100),
        Column("above_control", "above it on"),
        Column(ONE_OUT, "leave-one-out", digits=1, factor=100),
        Column("over_ceiling", "minus people", digits=1, factor=100),
        Column("above_ceiling", "above them on"),
    ]
    notes = list(_NOTES)
    notes += [_OF_PEOPLE] if any(margin.over[CEILING].defined for margin in ordered) else []
    drawn_out = any(margin.other_raters and margin.over[CEILING].low is not None for margin in ordered)
    notes += [_OF_RATERS] if drawn_out else []
    notes += [note for margin in highest for note in rival_notes(margin)]
    notes += [*result.lost, *(note for dataset in result.datasets for note in dataset.notes)]
    rows = [_row(margin) for margin in ordered]
    return Table("Each judge beside control and people", columns, rows, result.signature, tuple(dict.fromkeys(notes)))


def rival_notes(margin: Margin) -> list[str]:
    """A sentence for each rival: its share of the stories, and both means on the stories that both rated."""
    shares = [f"{margin.name} rated {_percent(margin.share)} of the stories, {rival.name} {_percent(rival.share)}: "
              f"on the {rival.stories:,} stories that both rated they reach {_points(rival.best_mean)} and "
              f"{_points(rival.rival_mean)}"
              for rival in margin.rivals]  # fmt: skip
    if margin.rivals and any(rival.ahead for rival in margin.rivals):
        shares.append("no row is named the closest to people: the highest row is not the highest on the common stories")
    return shares


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _points(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else f"{100 * estimate.value:.1f}"


def _key(margin: Margin) -> tuple[str, ...]:
    return margin.dataset, margin.run, margin.judge, margin.eval_prompt


def _row(margin: Margin) -> dict[str, Any]:
    def counted(kind: Bar) -> str | None:
        above, total = margin.above[kind]
        return f"{above} of {total}" if total else None

    return {
        "dataset": margin.dataset,
        "judge": f"{margin.judge}, control" if margin.control else margin.judge,
        "eval_prompt": margin.eval_prompt,
        "people": margin.people,
        "criteria": len(margin.criteria),
        "stories": margin.stories,
        "value": margin.value,
        "over_control": margin.over[CONTROL],
        "above_control": counted(CONTROL),
        ONE_OUT: _bare(margin.same[CEILING]),
        "over_ceiling": margin.over[CEILING],
        "above_ceiling": counted(CEILING),
    }


def _bare(estimate: Estimate) -> Estimate:
    # The table already shows the interval of the difference.
    return replace(estimate, low=None, high=None, method=None)
