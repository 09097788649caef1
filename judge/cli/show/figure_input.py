"""Input of figures: the results on the runs' only dataset, and the raters of its stories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from judge.analysis.agreement.correlation_grid import Layout
    from judge.analysis.options.table_options import CorrelationOptions
    from judge.analysis.raters import Raters
    from judge.ratings_table import RatingsTable

_One = TypeVar("_One")


def who_rated(table: RatingsTable, dataset: str) -> Raters:
    """Raters with whom judges are compared on a dataset: human raters, or a rule that labels stories."""
    from judge.analysis.raters import Raters

    return Raters.of(table, dataset)


def layout(table: RatingsTable, options: CorrelationOptions) -> Layout:
    """Grid of correlations of judges with human ratings on the runs' only dataset. It has a column for each criterion,
    and a row for each judge with its Eval-Prompt, for the human ceiling and for the control.
    """
    from judge.analysis.agreement.correlation_grid import layouts
    from judge.analysis.correlation import correlations
    from judge.analysis.inputs.control import control_predictions

    return only(layouts(correlations(table, options, control_predictions)), "heatmap")


def only(results: Sequence[_One], subject: str) -> _One:
    """The only result in `results`. Raises SpecError if there are none or several; `subject` names the figure in the
    message.
    """
    from judge.errors import SpecError

    if len(results) != 1:
        names = ", ".join(str(getattr(result, "dataset", result)) for result in results) or "none"
        subject = "a heat map" if subject == "heatmap" else f"a figure of {subject}"
        raise SpecError(f"{subject} shows one dataset; these runs have {names}", hint="draw a figure for each")
    return results[0]
