"""Writing of files that appear under their name only when they are complete."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

# Seconds after which a draft of another machine is nobody's: no write takes as long.
_OLD = 24 * 3600.0


def draft_name(path: Path) -> Path:
    """A new name beside `path` for a file that will replace it. The name says which process writes it, so that
    `clear_left` can delete what a process that was killed left behind.
    """
    # Two programs may write the same file, and nobody shall know beforehand where: each has a draft of its own.
    return path.with_name(f"{path.name}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.new")


def clear_left(path: Path) -> None:
    """Delete drafts of `path` that processes left behind which were killed. The draft of a process that still runs is
    not touched, nor one of another machine (in a shared folder) that is less than a day old.
    """
    named = re.compile(re.escape(path.name) + r"\.(?:([0-9a-f]{8})-)?([0-9]{1,10})-[0-9a-f]{8}\.new")
    with suppress(OSError):
        for left in list(path.parent.iterdir()):
            match = named.fullmatch(left.name)
            if match is None:
                continue
            with suppress(OSError):
                gone = match[1] == _machine() and not _runs(int(match[2]))
                if gone or left.lstat().st_mtime < time.time() - _OLD:
                    left.unlink(missing_ok=True)


@cache
def _machine() -> str:
    """Short hash of this machine's name and, on Linux, of the container: within it, process numbers are unique."""
    container = ""
    with suppress(OSError):
        container = str(Path("/proc/self/ns/pid").stat().st_ino)
    return hashlib.sha256(f"{platform.node()}/{container}".encode()).hexdigest()[:8]


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@contextmanager
def draft(path: Path, *, follow: bool = True) -> Iterator[Path]:
    """Context manager that gives a temporary path in the folder of `path` to write to. At the end of the `with` block
    the temporary file replaces `path`.

    If the block fails, `path` stays unchanged. A symbolic link, and anything that is not a regular file, such as
    /dev/stdout or a pipe, is not replaced: the block then writes to `path` directly. If `follow` is false, a link is
    replaced too, since in a folder from an untrusted source it may point to any file.
    """
    if (follow and path.is_symlink()) or (path.exists() and not path.is_file()):
        yield path
        return
    clear_left(path)
    fresh = draft_name(path)
    try:
        yield fresh
        fresh.replace(path)
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes, *, durable: bool = False, follow: bool = True) -> None:
    """Write text (as UTF-8) or bytes to a file completely or not at all. If `durable`, the function returns only when
    the data are on disk. If `follow` is false, a symbolic link is replaced instead of its target. Raises OSError.
    """
    with draft(path, follow=follow) as fresh, fresh.open("wb") as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())
