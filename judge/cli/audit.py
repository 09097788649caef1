"""Command `judge audit`: human annotators mark errors in judges' explanations. The implementation is in
`judge.explanations.audit`; the commands for web pages are in `audit_pages`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import SpecError
from judge.cli.declared import takes
from judge.cli.table_options import EvalPrompts, Form, Full, Output, ParserName, Quiet, is_picture
from judge.explanations.audit import options as sampling
from judge.explanations.audit.options import ReportOptions, SampleOptions

if TYPE_CHECKING:
    from judge.explanations.audit.population import Population
    from judge.explanations.audit.report import AuditReport
    from judge.explanations.audit.store import AuditStore


# Commands `judge audit serve` and `judge audit pack`: web pages for annotators. The pages are in `judge.show.web`.

_Host = Annotated[
    str, typer.Option("--host", help="address of the pages; any other than loopback needs a key, which is printed")
]
_Port = Annotated[
    int | None,
    typer.Option("--port", help="port of the pages; 0: any free port; default: the first free one from 8765 on"),
]
_Audit = Annotated[Path, typer.Argument(metavar="AUDIT", help="audit file, or the folder of its run")]


def serve(
    audit: _Audit,
    host: _Host = "127.0.0.1",
    port: _Port = None,
    annotators: Annotated[
        str,
        typer.Option(
            "--annotators", metavar="NAME,NAME", help="annotators to register; a link for each of them is printed"
        ),
    ] = "",
    show_judge: Annotated[
        bool,
        typer.Option("--show-judge", help="judge, Eval-Prompt and rating beside each explanation; default: hidden"),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Serve an audit's pages to annotators until Ctrl-C; the first line on stdout is the address.

    Each annotator enters a name, practises, and answers by keyboard, mouse or touch, at the same time as others and
    with breaks of any length. Every answer is in the file before the page shows "saved". On other machines annotators
    need the printed address with its key, which stays the same when the server is started again. Results and the second
    round, in which disagreements are settled, have a separate address: annotators should not see them before they have
    finished.

    Annotators do not see which judge, which Eval-Prompt and which rating an explanation belongs to, unless --show-judge
    is given; the audit's file, its report and its exports keep them.

    Each annotator's answers open by a personal link: the address of the page that begins the work. The links of all
    registered annotators are printed at the start, in case one is lost.

    Example: judge audit serve runs/demo

    Example: judge audit serve audit.sqlite --host 0.0.0.0 --port 9000
    """
    from judge.base.printing.tables import printable
    from judge.explanations.audit.store import AuditStore
    from judge.show.web.audit_annotators import Annotators
    from judge.show.web.audit_pages import application, lasting_key
    from judge.show.web.server import check_installed
    from judge.show.web.server import serve as serve_pages

    check_installed()
    with AuditStore.open(audit) as store:
        for name in _names(annotators):
            store.register(name)
        _hide(store, show_judge=show_judge)
        owners = Annotators(store)
        own = {f"own link of {printable(name)}": owners.link(name) for name in store.registered()}
        if not quiet:
            sys.stderr.write(f"{store.path}: {store.item_count} explanations\n")
        serve_pages(
            lambda access: application(store, access),
            host=host,
            port=port,
            title="annotators",
            quiet=quiet,
            key=lasting_key(store),
            also={"results and the second round, not for annotators,": "/results"} | own,
        )


def _hide(store: AuditStore, *, show_judge: bool) -> None:
    from judge.explanations.audit.items import BLINDABLE

    # An audit that was drawn with some of them hidden keeps these hidden.
    drawn = () if set(store.blind) == set(BLINDABLE) else store.blind
    store.hide(drawn if show_judge else BLINDABLE)


