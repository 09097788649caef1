"""Command `judge plan`: plans the sample size of a study before it is run. The computation is in
`judge.analysis.planning`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from judge.analysis.options.agreement_options import FIRST, PlanOptions
from judge.cli.declared import takes
from judge.cli.table_options import Criteria, EvalPrompts, Form, Full, Judges, Long, Output, PanelName, ParserName

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

HELP = {
    "half_width": "largest half-width of the 95 % interval of Kendall's tau",
    "difference": "difference between two taus that the study should detect",
    "reliability": "target reliability of the order of systems and stories, and of people's means",
    "power": "power of the tests: for a difference, and for the alternative annotator test",
    "epsilon": "advantage granted to a judge in the alternative annotator test",
    "prompts": "number of Eval-Prompts to plan with; default: the pilot's",
    "repeats": "number of repeats to plan with; default: the pilot's",
    "positions": "columns of unidentified raters, each taken for one person",
    "rater_price": "price of one rating by a person, in dollars",
    "like": "study whose variances are used where no RUN is given",
    "seed": "seed of the random numbers",
}
_Pilots = Annotated[
    list[str] | None, typer.Argument(metavar="[RUN]...", help="pilot run: a run.yaml, its folder, or a result folder")
]
_WITHOUT = "without a pilot RUN"
_OF_PILOTS = {"rater_price": None, "positions": False, "drop_systems": (), "against": None}
_OF_STUDIES = {"like": FIRST}


@app.command()
@takes(PlanOptions, HELP)
def plan(
    runs: _Pilots = None,
    *,
    options: PlanOptions,
    long: Long = False,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    panel: PanelName = None,
    full: Full = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Number of stories, people, repeats and Eval-Prompts that a study needs, and what to pay for next.

    Computed from a pilot RUN or, without one, from the variances of a published study. Sentences come first, then
    tables.

    Example: judge plan runs/pilot --half-width 0.05 --set rater_price=0.25
    """
    from judge.analysis import planning
    from judge.cli.table_options import emit

    if not runs:
        _refuse(options, _OF_PILOTS, _WITHOUT)
        chosen = {"criterion": criterion, "judge": judge, "eval_prompt": eval_prompt, "panel": panel}
        _refuse_given([name for name, value in chosen.items() if value], _WITHOUT)
        emit(planning.tables(planning.plan_like(options), long=long), form, output, full=full)
        return
    _refuse(options, _OF_STUDIES, "with a pilot RUN")
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.inputs.selection import Selection
    from judge.cli.table_options import FLAGS, reading_bar
    from judge.questions.registry import question
    from judge.questions.source import Source

    people = [options.against]
    keep = Selection.of(criterion, judge, eval_prompt, people=people, pass_rate=False, panel=panel)
    source = Source(runs, parser, (keep,), explanations=False, telling=reading_bar)
    answer = question("plan").answer(source, options, long=long)
    emit(with_coverage(answer.table, answer.printed(FLAGS), form, options.drop_systems), form, output, full=full)


def _refuse(options: PlanOptions, idle: Mapping[str, object], where: str) -> None:
    """An option in `idle` (option -> default) has no effect in the case `where`."""
    _refuse_given([name for name, default in idle.items() if getattr(options, name) != default], where)


def _refuse_given(names: Sequence[str], where: str) -> None:
    from judge.base.errors import SpecError
    from judge.base.wording import Advice

    if names:
        raise SpecError(Advice(f"{{{names[0]}}} has no effect {where}"), hint="leave it out")
