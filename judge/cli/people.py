"""Commands `judge people ...`: people rate stories (`judge.lab.people`, `judge.show.web.people_pages`)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import DataError, JudgeError, SpecError
from judge.cli.declared import takes
from judge.cli.table_options import Form, Full, Output, Quiet
from judge.lab.people.options import DesignOptions, PeopleOptions, StudyPlanOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge.base.records import Criterion
    from judge.inputs.datasets import Dataset

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_Study = Annotated[Path, typer.Argument(metavar="STUDY", help="file of a study, or the folder of people.sqlite")]
_DESIGN = {
    "n": "number of stories, in whole story-prompts; default: all",
    "raters": "number of people",
    "per_story": "number of people who rate each story, or compare each pair",
    "ask": "what people are asked: ratings (points or labels, as the criteria have), or pairs: which of two is better",
    "ties": "of a pair, neither may be better: a tie, or both bad",
    "seed": "seed of the drawing and of the lists",
    "core": "number of stories that all people rate",
    "checks": "share of each list that is read twice and, again, damaged",
    "practice": "number of texts to practise on, in pairs of a whole and a damaged one",
    "together": "all criteria of a story on one page; no: one by one",
    "words_per_minute": "reading speed of the forecast of time",
}
_PLAN = {
    "plan": "how many stories and people it takes, as a table; makes no file",
    "pilot_study": "file of a study whose ratings say how people differ",
    "icc": "ICC(A,1) of one rating; default: that of people who rated these stories, else 0.3",
    "judged": "of a plan, the judge's correlation with what many people would say",
    "pay": "of a plan, what an hour costs",
}
_REPORT = {
    "rule": "how people in doubt are named: signs, or openmeva (a whole story below 4, or a damaged one above 2)",
    "false": "share of attentive people whom the six signs may name",
    "simulated": "number of attentive people who are simulated for that",
}


@app.command("sample")
@takes(DesignOptions, _DESIGN)
@takes(StudyPlanOptions, _PLAN, name="planning")
def sample(
    source: Annotated[str, typer.Argument(metavar="DATASET|RUN", help="a dataset, or a run whose stories are rated")],
    *,
    options: DesignOptions,
    planning: StudyPlanOptions,
    criteria: Annotated[
        str | None, typer.Option("--criteria", metavar="SET", help="criteria set; default: the run's, else hanna")
    ] = None,
    criterion: Annotated[
        list[str] | None, typer.Option("--criterion", metavar="NAME", help="criterion of the set; several times; all")
    ] = None,
    consent: Annotated[
        Path | None, typer.Option("--consent", metavar="FILE", help="text of the consent page; default: a template")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="file to make; default: people.sqlite")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Design who rates which story, and make one file that the pages, the report and the export use.

    Every system's stories are spread evenly over people and over each beginning of a list. Nobody reads two stories
    of one prompt in a row, and all people are connected by stories they share. Each list holds repeats, and damaged
    stories that should get lower ratings. What cannot be designed is refused with the reason.

    Example: judge people sample demo -n 12 --raters 3 --set per_story=3

    Example: judge people sample runs/demo --raters 5 --set together=no --set core=30 -o runs/demo/people.sqlite

    Example: judge people sample demo --criteria overall --raters 4 --set ask=pairs -o pairs.sqlite

    Example: judge people sample demo --set plan=true --set pay=15
    """
    from judge.cli.table_options import emit
    from judge.lab.people.pair_study import draw_pairs
    from judge.lab.people.planning import plan, plan_table
    from judge.lab.people.printed import design_table
    from judge.lab.people.store import DEFAULT_NAME, StudyStore
    from judge.lab.people.study import draw

    dataset, chosen = _source(source, criteria)
    if criterion:
        wanted = {name.casefold() for name in criterion}
        chosen = [one for one in chosen if {one.name.casefold(), one.abbreviation.casefold()} & wanted]
    if planning.plan:
        emit(plan_table(plan(dataset, chosen, planning, options)), "table")
        return
    path = output or Path(DEFAULT_NAME)
    if path.exists():
        raise SpecError(f"{path} exists already; a study is never overwritten", hint="-o FILE makes another")
    text = _CONSENT if consent is None else consent.read_text(encoding="utf-8")
    drawing = draw_pairs if options.ask == "pairs" else draw
    drawn = drawing(dataset.stories(), dataset.name, chosen, options)
    StudyStore.create(path, drawn, text).close()
    emit(design_table(drawn), "table")
    if consent is None and not quiet:
        sys.stderr.write("the consent page is a template: --set consent=FILE gives your own words\n")
    if not quiet:
        sys.stderr.write(f"{path}: {len(drawn.stories)} stories; next: judge people serve {path}\n")


