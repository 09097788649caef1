"""Writer of a run that replays answers obtained elsewhere, which are then parsed like any judge's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import yaml

from judge.base.errors import DataError, RunFolderError
from judge.base.whole_file import write_whole
from judge.inputs.datasets.studies import hanna_scores

ANSWERS = "answers.jsonl"


def refuse_taken(folder: Path) -> None:
    """Raise RunFolderError where the folder already holds a run."""
    if (folder / "run.yaml").exists():
        raise RunFolderError(f"{folder} holds a run already", hint="choose another place with -o FOLDER")


def write_recorded_run(
    folder: Path, judge: str, answers: Sequence[Mapping[str, Any]], definition: Mapping[str, Any]
) -> Path:
    """Path of a written `run.yaml` with `definition`; `answers.jsonl` beside it is for the back-end `recorded`."""
    path = folder / "run.yaml"
    content = {"name": folder.name, "judge": f"recorded/{folder / ANSWERS}", "identity": judge, **definition}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / ANSWERS, b"".join(orjson.dumps(answer) + b"\n" for answer in answers))
        write_whole(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be written: {error.strerror}") from error
    return path


# Conversion of the HANNA study's raw answers into recorded answers and a run that replays them.


def write_hanna_run(path: Path, folder: Path, judge: str) -> tuple[Path, int]:
    """A run.yaml on dataset `hanna` that replays a model's answers in the HANNA study's file, and their number. A
    story's index in the study's file is its Story ID. Raises DataError where the file holds no answers, and
    RunFolderError where the folder holds a run already."""
    refuse_taken(folder)
    answers = list(hanna_scores.read_answers(path))
    if not answers:
        raise DataError("holds no answers", file=path)
    asked = {answer.eval_prompt for answer in answers}
    definition = {
        "dataset": "hanna",
        "criteria": "hanna",
        "eval_prompts": [name for name in hanna_scores.EVAL_PROMPTS.values() if name in asked],
        "repeats": 1 + max(answer.repeat for answer in answers),
        "note": f"answers of {judge} as the HANNA study released them ({path.name})",
    }
    lines = [{**asdict(answer), "story": str(answer.story)} for answer in answers]
    return write_recorded_run(folder, judge, lines, definition), len(answers)
