"""Files that appear under their name only when they are complete, and the folders of runs, caches and configuration."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from judge.base.errors import JudgeError, SpecError

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
    import platform

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


@contextmanager
def writing(path: Path | str, kind: type[JudgeError] = SpecError) -> Iterator[None]:
    """What is written inside gets a sentence for a full disk or a folder that may not be written: a JudgeError."""
    try:
        yield
    except OSError as error:
        raise kind(f"{path} cannot be written: {error.strerror}") from error


def write_output(path: Path, content: str | bytes) -> None:
    """`write_whole` of a file that the user named. Raises SpecError."""
    with writing(path):
        write_whole(path, content)


# Locations of the files that ship with the program: Eval-Prompts, criteria sets, run definitions.

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped(folder: str) -> Path:
    """The shipped folder `prompts` or `runs`: inside the package of a wheel, next to it in a checkout."""
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


def package_file(*parts: str) -> Path:
    """A data file inside the package, e.g. `package_file("inputs", "datasets", "demo_stories.jsonl")`."""
    return _PACKAGE.joinpath(*parts)


# Folders of the user; whoever writes there makes them.


def home() -> Path:
    """The user's home; the root folder for a user without one, such as a container's, with a number but no name."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def cache_folder() -> Path:
    """The folder in JUDGE_CACHE, otherwise the user's cache folder for `judge`. It need not exist."""
    if cache := os.environ.get("JUDGE_CACHE"):
        return Path(cache)
    # pooch.os_cache("judge") is this very folder; importing pooch here would cost every `judge run` its start.
    import platformdirs

    try:
        return Path(platformdirs.user_cache_dir("judge"))
    except RuntimeError:  # a user without a home folder
        return home() / ".cache" / "judge"


def config_folder() -> Path:
    """The folder in JUDGE_HOME, otherwise ~/.config/judge. It need not exist."""
    own = os.environ.get("JUDGE_HOME")
    return Path(own) if own else home() / ".config" / "judge"


VARIABLE = "JUDGE_TRUSTED_FOLDERS"


def trusted_folders() -> list[Path]:
    """Trusted folders and files, from which every run may read."""
    named = [entry for entry in os.environ.get(VARIABLE, "").split(os.pathsep) if entry]
    studies = [entry for entry in (os.environ.get("JUDGE_DATA"),) if entry]
    return [*(Path(entry).resolve() for entry in (*named, *studies, *_stored())), shipped("prompts").resolve()]


def is_trusted(file: Path, folder: Path) -> bool:
    """Whether a definition in `folder` may name this file: it is there or in a trusted folder, symbolic links
    resolved."""
    real = file.resolve()
    return any(real.is_relative_to(root) for root in (folder.resolve(), *trusted_folders()))


def lies_in_trusted(folder: Path) -> bool:
    """Whether a definition's own folder lies in a trusted folder, symbolic links resolved."""
    real = folder.resolve()
    return any(real.is_relative_to(root) for root in trusted_folders())


def trust(path: Path) -> None:
    """Store a path that the user named as trusted: every run may read it."""
    file = _file()
    stored = _stored()
    if not any(path.resolve().is_relative_to(root) for root in trusted_folders()):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps([*stored, str(path.resolve())], indent=2) + "\n")


def _file() -> Path:
    return config_folder() / "trusted_folders.json"


def _stored() -> list[str]:
    try:
        stored = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [entry for entry in stored if isinstance(entry, str)] if isinstance(stored, list) else []
