"""Options that all table commands share, and what they show besides tables: lists, progress, messages."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from judge.base.choices import Format
from judge.base.errors import JudgeError
from judge.base.wording import written
from judge.cli.declared import RARE, flag

if TYPE_CHECKING:
    from judge.base.printing.tables import Table

_Said = TypeVar("_Said")
_Read = TypeVar("_Read")

# Two-column tables of names and texts, wrapped to the width of the screen.

_WIDEST, _NARROWEST = 80, 30


def listing(title: str, facts: Sequence[tuple[str, str]], signature: str = "") -> Table:
    """Table of names and texts without headings; long texts wrap at the screen, at most at 80 columns."""
    from judge.base.printing.tables import Column, Table

    screen = min(_WIDEST, max(_NARROWEST, shutil.get_terminal_size((_WIDEST, 24)).columns))
    beside = max((len(name) for name, _ in facts), default=0) + 2
    columns = [Column("name", ""), Column("text", "", wrap=screen - beside)]
    return Table(title, columns, [{"name": name, "text": text} for name, text in facts], signature)


# Progress bar on stderr while a large run's answers are parsed for the first time; only on a terminal.


@contextmanager
def reading_bar(answers: int) -> Iterator[Callable[[int], None]]:
    """Context with a bar, which yields a function of the number read so far; for `read(..., telling=reading_bar)`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    # Where stderr is a file, a bar that is gone would leave an empty line.
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("reading answers", total=answers)
        yield lambda done: progress.update(task, completed=done)


# Options that several commands on runs share; each command sets its own defaults.

Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="key of run.yaml with another value; may be given several times"),
]
OtherJudges = Annotated[
    list[str] | None, typer.Option("--judge", help="judge in place of the definition's; may be given several times")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="number of stories (or pairs), from the first of the plan on")
]


# Options and messages as the command line writes them: flags such as ``--level system`` in place of Python arguments.


class Flags:
    """Writes names of options as command-line flags, such as ``--level system``."""

    def option(self, field: str) -> str:
        return flag(field)

    def setting(self, field: str, value: object, *, exact: bool) -> str:
        """Flag with its value, or the flag alone for True; `exact`: a Python literal, else quoted for the shell."""
        own = self.option(field)
        if field in RARE:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            return f"{own}={text if exact else shlex.quote(text)}"
        if value is True:
            return own
        if isinstance(value, Mapping):
            pairs = [f"{key}={word}" for key, word in value.items()]
            return " ".join(f"{own} {repr(pair) if exact else shlex.quote(pair)}" for pair in pairs)
        if isinstance(value, float):
            return f"{own} {value:g}"
        return f"{own} {repr(value) if exact and isinstance(value, str) else shlex.quote(str(value))}"


FLAGS = Flags()


def with_flags(words: str) -> str:
    """`words` with the names of options written as command-line flags."""
    return written(words, FLAGS)


def complaint(error: JudgeError) -> str:
    """An error's message as the command line prints it."""
    return with_flags(error.sentence)


def mend(error: JudgeError) -> str | None:
    """An error's hint as the command line prints it; None if the error has no hint."""
    return None if error.hint is None else with_flags(error.hint)


def asked(read: Callable[[_Said], _Read], said: _Said) -> _Read:
    """What `read` makes of what was `said`. Where a table has two readings, a person at a terminal is asked which; in a
    script the error names both."""
    from judge.inputs.datasets.files.reading import TwoReadingsError

    try:
        return read(said)
    except TwoReadingsError as doubt:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        yes = typer.confirm(doubt.question[:1].upper() + doubt.question[1:].rstrip("?"), default=True, err=True)
        return asked(read, doubt.choices[0 if yes else 1])


def emit(
    tables: Table | Sequence[Table], form: str = "table", output: Path | None = None, *, full: bool = True
) -> None:
    """Print or write tables, with flags in their notes; unless `full`, plain text is the first screen alone."""
    from judge.base.printing import output as printing
    from judge.base.printing.tables import Table, worded

    group = [tables] if isinstance(tables, Table) else tables
    printing.emit([worded(table, FLAGS) for table in group], form, output, rest=None if full else FLAGS)


Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="a run.yaml, its folder, or a result folder")]
DropSystem = Annotated[
    list[str] | None,
    typer.Option(
        "--drop-system", metavar="SYSTEM", help="system to leave out, with all its stories; may be given several times"
    ),
]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="CRITERION", help="people's criterion that every criterion is compared with"),
]
Form = Annotated[
    Format, typer.Option("--format", metavar="FORM", help="form of the tables: table, json, csv, md or latex")
]
Full = Annotated[bool, typer.Option("--full", help="everything: all tables, rows, columns and notes")]
# Forms of single rows: also a line of JSON for each.
Rows = Literal["table", "jsonl", "json", "csv", "md", "latex"]

Long = Annotated[bool, typer.Option("--long", help="long layout: one row for each number")]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="file for the output; .csv, .json, .md or .tex chooses the form"
    ),
]
ParserName = Annotated[str, typer.Option("--parser", help="parser of answers: ours, or as-published")]
Criteria = Annotated[
    list[str] | None,
    typer.Option("--criterion", metavar="NAME", help="criterion to include; may be given several times; default: all"),
]
Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", metavar="NAME", help="judge to include; may be given several times; default: all"),
]
EvalPrompts = Annotated[
    list[str] | None,
    typer.Option(
        "--eval-prompt", metavar="NAME", help="Eval-Prompt to include; may be given several times; default: all"
    ),
]
PanelName = Annotated[
    str | None, typer.Option("--panel", metavar="NAME", help="panel of people to include, such as expert; default: all")
]
PassRate = Annotated[
    bool,
    typer.Option(
        "--pass-rate", help="additional criterion 'pass rate': share of a story's binary criteria that it passes"
    ),
]
ScoresFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--contamination", metavar="FILE", help="scores file of judge contamination score; may be given several times"
    ),
]
Width = Annotated[
    str, typer.Option("--width", help="width of the picture: column (3.03 in) or page (6.3 in), as in ACL and TACL")
]
Resamples = Annotated[int, typer.Option("--resamples", help="number of resamples for confidence intervals")]
Seed = Annotated[int, typer.Option("--seed", help="seed of the resamples")]
# Every command is given it (`judge.cli.declared`).
Quiet = Annotated[bool, typer.Option("--quiet", help="no progress messages")]


_IMAGES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".eps", ".ps")


def is_picture(output: Path | None) -> bool:
    """Whether the file's suffix asks for a picture. Raises SpecError for a form that is not drawn."""
    if output is None or output.suffix.lower() not in _IMAGES:
        return False
    from judge.questions.figures.panels import check_suffix

    check_suffix(output)
    return True
