"""One writer to a result folder. The lock is the operating system's, so a killed process never leaves one behind."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judge.errors import RunFolderError


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold the folder (made if need be) for writing; a second process gets a sentence at once."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = (folder / ".lock").open("a+", encoding="ascii")
    except OSError as error:
        raise RunFolderError(
            f"{folder} cannot be written: {error.strerror}", hint="choose another place with --output FOLDER"
        ) from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            stream.seek(0)
            owner = stream.read().strip() or "unknown"
            raise RunFolderError(
                f"{folder} is in use by another process (pid {owner})", hint="wait for it, or stop it, and run again"
            ) from None
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        yield
