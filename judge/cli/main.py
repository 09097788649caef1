"""The command line: imports only the command asked for, and turns errors into sentences. Never computes."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import textwrap
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from judge.cli import completion
from judge.cli.option_words import complaint, mend
from judge.cli.streams import guarded
from judge.errors import JudgeError, nearest
from judge.printing import terminal
from judge.redaction import redact
from judge.version import __version__

COMMANDS: dict[str, tuple[str, str, str]] = {
    "demo": ("start.demo", "Start here", "A whole run by the control judge on packaged stories: no key, no network."),
    "try": (
        "start.try_",
        "Start here",
        "One story, several Eval-Prompts side by side: request, answer, what was read.",
    ),
    "init": ("start.init", "Start here", "Write a commented run.yaml to start from."),
    "doctor": (
        "start.doctor",
        "Start here",
        "What is installed, reachable and cached, and the command that mends the rest.",
    ),
    "data": ("stories.data", "Stories and prompts", "Datasets: list, fetch, show, check, add, convert."),
    "prompts": ("stories.prompts", "Stories and prompts", "Eval-Prompts and criteria: list, show, render, check."),
    "run": ("runs.run", "Runs", "Ask a judge everything a run defines; run again to go on."),
    "merge": ("runs.merge", "Runs", "Join what judge run --shard i/N answered, as in a Slurm array, exactly once."),
    "status": ("runs.status", "Runs", "How far runs are, and what became of each repeat."),
    "retry": ("runs.retry", "Runs", "Ask failed repeats again (and with --unparsed, answers without a rating)."),
    "serve-command": ("runs.serve_command", "Runs", "The line that starts a vLLM server for a run."),
    "verify": ("runs.verify", "Runs", "Derive every hash of a run again and compare; check a bundle."),
    "parse": ("results.parse", "Results", "Read ratings out of answers: a JSON Lines file, or a run."),
    "ratings": ("results.ratings", "Results", "The ratings table: one row for each repeat and each rater."),
    "disagreements": (
        "results.disagreements",
        "Results",
        "Stories where judge and people, or repeats, differ most, with texts.",
    ),
    "coverage": ("results.coverage", "Results", "What was asked, answered and parsed, and what loss goes with."),
    "consistency": ("results.consistency", "Results", "How far a judge agrees with itself over repeats."),
    "diagnose": ("results.diagnose", "Results", "Leniency, length bias, halo and other ways to go wrong, as tests."),
    "systems": ("results.systems", "Results", "How good each system's stories are: means, ranks, groups, differences."),
    "criteria": (
        "results.criteria",
        "Results",
        "Whether criteria measure different things: tau between them, halo, scale use.",
    ),
    "correlate": (
        "results.correlate",
        "Results",
        "How far judges agree with people, beside human ceiling and control.",
    ),
    "compare": ("results.compare", "Results", "Eval-Prompts, judges or runs against each other on the same stories."),
    "report": ("show.report", "Results", "One HTML page of a run's results, with methods, BibTeX and a checklist."),
    "figure": (
        "show.figure",
        "Results",
        "Pictures of results for papers: heat map, distributions, consistency, calibration...",
    ),
    "reproduce": ("results.reproduce", "Results", "The studies' published tables: printed, as published, corrected."),
    "jury": (
        "results.jury",
        "Results",
        "A panel of judges as one, out of fold, beside its best member and the control.",
    ),
    "view": ("show.view", "Results", "Local pages over all runs: progress, judgments, stories, prompts, maps."),
    "contamination": (
        "results.contamination",
        "Results",
        "Whether models have seen the stories: Min-K% Prob and relatives, AUC, what follows.",
    ),
    "explain": (
        "explanations.explain",
        "Results",
        "What explanations say: a map, clusters, keywords, and numbers beside them.",
    ),
    "audit": (
        "explanations.audit",
        "Results",
        "People judge explanations: sample, serve, pack, import, export, report.",
    ),
    "export": ("exchange.export", "Exchange", "What a run lacks as a batch file, for vllm run-batch and batch APIs."),
    "import": (
        "exchange.import_",
        "Exchange",
        "Ratings and answers made elsewhere: batch results, score files, tables, raw answers.",
    ),
    "bundle": (
        "exchange.bundle",
        "Exchange",
        "Runs as one archive for artifact review; judge verify checks it anywhere.",
    ),
    "batch": ("exchange.batch", "Exchange", "A run through a provider's batch API: submit, status, collect."),
}
"""Command -> (module in judge.cli with `app`, panel, one line of help). Nothing is imported to print the help."""


class LazyGroup(TyperGroup):
    """Imports a command's module when it is asked for, so that `judge --help` stays quick."""

    _naming = False

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  the base class's form
        """All commands, in reading order."""
        return list(COMMANDS)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names that begin so, each with its line of help; no command is imported for it."""
        self._naming = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._naming = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  the base class's form
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        if self._naming:
            return TyperCommand(cmd_name, short_help=COMMANDS[cmd_name][2])
        module = importlib.import_module(f"judge.cli.{COMMANDS[cmd_name][0]}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command asked for; of one that is not known, the nearest is named."""
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            close = nearest(args[0], COMMANDS)
            guess = f" Did you mean {close!r}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{guess}")
        return super().resolve_command(ctx, args)

    def make_context(self, *given: Any, **named: Any) -> Any:
        """As the base class, its complaints about words of the command line without keys."""
        with _without_keys():
            return super().make_context(*given, **named)

    def invoke(self, ctx: Any) -> Any:
        """As the base class, its complaints about words of the command line without keys."""
        with _without_keys():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  the base class's form
        """The list of commands, from the table above."""
        print(overview())


