"""Command `judge succeed`: whether a judge may replace another. The computation is in `judge.analysis.succession`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.agreement_options import SuccessionOptions
from judge.cli.declared import takes
from judge.cli.table_options import (
    Criteria,
    EvalPrompts,
    Form,
    Full,
    Output,
    PanelName,
    ParserName,
)

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


SUCCEED_HELP = {
    "margin": "largest difference of tau with people that counts as equivalent",
    "points": "largest difference of mean ratings that counts as equivalent, in points",
    "cut": "lowest rating with which a story passes; default: the verdict is the nearest point of the scale",
    "power": "power with which the additional stories should decide the test",
    "folds": "number of folds of story-prompts for the crosswalks",
    "top": "number of stories that are shown",
    "seed": "seed of the folds",
}
_OLD = typer.Argument(metavar="OLD", help="run of the old judge: a run.yaml, its folder, or a result folder")
_NEW = typer.Argument(metavar="NEW", help="run of the new judge over the same stories")
_OldJudge = Annotated[str | None, typer.Option("--old-judge", help="name of the old judge, where OLD has several")]
_NewJudge = Annotated[str | None, typer.Option("--new-judge", help="name of the new judge, where NEW has several")]


@takes(SuccessionOptions, SUCCEED_HELP)
def succeed(
    old: Annotated[str, _OLD],
    new: Annotated[str, _NEW],
    *,
    options: SuccessionOptions,
    old_judge: _OldJudge = None,
    new_judge: _NewJudge = None,
    criterion: Criteria = None,
    eval_prompt: EvalPrompts = None,
    panel: PanelName = None,
    full: Full = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Test whether the judge of NEW may replace the judge of OLD, for example when OLD's model is shut down.

    An equivalence test with a margin that you declare, a crosswalk of scales, the stories whose verdict changes, and
    the number of additional stories that would decide an undecided test. Both judges have to rate the same stories.

    Example: judge succeed runs/tales/openai-gpt-4o runs/tales/openai-gpt-5 --margin 0.05
    """
    from judge.analysis import succession
    from judge.analysis.inputs.selection import narrowed
    from judge.analysis.options.selection import Selection
    from judge.cli.table_options import emit, reading_bar
    from judge.ratings.ratings_table import read

    def side(run: str, judge: str | None) -> RatingsTable:
        judges = None if judge is None else [judge]
        keep = Selection.of(criterion, judges, eval_prompt, people=[options.against], pass_rate=False, panel=panel)
        return narrowed(read([run], parser=parser, explanations=False, telling=reading_bar), keep)

    outcome = succession.succession(side(old, old_judge), side(new, new_judge), options)
    emit(succession.tables(outcome), form, output, full=full)
