"""The HANNA study's raw answers as recorded answers and a run that gives them again. Never parses one.

The parsers of this program then read them as they read any judge's answers: `judge run` puts them into a journal.
"""

from __future__ import annotations

from pathlib import Path

import orjson
import yaml

from judge.datasets.studies.hanna_answers import EVAL_PROMPTS, read_answers
from judge.errors import DataError, RunFolderError

ANSWERS = "answers.jsonl"


def write_run(path: Path, folder: Path, judge: str) -> tuple[Path, int]:
    """Write `answers.jsonl` and a `run.yaml` that judges dataset `hanna` with them.

    Returns the definition's path and the number of answers. A story's index in the file is its Story ID in dataset
    `hanna`. Raises DataError where the file holds no answers, and RunFolderError where the folder holds a run already.
    """
    definition = folder / "run.yaml"
    if definition.exists():
        raise RunFolderError(f"{folder} holds a run already", hint="choose another place with -o FOLDER")
    answers = list(read_answers(path))
    if not answers:
        raise DataError("holds no answers", file=path)
    repeats = 1 + max(answer.repeat for answer in answers)
    lines = (
        orjson.dumps(
            {
                "story": str(answer.story),
                "criterion": answer.criterion,
                "eval_prompt": answer.eval_prompt,
                "repeat": answer.repeat,
                "text": answer.text,
            }
        )
        for answer in answers
    )
    asked = {answer.eval_prompt for answer in answers}
    content = {
        "name": folder.name,
        "dataset": "hanna",
        "judge": f"recorded/{folder / ANSWERS}",
        "identity": judge,
        "criteria": "hanna",
        "eval_prompts": [name for name in EVAL_PROMPTS.values() if name in asked],
        "repeats": repeats,
        "note": f"answers of {judge} as the HANNA study released them ({path.name})",
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ANSWERS).write_bytes(b"\n".join(lines) + b"\n")
        definition.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be written: {error.strerror}") from error
    return definition, len(answers)
