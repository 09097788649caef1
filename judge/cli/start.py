"""Commands `judge demo`, `check` and `plan`, with which one can start: no run is needed."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.agreement_options import FIRST, PlanOptions
from judge.base.choices import RESAMPLES
from judge.cli.declared import takes
from judge.cli.table_options import (
    Criteria,
    EvalPrompts,
    Form,
    Full,
    Judges,
    Long,
    Output,
    PanelName,
    ParserName,
    Quiet,
    Resamples,
    Seed,
)
from judge.exchange.tables.table_roles import GivenColumns

if TYPE_CHECKING:
    from judge.exchange.tables.checked_table import Checked
    from judge.exchange.tables.counted import Counted
    from judge.show.report.inputs import ReportInputs


PLAN_HELP = {
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
_Register = Annotated[
    bool, typer.Option("--register", help="writing of plan.json beside run.yaml, dated, for judge summary to hold to")
]
_Margin = Annotated[float | None, typer.Option("--margin", help="margin that register writes down; default: 0.1")]
_Pilots = Annotated[
    list[str] | None, typer.Argument(metavar="[RUN]...", help="pilot run: a run.yaml, its folder, or a result folder")
]
_WITHOUT = "without a pilot RUN"
_OF_PILOTS = {"rater_price": None, "positions": False, "drop_systems": (), "against": None}
_OF_STUDIES = {"like": FIRST}


@takes(PlanOptions, PLAN_HELP)
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
    register: _Register = False,
    margin: _Margin = None,
) -> None:
    """Number of stories, people, repeats and Eval-Prompts that a study needs, and what to pay for next.

    Computed from a pilot RUN or, without one, from the variances of a published study. Sentences come first, then
    tables.

    With --set register=true the plan of RUN is written to plan.json: its prompts, criteria, stories and repeats, the
    margin, and the row of --judge and --eval-prompt. Summary, report and certificate then say what was changed.

    Example: judge plan runs/mine --eval-prompt ep1 --set register=true

    Example: judge plan runs/pilot --set half_width=0.05 --set rater_price=0.25
    """
    from judge.analysis import planning
    from judge.cli.table_options import emit

    if register:
        _register(runs or [], judge or [], eval_prompt or [], options, margin)
        return
    if margin is not None:
        _refuse_given(["margin"], "without register")
    if not runs:
        _refuse(options, _OF_PILOTS, _WITHOUT)
        chosen = {"criterion": criterion, "judge": judge, "eval_prompt": eval_prompt, "panel": panel}
        _refuse_given([name for name, value in chosen.items() if value], _WITHOUT)
        emit(planning.tables(planning.plan_like(options), long=long), form, output, full=full)
        return
    _refuse(options, _OF_STUDIES, "with a pilot RUN")
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.options.selection import Selection
    from judge.cli.table_options import FLAGS, reading_bar
    from judge.questions.registry import question
    from judge.questions.source import Source

    people = [options.against]
    keep = Selection.of(criterion, judge, eval_prompt, people=people, pass_rate=False, panel=panel)
    source = Source(runs, parser, (keep,), explanations=False, telling=reading_bar)
    answer = question("plan").answer(source, options, long=long)
    emit(with_coverage(answer.table, answer.printed(FLAGS), form, options.drop_systems), form, output, full=full)


def _register(
    runs: Sequence[str], judges: Sequence[str], prompts: Sequence[str], options: PlanOptions, margin: float | None
) -> None:
    from datetime import UTC, datetime

    from judge.asking.execution.registration import register
    from judge.base.errors import SpecError
    from judge.questions.summary.result import EvidenceOptions

    for what, names in (("RUN", runs), ("judge", judges), ("Eval-Prompt", prompts)):
        if len(names) > 1 or (what == "RUN" and not names):
            raise SpecError(f"a plan that is registered is of one {what}, and {len(names)} were given")
    chosen = EvidenceOptions(epsilon=options.epsilon, drop_systems=options.drop_systems)
    chosen = chosen if margin is None else replace(chosen, margin=margin)
    file = register(
        Path(runs[0]),
        judge=next(iter(judges), None),
        eval_prompt=next(iter(prompts), None),
        margin=chosen.margin,
        epsilon=chosen.epsilon,
        drop_systems=chosen.drop_systems,
        now=datetime.now(UTC),
    )
    typer.echo(f"{file}: the plan, as of now; judge summary says what is changed")


def _refuse(options: PlanOptions, idle: Mapping[str, object], where: str) -> None:
    """An option in `idle` (option -> default) has no effect in the case `where`."""
    _refuse_given([name for name, default in idle.items() if getattr(options, name) != default], where)


def _refuse_given(names: Sequence[str], where: str) -> None:
    from judge.base.errors import SpecError
    from judge.base.wording import Advice

    if names:
        raise SpecError(Advice(f"{{{names[0]}}} has no effect {where}"), hint="leave it out")


def demo(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="folder for the run; default: runs/demo, or runs/demo-llm"),
    ] = None,
    judge: Annotated[
        str, typer.Option("--judge", help="judge to run: surface, or local/smollm2 (make demo-llm sets it up)")
    ] = "surface",
    quiet: Quiet = False,
) -> None:
    """Judge 48 packaged stories with the control judge, print what it comes to, and write a report.

    The control judge is a regression on surface features, not a language model, and the stories' labels follow from
    how the stories were made. The demo shows how the program works, not how good any judge is. With --judge
    local/smollm2 a very small language model judges the stories in this process, and explains some of its ratings.

    Example: judge demo
    """
    from judge.demo import JUDGES, demo_report, run_demos
    from judge.questions.summary import screen
    from judge.questions.summary.kept import summaries_of

    folder = folder or Path("runs") / JUDGES.get(judge, JUDGES["surface"])[0]
    results = run_demos(folder, judge, quiet=quiet)
    sys.stdout.write(screen.printed(summaries_of(results[:1], named=[str(folder)])))
    page = demo_report(folder, *results)
    if not quiet:
        program = _program()
        words = f"words:   {program} view {results[1]}     the answers beside the stories\n" if results[1:] else ""
        sys.stderr.write(
            f"\nreport:  {page}     open it in a browser\n{words}yours:   {program} init my-run     a run of your own\n"
        )


def _program() -> str:
    # Where the program was started from a file `judge` that the shell would not find, the command is its path.
    program = shutil.which("judge")
    started = Path(sys.argv[0])
    if started.name != "judge" or not started.is_file() or (program and Path(program).samefile(started)):
        return "judge"
    return shlex.quote(sys.argv[0])


# People's, and a judge's.
# Lines of a command on the first screen.
_MOST_LINES = 9

CHECK_HELP = {
    "judge": "column of a judge's ratings (or CRITERION=COLUMN); with rating, name of a judge among the raters; "
    "may be given several times",
    "human": "column of one person's ratings (or CRITERION=COLUMN); may be given several times",
    "criterion": "column of criteria, where each row is about one criterion",
    "by": "column of systems, which wrote the stories",
    "story": "column of story ids; default: each row is a story",
    "prompt": "column of story-prompts, or of another group that stories share",
    "text": "column of story texts, for the control judge",
    "rater": "column of raters' names, where each rating has its own row",
    "rating": "column of ratings, where each rating has its own row",
    "panel": "column of panels of people, such as expert and lay",
    "comments": "column of what raters wrote beside their ratings",
    "labels": "words that serve as ratings, lowest first, such as No,Yes",
    "missing": "word that means a missing rating; may be given several times",
    "sheet": "name of the sheet in a workbook",
    "number_repeats": "rows with the same judge, story and criterion, taken as repeats",
    "positions": "people's columns taken as unordered answers, not as one person each",
}
METAVARS = {
    **dict.fromkeys(("judge", "human", "criterion", "by", "story", "prompt", "text"), "COLUMN"),
    **dict.fromkeys(("rater", "rating", "panel", "comments"), "COLUMN"),
    "labels": "WORD,...",
    "missing": "WORD",
}


_Tables = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE [FILE]",
        help="table of ratings: CSV, TSV, JSON, JSON Lines, Parquet or XLSX; or people's and a judge's",
    ),
]


@takes(GivenColumns, CHECK_HELP, metavars=METAVARS, name="columns")
def check(
    files: _Tables,
    *,
    columns: GivenColumns,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="file for the HTML page; default: NAME.check.html here, none with another --format"
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep", metavar="FOLDER", help="result folder to write the ratings to, for use by all other commands"
        ),
    ] = None,
    resamples: Resamples = RESAMPLES,
    seed: Seed = 1,
    full: Full = False,
    form: Form = "table",
    quiet: Quiet = False,
) -> None:
    """Verdict and HTML page on a judge's agreement with people, from one table of ratings, wide or long.

    Columns that are not named are guessed from their names and cells; the command that repeats the guess is printed.
    One more person, control, intervals and verdict are those of judge report. What the file does not allow is listed.
    Nothing is sent.

    Two tables, one of people's ratings and one of a judge's, are joined by the stories' ids; files of one rater each
    are read together. A table without a judge's ratings, such as people's alone, comparisons or labels, is counted.

    Example: judge check people.csv judge.jsonl

    Example: judge check scores.csv --judge gpt4 --human ann1 --human ann2 --by system -o scores.html
    """
    from judge.base.errors import SpecError
    from judge.cli.table_options import asked
    from judge.exchange.tables.counted import Counted
    from judge.exchange.tables.looked_at import looked_at
    from judge.show.report.inputs import ReportOptions
    from judge.show.report.sections.checked_table import inputs_of
    from judge.show.report.write import write_page

    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise SpecError(f"{output}: the page is an HTML page", hint=f"-o {output.with_suffix('.html')}")
    checked = asked(lambda said: looked_at(files, said), columns)
    if isinstance(checked, Counted):
        _count(checked, keep, form, full=full)
        return
    page = output or (Path(f"{files[0].stem}.check.html") if form == "table" else None)
    title = f"{checked.path.name}: does the judge agree with people?"
    options = ReportOptions(title, resamples=resamples, permutations=resamples, seed=seed, command=_line(checked))
    with inputs_of(checked, options, keep) as inputs:
        _print(inputs, checked, form, full=full)
        if page is not None:
            size = write_page(inputs, page, quiet=quiet)
            typer.echo(f"{page}: {size / 1e6:.1f} MB", err=form != "table")


def _count(counted: Counted, keep: Path | None, form: str, *, full: bool) -> None:
    """Prints what a table without a judge's ratings of stories holds; its content goes to `keep`."""
    from judge.cli.table_options import FLAGS, emit, with_flags
    from judge.exchange.tables.counted import keep_content
    from judge.show.report.counted_screen import counted_lines

    if keep is not None:
        keep_content(counted, keep)
    if form != "table":
        emit(counted.table, form)
        return
    files = " ".join(shlex.quote(str(path)) for path in (counted.path, *counted.beside))
    line = f"judge check {files} {with_flags(counted.options or '')}".rstrip()
    command = ["", "guessed; to repeat or change it:", *f"  {_folded(line)}".split("\n")] if counted.options else []
    if not full and len(command) > _MOST_LINES:
        command = ["", "guessed; to repeat or change it:", f"  the command has {len(command)} lines; --full shows it"]
    lines = counted_lines(counted, command, FLAGS, full=full)
    typer.echo("\n".join(lines))


