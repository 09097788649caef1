"""Writing of files that appear under their name only when they are complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
    # Two programs may write the same file, and nobody shall know beforehand where: each has a draft of its own.
    fresh = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
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