def pack(
    audit: _Audit,
    annotators: Annotated[
        str, typer.Option("--annotators", metavar="NAME,NAME", help="annotators' names, one page for each")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="folder to write the pages to")],
) -> None:
    """Write an HTML file for each annotator who cannot reach a server; it works offline, by double-click.

    Answers stay in the annotator's browser until they are downloaded as a file, which judge audit import reads. What
    the audit hides (the system, and the judge and rating where they are blinded) is not in the pages.

    Example: judge audit pack runs/demo --annotators ann,bob -o pack
    """
    from judge.base.errors import SpecError
    from judge.explanations.audit.store import AuditStore
    from judge.show.web.audit_pages import write_pack

    names = _names(annotators)
    if not names:
        raise SpecError("--annotators names nobody", hint="as in --annotators ann,bob")
    with AuditStore.open(audit, writing=False) as store:
        for path in write_pack(store, names, output):
            print(path)


def _names(annotators: str) -> list[str]:
    return [name.strip() for name in annotators.split(",") if name.strip()]


def register(app: typer.Typer) -> None:
    """Add `serve` and `pack` to `judge audit`."""
    app.command("serve")(serve)
    app.command("pack")(pack)


app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_Runs = Annotated[
    list[str] | None, typer.Argument(metavar="[RUN...]", help="a run.yaml, its folder, or a result folder")
]
_Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="audit file to create; default: audit.sqlite beside run.yaml")
]
_Source = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="source in place of runs: JSON of judge diagnose --layout stories --set long=true, or a table of texts",
    ),
]
_By = Annotated[str, typer.Option("--by", help="variables whose combinations are the strata")]
_Spread = Annotated[str, typer.Option("--spread", help="variables over which a stratum's sample is spread")]
_Blind = Annotated[
    str,
    typer.Option(
        "--blind", help="variables hidden from annotators; all by default, '' for none (judge audit serve --show-judge)"
    ),
]
_Categories = Annotated[
    Path | None,
    typer.Option(
        "--categories",
        metavar="NAME|FILE.yaml",
        help="error categories in place of the default five: comments (StoryER's four questions), or your own file",
    ),
]
_Criteria = Annotated[
    str | None, typer.Option("--criteria", metavar="SET", help="criteria set with definitions, for --from")
]
_Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=COLUMN", help="column that holds a field, for --from; may be given several times"
    ),
]

_RatesBy = Annotated[
    str,
    typer.Option(
        "--by",
        help="variables whose levels get error rates: judge, eval_prompt, criterion, topic, system, rating...",
    ),
]


_STRATA, _SPREAD_OVER = ",".join(sampling.DEFAULT_BY), ",".join(sampling.DEFAULT_SPREAD)
_HIDDEN = ",".join(sampling.DEFAULT_BLIND)
_RATES_BY = ",".join(sampling.REPORT_BY)
SAMPLE = {
    "n": "number of explanations to draw",
    "allocation": "size of strata in the sample: all equal, or proportional to their size",
    "first_repeat": "first repeat of each query only",
    "per_story": "largest number of explanations of one story",
    "seed": "seed of the sample and of annotators' orders",
}
REPORT = {
    "annotators": "annotator whose answers are counted; may be given several times; default: all",
    "top": "number of disagreements that are listed; 0: all",
    "resamples": "number of resamples of items, for the interval of alpha where each item is of another story",
    "seed": "seed of the resamples",
}