def _source(source: str, criteria: str | None) -> tuple[Dataset, Sequence[Criterion]]:
    """The dataset of a name, a file or a run, and the criteria set, which is the run's unless one is named."""
    from judge.inputs.criteria import load_criteria
    from judge.inputs.datasets import open_dataset

    path = Path(source)
    if path.is_dir() or path.suffix in (".yaml", ".yml"):
        from judge.asking.execution.preparation import stories_of_run

        plan, dataset = stories_of_run(path)
        return dataset, list((plan.criteria_set if criteria is None else load_criteria(criteria)).criteria)
    chosen = list(load_criteria(criteria or "hanna").criteria)
    return open_dataset(source, criteria=chosen), chosen


_CONSENT = """Who asks: (name and contact of the study). Ethics approval: (number).

You read stories by people or by machines, and rate each. Some are repeated or altered as a control. A text may offend \
you: you can skip it, and need not say why.

What is kept: your ratings, comments and times, under a pseudonym; no name and no address. They may be published under \
this pseudonym. You may leave at any time, with or without your answers: tell the person who invited you.

Please rate by yourself, without the help of another person or a program."""


@app.command("serve")
def serve(
    study: _Study,
    host: Annotated[
        str, typer.Option("--host", help="address of the pages; any other than loopback needs a key, which is printed")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", help="port of the pages; 0: any free port; default: first free from 8765 on")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Serve a study's pages until Ctrl-C; the links, one for each person, are printed at the start.

    People consent, read the guidelines, practise, and rate by keyboard, mouse or touch, with breaks of any length. Each
    answer is in the file before the page says "Saved". Nobody sees a system, a judge or another person's answers.

    Example: judge people serve people.sqlite
    """
    from judge.lab.people.store import StudyStore
    from judge.show.web.owners import lasting
    from judge.show.web.people_pages import application, owners_of
    from judge.show.web.server import check_installed
    from judge.show.web.server import serve as serve_pages

    check_installed()
    with StudyStore.open(study) as store:
        owners, gone = owners_of(store), store.withdrawn()
        links = {f"link of {name}": owners.link(name) for name in store.raters() if name not in gone}
        serve_pages(
            lambda access: application(store, access),
            host=host,
            port=port,
            title="pages",
            quiet=quiet,
            key=lasting(store, "page_key"),
            also=links,
        )


@app.command("pack")
def pack(
    study: _Study,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="folder to write the pages to")],
) -> None:
    """Write an HTML file for each person who cannot reach a server; it works offline, and saves a file of answers.

    Example: judge people pack people.sqlite -o pack
    """
    from judge.lab.people.store import StudyStore
    from judge.show.web.people_pages import write_pack

    with StudyStore.open(study, writing=False) as store:
        for path in write_pack(store, output):
            print(path)


@app.command("import")
def import_(
    study: _Study,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="file of answers that a page of a pack saved")],
) -> None:
    """Import a person's answers from the file that a page of `judge people pack` saved; twice changes nothing.

    Where the study holds another answer already, both are kept, the study's counts, and they are listed.

    Example: judge people import people.sqlite answers-r01.json
    """
    from judge.lab.people.exchanged import import_answers
    from judge.lab.people.store import StudyStore

    with StudyStore.open(study) as store:
        for line in import_answers(store, file):
            typer.echo(line)


@app.command("report")
@takes(PeopleOptions, _REPORT, without=("resamples", "seed"))
def report(
    study: _Study,
    *,
    options: PeopleOptions,
    judged: Annotated[
        Path | None,
        typer.Option("--judged", metavar="RUN", help="run that rated the stories; default: that beside STUDY"),
    ] = None,
    full: Full = False,
    form: Form = "table",
    output: Output = None,
) -> None:
    """How far the ratings are, how well people agree, and whose work stands out, by which sign.

    Nobody is left out automatically: tables with everybody and without those in doubt stand side by side, also of a
    judge's agreement. Leaving people out for disagreeing makes agreement an upper bound.

    Example: judge people report people.sqlite

    Example: judge people report people.sqlite --set rule=openmeva --full
    """
    from judge.cli.table_options import emit
    from judge.lab.people import compared
    from judge.lab.people.printed import compared_tables, report_tables
    from judge.lab.people.report import report as found
    from judge.lab.people.store import read_study

    read = read_study(study)
    if read.pairs:
        emit(compared_tables(compared.report(read, options)), form, output, full=full)
    else:
        emit(report_tables(found(read, options, _judges(read.path, judged))), form, output, full=full)


def _judges(study: Path, run: Path | None) -> dict[str, dict[tuple[str, str], float]]:
    """Mean ratings of the judges of a run, given or beside the study; none where that beside it has none."""
    from judge.questions.source import Source
    from judge.questions.summary.in_progress import judged_by_key

    if run is None and not (study.parent / "run.yaml").is_file():
        return {}
    try:
        return judged_by_key(Source([run or study.parent], "ours", (), explanations=False))
    except JudgeError as error:
        if run is not None:
            raise
        sys.stderr.write(f"no judge stands beside people: {error}\n")
        return {}


@app.command("export")
def export(
    study: _Study,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help=".jsonl: a dataset with ratings; .csv: every answer with its use"
        ),
    ],
    leave_out: Annotated[
        list[str] | None,
        typer.Option("--leave-out", metavar="RATER", help="person whose ratings are left out; several times"),
    ] = None,
    comments: Annotated[bool, typer.Option("--comments", help="comments too; they may hold personal facts")] = False,
    close: Annotated[
        bool | None,
        typer.Option("--close", help="true: close the study; answers that come later are kept and do not count"),
    ] = None,
) -> None:
    """Write people's ratings under pseudonyms: a dataset that run, check and correlate take, or all answers.

    The dataset holds ratings of stories alone. In a .csv the column `use` tells rating, repeat, check and practice.

    Example: judge people export people.sqlite -o rated.jsonl

    Example: judge people export people.sqlite -o answers.csv --set leave_out=r07
    """
    from judge.lab.people.exchanged import write_answers, write_dataset
    from judge.lab.people.store import StudyStore, read_study

    if close is not None:
        with StudyStore.open(study) as store:
            store.close_study(closed=close)
    found = read_study(study)
    write = write_answers if output.suffix.lower() == ".csv" else write_dataset
    typer.echo(write(found, output, leave_out=tuple(leave_out or ()), comments=comments))
    try:
        with StudyStore.open(study) as store:
            store.exported(found.sequence, output.name)
    except DataError as error:
        sys.stderr.write(f"the study does not keep that it was exported: {error}\n")


@app.command("withdraw")
def withdraw(
    study: _Study,
    rater: Annotated[str, typer.Argument(metavar="RATER", help="the person's pseudonym, such as r07")],
    erase: Annotated[bool, typer.Option("--erase", help="blank the answers in the file as well, for good")] = False,
) -> None:
    """Take a person out of every table, export and pack made from now on.

    Example: judge people withdraw people.sqlite r07 --erase
    """
    from judge.lab.people.store import StudyStore

    with StudyStore.open(study) as store:
        count = store.withdraw(rater, erase=erase)
    what = "blanked in the file" if erase else "left out of everything; --erase also blanks them in the file"
    typer.echo(f"{rater} has left: {count} answers {what}. Make earlier exports and packs anew.")
