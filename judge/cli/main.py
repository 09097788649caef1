"""The `judge` program: imports only the requested command, and prints errors as sentences."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, RawIOBase, TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from judge.base.errors import TELLS_INTACT, JudgeError, RunFolderError, nearest
from judge.base.printing import text_layout
from judge.base.printing.text_layout import visible
from judge.base.redaction import redact
from judge.cli import completion
from judge.cli.commands import COMMANDS, MEANT, PANELS, app_of, asked_elsewhere
from judge.cli.table_options import complaint, mend
from judge.version import __version__

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from judge.base.credentials.trust import UntrustedHostError


# Handles standard streams that are closed, full, no longer read, or limited to a narrow encoding.

# Exit code where the reader of the output has gone, as in `judge ratings RUN | head`: a shell's word for SIGPIPE.
UNREAD = 141


class _Noted(RawIOBase):
    """Keeps the last error in writing, which a later one may hide."""

    def __init__(self, file: RawIOBase) -> None:
        super().__init__()
        self._file = file
        self.failure: OSError | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()

    def write(self, data: Buffer, /) -> int | None:
        try:
            return self._file.write(data)
        except OSError as error:
            self.failure = error
            raise


@contextmanager
def guarded() -> Iterator[None]:
    """Context for printing: exits with an error message if output cannot be written, silently if the pipe is closed."""
    _open_closed()
    if sys.stdout is not sys.__stdout__:  # a notebook's, a test's
        yield
        return
    before: Any = sys.stdout
    before.flush()
    file = _Noted(getattr(before.buffer, "raw", before.buffer))
    sys.stdout = stream = _text(file, before)
    try:
        yield
    except BaseException:
        _flush(stream)
        if file.failure is None:
            raise
    else:
        _flush(stream)
    finally:
        sys.stdout = before
    if file.failure is not None:
        _silence(stream)
        _leave(file.failure)


def _open_closed() -> None:
    # Otherwise another file could get the descriptor number of a closed stream (`judge ... >&-`).
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # For reading only: what is printed fails, and is said to have failed. Error messages are dropped.
            number = os.open(os.devnull, os.O_RDWR if name == "stderr" else os.O_RDONLY)
            stream = open(number, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _text(file: _Noted, before: Any) -> TextIOWrapper:
    """UTF-8 unless a terminal or PYTHONIOENCODING says otherwise; other characters are escaped."""
    keep = before.isatty() or os.environ.get("PYTHONIOENCODING")
    lenient = before.errors if before.errors != "strict" else "backslashreplace"
    return TextIOWrapper(
        BufferedWriter(file),
        encoding=before.encoding if keep else "utf-8",
        errors=lenient,
        line_buffering=before.isatty() or before.write_through,
    )


def _flush(stream: TextIOWrapper) -> None:
    with suppress(OSError):
        stream.flush()


def _silence(stream: TextIOWrapper) -> None:
    """Drop what is buffered, so that the interpreter reports no error at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    _flush(stream)


def _leave(failure: OSError) -> None:
    if failure.errno == errno.EPIPE:
        sys.exit(UNREAD)
    if failure.errno == errno.EBADF:
        sys.stderr.write("error: standard output is closed\nhint: send it to a file, or to /dev/null\n")
    else:
        sys.stderr.write(f"error: standard output cannot be written: {failure.strerror}\n")
    sys.exit(1)


# Search for a damaged journal or manifest after a command has failed. The files are not changed.

_HINT = f"{TELLS_INTACT}; restore the journal from a copy"


def damage(arguments: Iterable[str]) -> RunFolderError | None:
    """Error on the first damaged journal or manifest of a command line's runs, or None."""
    from judge.answers.journal.snapshot import what_is_wrong
    from judge.asking.run_folder.layout import resolve
    from judge.asking.run_folder.manifest import read_manifest

    for word in arguments:
        if not Path(word).exists():
            continue
        with contextlib.suppress(JudgeError, OSError):
            for folder in resolve([word]):
                if folder.journal.is_file() and (why := what_is_wrong(folder.journal)) is not None:
                    return RunFolderError(f"{folder.journal} is damaged, or was changed: {why}", hint=_HINT)
                if (why := _manifest_wrong(read_manifest(folder.manifest))) is not None:
                    return RunFolderError(f"{folder.manifest} is damaged, or was changed: {why}", hint=_HINT)
    return None


_SHAPES = {"judge": str, "run": str, "asked": dict, "in_force": dict, "sittings": list, "totals": dict}


def _manifest_wrong(manifest: dict[str, object]) -> str | None:
    for key, kind in _SHAPES.items():
        if manifest.get(key) is not None and not isinstance(manifest[key], kind):
            return f"{key} is no {kind.__name__}"
    return None


# Asks the user, on a terminal, whether an API key may be sent to a server. No answer counts as no.


def allowed(error: UntrustedHostError) -> bool:
    """Whether the user lets API keys go to a server, once or always; False without a terminal."""
    from judge.base.credentials.trust import VARIABLE, remember

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{complaint(error)}\n")
    sys.stderr.write(
        f"Send {' and '.join(error.variables)} to {error.origin}? y: for this command, always: from now on, else: no  "
    )
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().lower()
    if answer in ("y", "yes"):
        os.environ[VARIABLE] = ",".join(filter(None, [os.environ.get(VARIABLE), str(error.origin)]))
        return True
    if answer == "always":
        sys.stderr.write(f"kept in {remember(error.origin, error.variables)}\n")
        return True
    return False


