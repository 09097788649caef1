"""What can go wrong, as types. Never catches anything.

The tree, and who is to blame::

    JudgeError              shown to the user as one sentence (and a hint), never as a traceback; exit code 1
    ├── DataError           a file's content is not what its format promises
    ├── SpecError           a run definition, a criteria set or an option says something impossible
    │   └── OptionError     an option's value is not one that it takes
    ├── TemplateError       an Eval-Prompt does not render
    ├── RunFolderError      a result folder cannot be used: locked, of another run, of another version, unwritable
    ├── MissingExtraError   an optional package is needed and not installed
    └── BackendError        the world failed while a judge was asked; carries kind, retryable and retry_after

Anything else that is raised is a bug of this program and keeps its traceback.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Literal

from judge.redaction import redact
from judge.wording import Advice, changed, joined


class JudgeError(Exception):
    """A sentence for the user; `hint` is the command or change that mends it. Keys are taken out of both.

    Either may be `judge.wording.Advice`: as a string it has Python's wording.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(changed(message, redact))
        self.hint = None if hint is None else changed(hint, redact)

    @property
    def sentence(self) -> str:
        """What is wrong, as it was said: `Advice` where it names options."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


class DataError(JudgeError):
    """A file's content breaks its format: names file, row, column, the value found and the values allowed."""

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
    """A run definition, a criteria set or an option says something impossible."""


class OptionError(SpecError):
    """An option's value is not one that it takes: names its field, the value and what is allowed."""

    def __init__(
        self, field: str, value: object, complaint: str = "", *, allowed: Iterable[str] = (), hint: str | None = None
    ) -> None:
        """Without a complaint, the value is none of those allowed.

        Python's wording is ``resamples=0 must be 1 or more``.
        """
        self.field, self.value, self.allowed = field, value, tuple(allowed)
        among = f"is not known; allowed: {', '.join(self.allowed)}"
        super().__init__(Advice(f"{{{field}!r}} {{}}", complaint or among, **{field: value}), hint=hint)


class TemplateError(JudgeError):
    """An Eval-Prompt does not render: names file, line and variable."""


class RunFolderError(JudgeError):
    """A result folder cannot be used: locked, of another run, of another version, or unwritable."""


class MissingExtraError(JudgeError):
    """An optional package is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        missing = f" needs an optional package that is not installed: pip install 'storyjudge[{extra}]'"
        super().__init__(joined(what, missing))


ErrorKind = Literal[
    "auth",  # a key that is wrong or may not, an account that is closed
    "model",  # the server does not have this model
    "api",  # the model is not to be had by this route of the server
    "capability",  # the server cannot do what the run asks of it
    "address",  # no server there, or not one that speaks the protocol
    "request",  # 400, 404, 422: asking again would fail again
    "context",  # the request is longer than the model's context
    "quota",  # what was paid for is used up
    "rate",  # slow down: a limit of so many a minute
    "overload",  # 503, 529
    "server",  # other 5xx, and a provider behind the server that failed
    "connection",  # reset, refused in mid-run, broken pipe
    "timeout",  # no answer within attempt_timeout
    "garbage",  # an answer that is not the protocol's
    "filtered",  # the provider's content filter refused to answer
    "truncated",  # the longest answer was reached in the thinking: an answer without text
]


class BackendError(JudgeError):
    """The world failed while a judge was asked.

    `kind` says how, `retryable` whether asking again can help, `retry_after` (seconds) what the server asked for.
    """

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
    """What is wrong in a YAML file and where, without the lines themselves: they may hold a key."""
    mark = getattr(error, "problem_mark", None)
    words = " ".join(str(getattr(error, "problem", None) or "it cannot be read").split())
    words = re.sub(r"'(?!<)[^']{8,}'", "'...'", words)  # an alias or a tag, whatever it was meant to be
    return words if mark is None else f"{words} (line {mark.line + 1}, column {mark.column + 1})"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None when nothing is close."""
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return matches[0] if matches else None


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """One sentence for a name that is not known: names the nearest and lists what is."""
    return f"{what} {word!r} {_unknown(word, known)}"


def unknown_value(field: str, word: str, known: Iterable[str]) -> OptionError:
    """The same of an option's value, as an error."""
    names = sorted(known)
    return OptionError(field, word, _unknown(word, names), allowed=names)


def _unknown(word: str, known: Iterable[str]) -> str:
    names = sorted(known)
    close = nearest(word, names)
    guess = f"; did you mean {close!r}?" if close else ""
    return f"is not known{guess} (known: {', '.join(names)})"


def _short(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
