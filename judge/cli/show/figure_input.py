"""What a figure is made from: its file and width, looked at first, and one dataset's ratings. Never draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from judge.analysis.agreement.correlation_grid import Layout
    from judge.analysis.raters import Raters
    from judge.ratings_table import RatingsTable

_One = TypeVar("_One")


def checked(output: Path, width: str | None) -> float | None:
    """Inches asked for; the file's suffix and the width are looked at before anything is computed."""
    from judge.figures import page

    page.check_suffix(output)
    return None if width is None else page.inches_of(width)


def ratings(
    runs: list[str],
    parser: str,
    criterion: list[str] | None,
    judge: list[str] | None,
    eval_prompt: list[str] | None,
) -> RatingsTable:
    """The ratings table of these runs, narrowed to what is asked for."""
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.cli.reading_bar import reading_bar
    from judge.ratings_table import read

    keep = Selection.of(criterion, judge, eval_prompt)
    return narrowed(read(runs, parser=parser, explanations=False, telling=reading_bar), keep)


def who_rated(table: RatingsTable, dataset: str) -> Raters:
    """Who gave the ratings that judges are compared with: people, or a rule."""
    from judge.analysis.raters import Raters

    return Raters.of(table, dataset)


def layout(table: RatingsTable, words: dict[str, Any]) -> Layout:
    """The published layout of the only dataset, with the options that these words name."""
    from judge.analysis.agreement.correlation_grid import layouts
    from judge.analysis.correlation import correlations
    from judge.analysis.inputs.control import control_predictions
    from judge.analysis.options.table_options import CorrelationOptions, from_words

    options = from_words(CorrelationOptions, **words)
    return only(layouts(correlations(table, options, control_predictions)), "heatmap")


def only(found: Sequence[_One], what: str) -> _One:
    """The only dataset's; raises SpecError for several, or none."""
    from judge.errors import SpecError

    if len(found) != 1:
        names = ", ".join(str(getattr(one, "dataset", one)) for one in found) or "none"
        what = "a heat map" if what == "heatmap" else f"a figure of {what}"
        raise SpecError(f"{what} shows one dataset; these runs have {names}", hint="draw a figure for each")
    return found[0]
