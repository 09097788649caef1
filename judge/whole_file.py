"""Writers of files that appear under their name complete or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def draft(path: Path, *, follow: bool = True) -> Iterator[Path]:
    """Context manager that gives a temporary name beside `path` to write to; at the end of the block the file replaces
    `path`.

    Where the block fails, `path` stays as it was. A link or what is no plain file, /dev/stdout or a pipe, cannot be
    replaced: there the name is `path` itself. Without `follow` a link is replaced: in a folder from elsewhere it may
    lead anywhere.
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
    """Write text (as UTF-8) or bytes completely or not at all; with `durable` it returns when they are on the disk.
    Raises OSError.
    """
    with draft(path, follow=follow) as fresh, fresh.open("wb") as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())