@app.command("sample")
@takes(SampleOptions, SAMPLE, without=("by", "spread", "blind"))
def sample(
    runs: _Runs = None,
    *,
    options: SampleOptions,
    output: _Output = None,
    source: _Source = None,
    by: _By = _STRATA,
    spread: _Spread = _SPREAD_OVER,
    blind: _Blind = _HIDDEN,
    eval_prompt: EvalPrompts = None,
    categories: _Categories = None,
    criteria: _Criteria = None,
    column: _Column = None,
    form: Form = "table",
    quiet: Quiet = False,
    parser: ParserName = "ours",
) -> None:
    """Draw a stratified sample of explanations for people to judge into one audit file, and print the strata.

    Variables of --by and --set spread: run, judge, dataset, criterion, eval_prompt, system, status, rating (to the
    nearest point). Of judge and people: gap (in three bands). Of texts: topic (of the reasons), disagreement (with
    the rating, from near to far), quotations (found in the story or not), wording (generic or specific). Further:
    cluster (of the map from judge explain), perturbation (of stories from judge stress make, including unchanged
    ones; hidden from annotators).

    Weights are kept, so that judge audit report gives rates for all explanations that could be drawn.

    Example: judge audit sample runs/my-run -n 100

    Example: judge audit sample runs/my-run --by topic,gap -n 100

    Example: judge audit sample --from differ.json -n 40 --criteria hanna -o differ.audit.sqlite
    """
    from judge.cli.table_options import emit
    from judge.explanations.audit.items import check_blind, load_form
    from judge.explanations.audit.sampling import sample as draw
    from judge.explanations.audit.store import AuditStore

    strata = _words(by)
    # Strata differ in what they are drawn by already; of the usual variables no one has to take that out by hand.
    usual = tuple(name for name in _words(spread) if name not in strata or spread != _SPREAD_OVER)
    options = replace(options, by=strata, spread=usual, blind=check_blind(_words(blind)))
    asked = load_form(categories)
    path = output or _beside(runs, source)
    _refuse_overwriting(path)
    if not quiet:
        typer.echo(f"reading {source or ' '.join(runs or ())}", err=True)
    population = _population(runs, source, parser, options.first_repeat, criteria, column).only(eval_prompt or ())
    drawn = draw(population, options, asked.categories)
    AuditStore.create(
        path,
        drawn.subjects,
        form=asked,
        seed=options.seed,
        blind=options.blind,
        sampling=drawn.sampling,
        notes=drawn.notes,
    ).close()
    emit(drawn.table, form)
    typer.echo(f"{path}: {len(drawn.subjects)} explanations; next: judge audit serve {path}", err=True)


def _refuse_overwriting(path: Path) -> None:
    if path.exists():
        raise SpecError(f"{path} exists already; an audit is never overwritten", hint="-o FILE makes another")


@app.command("import")
def import_(
    audit: _Audit,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="file of answers: the study's CSV, Label Studio's JSON, or JSON from the pages"
        ),
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="answers of the file, in place of other answers in the audit")
    ] = False,
    categories: Annotated[
        Path | None,
        typer.Option(
            "--categories",
            metavar="NAME|FILE.yaml",
            help="error categories of the columns, for a new audit: comments, or a file",
        ),
    ] = None,
) -> None:
    """Import annotators' answers from a file into an audit; importing it again changes nothing.

    A CSV in the HANNA study's format holds explanations too, so it creates a new audit where there is none. Its
    three rows for each explanation become annotators position 1 to 3, and the coding of its first question is
    reversed.

    Example: judge audit import study.sqlite user_study.csv
    """
    from judge.explanations.audit.database import audit_file
    from judge.explanations.audit.items import load_form
    from judge.explanations.audit.label_studio import import_file

    audit = audit_file(audit)
    if categories is not None and audit.exists():
        raise SpecError(f"{audit} has its categories already; --set categories is for a new audit")
    merged, created = import_file(audit, file, replace=replace, form=load_form(categories) if categories else None)
    typer.echo(f"{audit}: {'made; ' * created}{merged.sentence()}")