class LazyGroup(TyperGroup):
    """Command group that imports a command's module only when it is used, so `judge --help` stays fast."""

    _naming = False

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  the base class's form
        return list(COMMANDS)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names of commands with their help, without importing a module."""
        self._naming = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._naming = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  the base class's form
        """The command, whose module is imported now, except in shell completion; None if unknown."""
        if self._naming and cmd_name in COMMANDS:
            return TyperCommand(cmd_name, short_help=COMMANDS[cmd_name].text)
        if cmd_name not in COMMANDS and not asked_elsewhere(cmd_name):
            return None
        command = typer.main.get_command(app_of(cmd_name))
        command.name = cmd_name
        return command

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """The rest of the command line, without what every command takes."""
        own = args[: args.index("--")] if "--" in args else args
        ctx.meta["quiet"], ctx.meta["full"] = "--quiet" in own, "--full" in own
        return super().parse_args(ctx, [word for word in own if word not in ("--quiet", "--full")] + args[len(own) :])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The first argument's command; the error for an unknown name suggests the most similar one."""
        unknown = args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing
        if unknown and not asked_elsewhere(args[0]):
            close = nearest(args[0], [*COMMANDS, *MEANT])
            guess = f" Did you mean {MEANT.get(close, close)!r}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{guess}")
        return super().resolve_command(ctx, args)

    def make_context(self, *given: Any, **named: Any) -> Any:
        """As the base class; API keys are removed from an error that quotes the command line."""
        with _without_keys():
            return super().make_context(*given, **named)

    def invoke(self, ctx: Any) -> Any:
        """As the base class; API keys are removed from an error that quotes the command line."""
        with _without_keys():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  the base class's form
        print(overview())


@contextlib.contextmanager
def _without_keys() -> Iterator[None]:
    """Removes API keys from errors, which quote the command line."""
    try:
        yield
    except Exception as error:
        words = getattr(error, "message", None)
        if isinstance(words, str) and hasattr(error, "format_message"):
            # What typer repeats of the library that read the word says nothing to people.
            error.message = redact(words.removeprefix("Value error, ")) + _rare(error)  # type: ignore[attr-defined]
        raise


def _rare(error: Exception) -> str:
    """For an unknown option: how a rare one is given."""
    name = getattr(error, "option_name", "").lstrip("-").replace("-", "_")
    command = getattr(getattr(error, "ctx", None), "command", None)
    if name not in getattr(getattr(command, "callback", None), "rare_options", ()):
        return ""
    error.possibilities = None  # type: ignore[attr-defined]
    return f". It is given as --set {name}=VALUE"


def overview() -> str:
    """Text of `judge --help`, wrapped on a narrow screen."""
    screen = text_layout.narrow()
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
    for question, commands in PANELS.items():
        lines += ["", question, *(f"  {name.ljust(width)}  {entry.text}" for name, entry in commands.items())]
    lines += ["", "RUN is a run.yaml, its folder (all its judges) or one result folder."]
    lines += ["With any command: --full prints everything, --quiet no progress messages."]
    lines += ["Try first: judge demo", "Completion by the Tab key: judge --install-completion [bash|zsh|fish]"]
    return lines


app = typer.Typer(
    cls=LazyGroup, add_completion=False, no_args_is_help=False, rich_markup_mode=None, pretty_exceptions_enable=False
)


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="version of the program"),  # noqa: FBT003
) -> None:
    """Print the version with --version, or the overview of all commands if no command is given."""
    if version:
        print(f"judge {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(overview())


def main(arguments: list[str] | None = None) -> None:
    """Run a command (None = this process's). Exit codes are in docs/reference/file_formats.md."""
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.excepthook = _traceback
    with guarded():
        try:
            _run(arguments)
        except JudgeError as error:
            fail(error)
        except OSError as error:
            # A name that is too long, a folder without permission, a full disk: errors that name their file.
            if error.filename is None or error.strerror is None:
                raise
            fail(JudgeError(f"{error.filename}: {error.strerror}"))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, _sqlite_error()) as error:
            if (blamed := damage(arguments)) is None:
                raise
            blamed.__cause__ = error
            fail(blamed)


def _sqlite_error() -> type[Exception]:
    # `judge --help` does not import sqlite3.
    module = sys.modules.get("sqlite3")
    return module.Error if module is not None else JudgeError


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
    screen = text_layout.narrow()
    # typer writes help for 50 columns at least, unless told otherwise.
    _command(arguments, {"terminal_width": screen} if screen else {})


def _command(arguments: list[str], extra: dict[str, Any]) -> None:
    # If a server is not trusted with an API key, the user is asked, before any request, and the command runs again.
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
    """With API keys removed."""
    import traceback

    sys.stderr.write(visible(redact("".join(traceback.format_exception(kind, error, trace)))))


def fail(error: JudgeError) -> None:
    """Print the error and its hint to stderr, and exit with code 1."""
    bold, reset = ("\x1b[1;31m", "\x1b[0m") if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else ("", "")
    sys.stderr.write(f"{bold}error:{reset} {visible(complaint(error))}\n")
    if error.hint:
        sys.stderr.write(f"hint: {visible(mend(error) or '')}\n")
    sys.exit(1)
