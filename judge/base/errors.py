"""The types of errors that users see.

The class tree::

    JudgeError              shown to the user as one sentence (and a hint), never as a traceback; exit code 1
    ├── DataError           a file's content is not what its format promises
    ├── SpecError           a run definition, a criteria set or an option is invalid
    │   └── OptionError     an option has a value that is not allowed
    ├── TemplateError       an Eval-Prompt cannot be rendered
    ├── RunFolderError      a result folder cannot be used: locked, of another run, of another version, unwritable
    ├── MissingExtraError   an optional package is needed and not installed
    └── BackendError        a server or network failed during a request; carries kind, retryable and retry_after

Any other exception is a bug of this program and is shown with its traceback.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from judge.base.redaction import redact
from judge.base.wording import Advice, changed, joined

# How this program is installed on this machine, and how its optional dependencies can be installed.


def install_command(extra: str) -> str:
    """Command that installs the optional dependencies `extra`: in a checkout by its path, because the distribution is
    not in a package index, else by name."""
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"pip install 'storyjudge[{extra}]'"


class JudgeError(Exception):
    """Error whose message is a sentence for the user, and `hint` what fixes it; API keys are removed from both. Where
    they mention options, they may be a `judge.base.wording.Advice`, which writes these as Python arguments
    (``level="system"``) and which the command line turns into flags."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(changed(message, redact))
        self.hint = None if hint is None else changed(hint, redact)

    @property
    def sentence(self) -> str:
        """The message as it was passed, without API keys: an `Advice` if it names options."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


class DataError(JudgeError):
    """A file's content breaks its format. The message names file, row, column, the value found and those allowed."""

    def __init__(
        self,
        message: str,
        *,
        file: object = None,
        row: int | str | None = None,
        column: str | None = None,
        found: object = None,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        where = [str(file)] if file is not None else []
        if row is not None:
            where.append(f"row {row}")
        if column is not None:
            where.append(f"column {column!r}")
        after = f"; found {_short(found)}" if found is not None else ""
        if allowed is not None:
            after += f"; allowed: {allowed}"
        super().__init__(joined(f"{', '.join(where)}: " if where else "", message, after), hint=hint)


class SpecError(JudgeError):
    """A run definition, a criteria set or an option is invalid."""


class OptionError(SpecError):
    """An option has a value that is not allowed; the message names its field, the value and what is allowed."""

    def __init__(
        self, field: str, value: object, complaint: str = "", *, allowed: Iterable[str] = (), hint: str | None = None
    ) -> None:
        """Without `complaint`, the message says what is `allowed`. In Python it reads ``resamples=0 must be 1 or
        more``."""
        self.field, self.value, self.allowed = field, value, tuple(allowed)
        among = f"is not known; allowed: {', '.join(self.allowed)}"
        super().__init__(Advice(f"{{{field}!r}} {{}}", complaint or among, **{field: value}), hint=hint)


class TemplateError(JudgeError):
    """An Eval-Prompt cannot be rendered; the message names file, line and variable."""


class RunFolderError(JudgeError):
    """A result folder cannot be used: it is locked, belongs to another run or version, or is not writable."""


class MissingExtraError(JudgeError):
    def __init__(self, feature: str, extra: str) -> None:
        missing = f" needs an optional package that is not installed: {install_command(extra)}"
        super().__init__(joined(feature, missing))


# Hint of errors about damaged files of a run.
TELLS_INTACT = "judge status RUN --verify tells what is intact"

ErrorKind = Literal[
    "auth",  # a wrong key, a key without permission, a closed account
    "model",  # the server does not have this model
    "api",  # the server does not offer the model on this route
    "capability",  # the server does not support what the run requires
    "address",  # no server there, or not one that speaks the protocol
    "request",  # 400, 404, 422: the same request would fail again
    "context",  # the request is longer than the model's context
    "quota",  # the paid quota is used up
    "rate",  # a limit on requests or tokens per minute
    "overload",  # 503, 529
    "server",  # other 5xx, and a provider behind the server that failed
    "connection",  # reset, refused in mid-run, broken pipe
    "timeout",  # no answer within attempt_timeout
    "garbage",  # an answer that is not the protocol's
    "filtered",  # the provider's content filter refused to answer
    "truncated",  # the token limit was reached while thinking: an answer without text
]


class BackendError(JudgeError):
    """A server or the network failed during a request. `kind` is the cause, such as "auth" or "rate"; `retry_after` is
    in seconds."""

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind,
        retryable: bool,
        retry_after: float | None = None,
        status: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind: ErrorKind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status


def yaml_mistake(error: Exception) -> str:
    """The mistake in a YAML file and its position, without the file's lines, which may contain an API key."""
    mark = getattr(error, "problem_mark", None)
    words = " ".join(str(getattr(error, "problem", None) or "it cannot be read").split())
    words = re.sub(r"'(?!<)[^']{8,}'", "'...'", words)  # an alias or a tag, whatever it was meant to be
    return words if mark is None else f"{words} (line {mark.line + 1}, column {mark.column + 1})"


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The known word most similar to `word`; None if none is similar enough."""
    matches = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.5)
    return matches[0] if matches else None


def unknown(kind: str, word: str, choices: Iterable[str]) -> str:
    """Message about an unknown name of this `kind`, with the most similar known name and a list of all."""
    return f"{kind} {word!r} {_unknown(word, choices)}"


def unknown_value(field: str, word: str, choices: Iterable[str]) -> OptionError:
    """Error for an unknown value of an option, with the most similar known value and a list of all."""
    names = sorted(choices)
    return OptionError(field, word, _unknown(word, names), allowed=names)


def _unknown(word: str, choices: Iterable[str]) -> str:
    names = sorted(choices)
    close = nearest(word, names)
    guess = f"; did you mean {close!r}?" if close else ""
    return f"is not known{guess} (known: {', '.join(names)})"


def _short(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