@contextlib.contextmanager
def _without_keys() -> Iterator[None]:
    """Takes keys out of the sentence of an error in the command line, which repeats words of it."""
    try:
        yield
    except Exception as error:
        words = getattr(error, "message", None)
        if isinstance(words, str) and hasattr(error, "format_message"):
            error.message = redact(words)  # type: ignore[attr-defined]
        raise


def overview() -> str:
    """What `judge --help` prints; what a narrow screen has no room for goes on in further lines."""
    screen = terminal.narrow()
    lines = _overview()
    if screen is not None:
        lines = [part for line in lines for part in _wrapped(line, screen)]
    return "\n".join(lines)


def _wrapped(line: str, width: int) -> list[str]:
    indent = " " * (4 if line.startswith(" ") else 2)
    name, _, text = line.strip().partition(" ")
    words = f"{name}: {text.strip()}" if name in COMMANDS else " ".join(line.split())
    return textwrap.wrap(words, width, initial_indent=indent[2:], subsequent_indent=indent) or [""]


def _overview() -> list[str]:
    lines = [
        "judge: measure whether a language model can stand in for human readers of stories",
        "",
        "  judge COMMAND [OPTIONS]       judge COMMAND --help       judge --version",
    ]
    width = max(map(len, COMMANDS))
    panel = ""
    for name, (_, group, text) in COMMANDS.items():
        if group != panel:
            lines += ["", group]
            panel = group
        lines.append(f"  {name.ljust(width)}  {text}")
    lines += ["", "RUN is a run.yaml, its folder (all its judges) or one result folder."]
    lines += ["Try first: judge demo", "Completion by the Tab key: judge --install-completion [bash|zsh|fish]"]
    return lines


app = typer.Typer(
    cls=LazyGroup, add_completion=False, no_args_is_help=False, rich_markup_mode=None, pretty_exceptions_enable=False
)


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and leave."),  # noqa: FBT003
) -> None:
    """Print help where no command is given."""
    if version:
        print(f"judge {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(overview())


def main(arguments: list[str] | None = None) -> None:
    """Run one command; exit codes as the README lists them."""
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.excepthook = _traceback
    with guarded():
        try:
            _run(arguments)
        except JudgeError as error:
            fail(error)


def _run(arguments: list[str]) -> None:
    if completion.REQUEST in os.environ:
        completion.prepare()
    elif arguments in (["--help"], ["-h"], []):
        print(overview())
        return
    elif arguments[0] == completion.SHOW:
        completion.show(arguments[1:])
        return
    elif arguments[0] == completion.INSTALL:
        completion.install(arguments[1:])
        return
    screen = terminal.narrow()
    # typer writes help for 50 columns at least, unless told otherwise.
    _command(arguments, {"terminal_width": screen} if screen else {})


def _command(arguments: list[str], extra: dict[str, Any]) -> None:
    """Run one command, and again where the user lets a key go to a server; nothing has been asked until then."""
    from judge.cli.trust_question import allowed

    while True:
        try:
            app(args=arguments, prog_name="judge", **extra)
        except JudgeError as error:
            # By name, so that --help need not import who raises it.
            if type(error).__name__ != "UntrustedHostError" or not allowed(error):  # type: ignore[arg-type]
                raise
        else:
            return


def _traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A bug's traceback, keys taken out."""
    import traceback

    sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))


def fail(error: JudgeError) -> None:
    """Say what is wrong and what mends it, and leave with exit code 1."""
    bold, reset = ("\x1b[1;31m", "\x1b[0m") if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else ("", "")
    sys.stderr.write(f"{bold}error:{reset} {complaint(error)}\n")
    if error.hint:
        sys.stderr.write(f"hint: {mend(error)}\n")
    sys.exit(1)
