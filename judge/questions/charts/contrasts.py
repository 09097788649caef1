"""Chart of contrasts: differences between Eval-Prompts or judges, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge.analysis.comparison import tables
from judge.analysis.raters import Raters
from judge.questions.charts import shared
from judge.questions.charts.forest import Forest, Line
from judge.questions.charts.shared import JUDGE

if TYPE_CHECKING:
    from judge.analysis.comparison.result import Comparison

_PANELS = (("tau", "story-prompts"), ("tau_both", "systems too"))


def forest(
    comparison: Comparison, named: str, *, resamples: int, raters: Raters | None = None, signature: str = ""
) -> Forest:
    """Differences in tau-b with people (second minus first, mean over criteria), each with the interval over
    story-prompts and that over systems too. `named` says what is compared, for example Eval-Prompts. `signature` is
    empty next to tables of the same numbers, which show it.
    """
    raters = raters or Raters()
    panels = tuple(name for _, name in _PANELS)
    return Forest(
        title=f"Differences of tau-b ×100 with {raters.noun}, mean over criteria: {named}",
        panels=panels,
        short=panels,
        lines=tuple(
            Line(
                tables.shared_name(entry, comparison),
                tables.contrast_name(entry),
                tuple((entry.result.means[key],) for key, _ in _PANELS),
            )
            for entry in comparison.entries
        ),
        series=(("difference", JUDGE),),
        bands=(),
        axis="tau-b ×100, second − first",
        caption=_caption(comparison, resamples),
        signature=signature,
        factor=100,
        from_zero=True,
    )


def _caption(comparison: Comparison, resamples: int) -> str:
    outcomes: list[Any] = [outcome for _, outcome in comparison.outcomes()]
    counted = shared.counted([contrast.stories for contrast in outcomes], "stories a contrast and criterion")
    return (
        f"Second minus first, mean over criteria, with 95 % intervals from {resamples} resamples: left of "
        f"story-prompts, right of systems as well (calibrated); {counted}."
    )
