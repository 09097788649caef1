"""Writer of a run that replays answers obtained elsewhere.

`judge run` then puts the answers into a journal, and this program parses them like any judge's answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import yaml

from judge.base.errors import RunFolderError
from judge.base.whole_file import write_whole

ANSWERS = "answers.jsonl"


def refuse_taken(folder: Path) -> None:
    """Raise RunFolderError where the folder already holds a run."""
    if (folder / "run.yaml").exists():
        raise RunFolderError(f"{folder} holds a run already", hint="choose another place with -o FOLDER")


def write_recorded_run(
    folder: Path, judge: str, answers: Sequence[Mapping[str, Any]], definition: Mapping[str, Any]
) -> Path:
    """Write `answers.jsonl` in the format of the back-end `recorded`, and a `run.yaml` that contains `definition`.
    Returns the path of `run.yaml`.
    """
    path = folder / "run.yaml"
    content = {"name": folder.name, "judge": f"recorded/{folder / ANSWERS}", "identity": judge, **definition}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / ANSWERS, b"".join(orjson.dumps(answer) + b"\n" for answer in answers))
        write_whole(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be written: {error.strerror}") from error
    return path
