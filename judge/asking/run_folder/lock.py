"""Lock for one writing process in a result folder. The operating system releases it when the process ends, even if
killed."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path

from judge.base.errors import RunFolderError
from judge.base.wording import Advice

LOCK = ".lock"
# Stands for the lock on file systems that have none, such as Lustre mounted without flock.
MARKER = ".marker.lock"
_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
# Seconds for removing a dead process's marker.
_PATIENCE = 0.5


_ELSEWHERE = Advice("choose another place with {output}", output="FOLDER")


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Context manager that holds a folder's lock, and makes the folder. Raises RunFolderError at once if another
    process holds it."""
    with ExitStack() as held:
        stream = held.enter_context(_opened(folder))
        hint = "wait for it, or stop it, and run again"
        try:
            taken = _take(stream, held)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise RunFolderError(f"{folder} cannot be locked: {error.strerror}", hint=_ELSEWHERE) from error
            taken = _mark(folder, held)
            hint += f"; if no such process is left, delete {folder / MARKER}"
        if not taken:
            raise RunFolderError(
                f"{folder} is in use by another process (pid {_writer(folder) or 'unknown'})", hint=hint
            )
        try:
            stream.truncate(0)
            # Windows lets nobody else read the byte that is locked, which is the first.
            stream.write(f" {os.getpid()}".encode("ascii"))
        except OSError as error:
            raise RunFolderError(f"{folder} cannot be written: {error.strerror}", hint=_ELSEWHERE) from error
        yield


def is_held(folder: Path) -> bool:
    """Whether a process holds the lock, by trying to take it or, if not permitted, whether the last writer runs."""
    path = folder / LOCK
    try:
        with path.open("r+b" if os.access(path, os.W_OK) else "rb", buffering=0) as stream, ExitStack() as held:
            return not _take(stream, held)
    except FileNotFoundError:
        return False
    except OSError:
        return writer_runs(folder)


def writer_runs(folder: Path) -> bool:
    """Whether the last writer still runs. The lock is not tried: that could make a run that is just starting fail."""
    try:
        with (folder / LOCK).open("rb", buffering=0) as stream:
            stream.read()
    except PermissionError:
        return True  # Windows: locked. Elsewhere: another user's folder.
    except OSError:
        return False
    return _runs(_writer(folder))


def _opened(folder: Path) -> FileIO:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A link in a folder from elsewhere may lead to any file: it would be locked, emptied and written.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return FileIO(os.open(folder / LOCK, flags, 0o666), "a+b")
    except OSError as error:
        if (folder / LOCK).is_symlink():
            raise RunFolderError(f"{folder / LOCK} is a link, and is not followed", hint="delete it") from error
        raise RunFolderError(f"{folder} cannot be written: {error.strerror}", hint=_ELSEWHERE) from error


def _take(stream: FileIO, held: ExitStack) -> bool:
    from filelock import lock_descriptor, unlock_descriptor

    taken = lock_descriptor(stream.fileno(), blocking=False)
    if taken:
        held.callback(unlock_descriptor, stream.fileno())
    return taken


def _mark(folder: Path, held: ExitStack) -> bool:
    from filelock import SoftFileLock, Timeout

    try:
        held.enter_context(SoftFileLock(folder / MARKER, timeout=_PATIENCE))
    except Timeout:
        return False
    return True


def _writer(folder: Path) -> int | None:
    try:
        with (folder / LOCK).open("rb", buffering=0) as stream:
            try:
                noted = stream.read()
            except PermissionError:  # Windows: all but the first byte can be read
                stream.seek(1)
                noted = stream.read()
        return int(noted)
    except (OSError, ValueError):
        return None


def _runs(process: int | None) -> bool:
    if process is None or os.name == "nt":  # Windows: signal 0 is Ctrl-C, and who holds the lock was seen above
        return False
    try:
        os.kill(process, 0)
    except PermissionError:
        return True  # another user's process
    except OSError:
        return False
    return True