@app.command("export")
def export(
    audit: _Audit,
    output: Annotated[Path, typer.Option("-o", "--output", help="file to write")],
    to: Annotated[
        str,
        typer.Option("--to", help="form of the file: csv (the study's), label-studio, answers (of --set annotator)"),
    ] = "csv",
    annotator: Annotated[
        str | None, typer.Option("--annotator", help="annotator whose answers are written, for --to answers")
    ] = None,
) -> None:
    """Export an audit: answers as the study's CSV, items as Label Studio tasks, or one annotator's answers.

    In the CSV's column Answer.a-1-guidelines.1 a 1 means no error, as in the study's file; the last column repeats
    this.

    Example: judge audit export audit.sqlite --to label-studio -o tasks.json
    """
    from judge.explanations.audit.answers_file import write_answers
    from judge.explanations.audit.label_studio import write_tasks
    from judge.explanations.audit.store import read_audit
    from judge.explanations.audit.study_csv import write_study_csv

    audit_rows = read_audit(audit)
    if to == "csv":
        write_study_csv(audit_rows, output)
    elif to == "label-studio":
        typer.echo(f"{write_tasks(audit_rows, output)}: labeling configuration")
    elif to == "answers":
        annotators = audit_rows.annotation.annotators
        if annotator not in annotators:
            raise SpecError(f"--set annotator must be one of {', '.join(annotators) or 'nobody yet'}")
        write_answers(audit_rows, str(annotator), output)
    else:
        raise SpecError(f"--to {to!r} is not known; allowed: csv, label-studio, answers")
    typer.echo(f"{output}: written")


@app.command("report")
@takes(ReportOptions, REPORT, without=("by",))
def report(
    audit: _Audit,
    *,
    by: _RatesBy = _RATES_BY,
    options: ReportOptions,
    full: Full = False,
    form: Form = "table",
    output: Output = None,
) -> None:
    """Error rates by each way of counting, agreement between annotators, strata, disagreements.

    Items that an annotator has begun but not finished are not counted, and no answer is filled in.

    Example: judge audit report runs/my-run

    Example: judge audit report study.sqlite --top 0 --format md -o audit.md

    Example: judge audit report runs/my-run -o audit.pdf
    """
    from judge.cli.table_options import emit
    from judge.explanations.audit.printed import audit_tables
    from judge.explanations.audit.report import report as found
    from judge.explanations.audit.store import read_audit

    if output is not None and is_picture(output):
        _draw(found(read_audit(audit), replace(options, by=())), output)
        return
    emit(audit_tables(found(read_audit(audit), replace(options, by=_words(by)))), form, output, full=full)


def _draw(audited: AuditReport, output: Path) -> None:
    from judge.questions.charts import estimates
    from judge.questions.figures import forest, panels

    drawing = estimates.audited_errors(audited)
    panels.write(forest.draw(drawing, panels.inches_of("page")), output)
    typer.echo(f"{output}: {len(drawing.lines)} errors, {len(audited.annotators)} annotators")


def _population(
    runs: list[str] | None,
    source: Path | None,
    parser: str,
    first_repeat: bool,
    criteria: str | None,
    column: list[str] | None,
) -> Population:
    from judge.explanations.audit.population import read_runs
    from judge.inputs.datasets.files.column_guess import column_options

    if (source is None) == (not runs):
        raise SpecError("give RUNs, or --from FILE, and not both")
    if source is not None:
        from judge.explanations.audit.population import read_population

        columns = {key: str(value) for key, value in (column_options(column) or {}).items()}
        return read_population(source, columns=columns, criteria=criteria, first_repeat=first_repeat)
    if criteria or column:
        raise SpecError("--criteria and --column are for --from FILE; runs know theirs")
    return read_runs(runs or [], parser, first_repeat=first_repeat)


def _beside(runs: list[str] | None, source: Path | None) -> Path:
    """Beside `source` if given, else beside the first run's run.yaml."""
    from judge.explanations.audit.database import DEFAULT_NAME

    if source is not None:
        return source.with_name(f"{source.stem}.{DEFAULT_NAME}")
    if not runs:
        raise SpecError("give RUNs, or --from FILE")
    first = Path(runs[0])
    folder = first.parent if first.is_file() else first
    return (folder.parent if (folder.parent / "run.yaml").is_file() else folder) / DEFAULT_NAME


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


register(app)
