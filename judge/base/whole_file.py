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
    """A new name beside `path`, with the writing process in it, so that `clear_left` can delete what a killed one
    left."""
    # Two programs may write the same file, and nobody shall know beforehand where: each has a draft of its own.
    return path.with_name(f"{path.name}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.new")


def clear_left(path: Path) -> None:
    """Delete drafts of `path` by killed processes, but none of another machine (in a shared folder) less than a day
    old."""
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
    # On Linux with the container: within it, process numbers are unique.
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
    """Context manager that gives a temporary path, which replaces `path` at the end, unless the block fails. A symbolic
    link, or no regular file, such as /dev/stdout or a pipe, is written directly. Without `follow`, a link is replaced
    too: in an untrusted folder it may point to any file."""
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
    """Write text (as UTF-8) or bytes completely or not at all; with `durable`, until on disk. Without `follow`, a
    symbolic link is replaced. Raises OSError."""
    with draft(path, follow=follow) as fresh, fresh.open("wb") as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())
