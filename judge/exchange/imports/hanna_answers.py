"""Conversion of the HANNA study's raw answers into recorded answers and a run that replays them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from judge.base.errors import DataError
from judge.exchange.imports.recorded_run import refuse_taken, write_recorded_run
from judge.inputs.datasets.studies.hanna_answers import EVAL_PROMPTS, read_answers


def write_run(path: Path, folder: Path, judge: str) -> tuple[Path, int]:
    """Write the raw answers of a language model from the HANNA study's file `path` to `answers.jsonl` in `folder`, with
    a `run.yaml` that judges dataset `hanna` with these answers.

    Returns the path of `run.yaml` and the number of answers. A story's index in the study's file is its Story ID in
    dataset `hanna`. Raises DataError where the file holds no answers, and RunFolderError where the folder holds a run
    already.
    """
    refuse_taken(folder)
    answers = list(read_answers(path))
    if not answers:
        raise DataError("holds no answers", file=path)
    asked = {answer.eval_prompt for answer in answers}
    definition = {
        "dataset": "hanna",
        "criteria": "hanna",
        "eval_prompts": [name for name in EVAL_PROMPTS.values() if name in asked],
        "repeats": 1 + max(answer.repeat for answer in answers),
        "note": f"answers of {judge} as the HANNA study released them ({path.name})",
    }
    lines = [{**asdict(answer), "story": str(answer.story)} for answer in answers]
    return write_recorded_run(folder, judge, lines, definition), len(answers)
