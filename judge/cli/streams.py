"""Handles standard streams that are closed, full, no longer read, or limited to a narrow encoding."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Buffer

UNREAD = 141
"""Exit code where the reader of the output has gone, as in `judge ratings RUN | head`: a shell's word for SIGPIPE."""


class _Noted(RawIOBase):
    """Raw file of an output stream that stores the last error raised in writing. The cause of a failure is thus known
    even if a later error hides it.
    """

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
    """Context manager for printing to stdout. If output cannot be written, the program exits with an error message; if
    the reader has closed the pipe, it exits silently.
    """
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
    """Replace closed standard streams (`judge ... >&-`) by the null device, so that no other file gets their descriptor
    numbers.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # For reading only: what is printed fails, and is said to have failed. Error messages are dropped.
            number = os.open(os.devnull, os.O_RDWR if name == "stderr" else os.O_RDONLY)
            stream = open(number, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _text(file: _Noted, before: Any) -> TextIOWrapper:
    """Text stream over `file` that replaces the stream `before`: UTF-8 for files and pipes, unless PYTHONIOENCODING is
    set. A terminal keeps its encoding.

    Characters that the encoding lacks are written as escapes and raise no error.
    """
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
    """Discard what is still buffered in `stream`, so that the interpreter reports no error at exit."""
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