def _print(inputs: ReportInputs, checked: Checked, form: str, *, full: bool) -> None:
    from judge.cli.table_options import FLAGS, emit
    from judge.show.report.checked_screen import first_screen
    from judge.show.report.sections.checked_table import checked_tables

    if form != "table" or full:
        emit(checked_tables(inputs, checked), form)
    if form == "table":
        lines = _notes(checked) if full else first_screen(inputs, checked, _repeats(checked, most=_MOST_LINES), FLAGS)
        typer.echo("\n".join(lines))


def _line(checked: Checked) -> str:
    from judge.cli.table_options import with_flags

    files = dict.fromkeys([checked.path, checked.beside or checked.path])
    return f"judge check {shlex.join(map(str, files))} {with_flags(checked.options)}".rstrip()


def _notes(checked: Checked) -> list[str]:
    """What is said of the reading below all tables."""
    from judge.cli.table_options import with_flags

    return [*(f"· {with_flags(note)}" for note in (*checked.reading, *checked.notes)), "", *_repeats(checked)]


def _repeats(checked: Checked, most: int | None = None) -> list[str]:
    """The command that repeats the reading, on lines that a shell reads as one; where these are more than `most`, the
    line that says how to see it."""
    words = "guessed; to repeat or change it" if checked.guessed else "to repeat it"
    lines = f"  {_folded(_line(checked))}".split("\n")
    if most is not None and len(lines) > most:
        return [f"{words}:", f"  the command has {len(lines)} lines; --full and the page show it"]
    return [f"{words}:", *lines]


def _folded(command: str, width: int = 78) -> str:
    """A command on lines of at most `width`, as far as its options let it be parted, for a shell to read as one."""
    lines = [""]
    # The lines do not part a value in quotation marks that holds the sign of an option.
    for part in re.split(r" (?=--)(?=(?:[^']*'[^']*')*[^']*$)", command):
        if lines[-1] and len(lines[-1]) + len(part) > width - 4:
            lines.append(part)
        else:
            lines[-1] += f" {part}" if lines[-1] else part
    return " \\\n    ".join(lines)
