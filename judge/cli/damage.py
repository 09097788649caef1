"""Search for a damaged journal or manifest after a command has failed. The files are not changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from judge.base.errors import TELLS_INTACT, JudgeError, RunFolderError

_HINT = f"{TELLS_INTACT}; restore the journal from a copy"


def damage(arguments: Iterable[str]) -> RunFolderError | None:
    """Error that names the first damaged journal or manifest of the runs on a command line; None if all are sound."""
    from judge.answers.journal.soundness import what_is_wrong
    from judge.asking.run_folder.layout import resolve
    from judge.asking.run_folder.manifest import read_manifest

    for word in arguments:
        if not Path(word).exists():
            continue
        with contextlib.suppress(JudgeError, OSError):
            for folder in resolve([word]):
                if folder.journal.is_file() and (why := what_is_wrong(folder.journal)) is not None:
                    return RunFolderError(f"{folder.journal} is damaged, or was changed: {why}", hint=_HINT)
                if (why := _manifest_wrong(read_manifest(folder.manifest))) is not None:
                    return RunFolderError(f"{folder.manifest} is damaged, or was changed: {why}", hint=_HINT)
    return None


_SHAPES = {"judge": str, "run": str, "asked": dict, "in_force": dict, "sittings": list, "totals": dict}


def _manifest_wrong(manifest: dict[str, object]) -> str | None:
    for key, kind in _SHAPES.items():
        if manifest.get(key) is not None and not isinstance(manifest[key], kind):
            return f"{key} is no {kind.__name__}"
    return None
