"""Commands `judge figure wins` and `judge figure strengths`: figures of preferences between systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge.analysis.options.table_options import RankOptions
from judge.cli.comparing.rank import HELP
from judge.cli.comparing.rank import Runs as Compared
from judge.cli.declared import takes
from judge.cli.show.figure_command import FreeWidth
from judge.cli.table_options import Criteria, EvalPrompts, Judges, Picture, Width

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from judge.analysis.preference.systems import Systems

_WITHOUT = ("control",)


@takes(RankOptions, HELP, without=_WITHOUT)
def wins(
    runs: Compared,
    output: Picture,
    options: RankOptions,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    width: FreeWidth = None,
) -> None:
    """Heat map of wins between systems: a block of rows for people and for each judge x Eval-Prompt.

    Example: judge figure wins runs/mans-roc-pairs -o wins.pdf
    """
    from judge.charts.preferences import win_matrix
    from judge.figures import heatmap, page

    page.check_suffix(output)
    inches = None if width is None else page.inches_of(width)
    ranking = _found(runs, options, (criterion, judge, eval_prompt))
    drawing = win_matrix(ranking.standings, ranking.signature)
    page.write(heatmap.draw(drawing, inches), output)
    typer.echo(f"{output}: {len(drawing.rows)} rows, {len(drawing.columns)} systems")


@takes(RankOptions, HELP, without=_WITHOUT)
def strengths(
    runs: Compared,
    output: Picture,
    options: RankOptions,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    width: Width = "page",
) -> None:
    """Strengths of systems from people's and judges' comparisons, as dots with intervals.

    Example: judge figure strengths runs/mans-roc-pairs -o strengths.pdf
    """
    from judge.charts.preferences import strengths as chart
    from judge.figures import forest, page

    page.check_suffix(output)
    inches = page.inches_of(width)
    ranking = _found(runs, options, (criterion, judge, eval_prompt))
    drawing = chart(ranking.standings, ranking.signature)
    page.write(forest.draw(drawing, inches), output)
    typer.echo(f"{output}: {len(drawing.lines)} systems, {len(drawing.series)} who compared")


def _found(runs: Sequence[str], options: RankOptions, chosen: tuple[Collection[str] | None, ...]) -> Systems:
    """Ranking of systems from the preferences in runs. Raises SpecError unless it covers exactly one dataset and
    criterion. `chosen` holds the selected criteria, judges and Eval-Prompts.
    """
    from dataclasses import replace

    from judge.analysis.preference.ranked import ranked
    from judge.analysis.preference.reading import narrowed, read
    from judge.errors import SpecError
    from judge.wording import Advice

    criterion, judge, eval_prompt = chosen
    ranking = ranked(narrowed(read(list(runs)), criterion, judge, eval_prompt), replace(options, control=False)).systems
    places = {(standing.dataset, standing.criterion.casefold()) for standing in ranking.standings}
    if not places:
        raise SpecError("nobody compared stories of two systems here", hint="judge rank prints what there is")
    if len(places) > 1:
        raise SpecError(
            f"{len(places)} criteria or datasets are too many for one figure",
            hint=Advice("choose one with {criterion}, or name runs of one dataset"),
        )
    return ranking
