"""Conversion of answers to the tests of Art or Artifice into a run that replays them. A test's number is its
criterion's position in the set `ttcw`. A null response becomes an empty answer; "Content Blocked" (stopped by the
provider's filter) is kept and marked as filtered. Neither can be parsed as a label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.exchange.imports.recorded_run import refuse_taken, write_recorded_run
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.studies.ttcw import MAGAZINE
from judge.inputs.datasets.studies.ttcw_answers import TestAnswer, read_answers

CRITERIA, EVAL_PROMPT = "ttcw", "ep2"


def write_run(path: Path, folder: Path, judge: str) -> tuple[Path, int]:
    """A run.yaml that replays a model's answers in `path` on dataset `ttcw+newyorker`, and the number of answers. The
    dataset is `ttcw` where all stories are by models. Raises DataError for no answers or an unknown test, and
    RunFolderError where the folder already holds a run."""
    refuse_taken(folder)
    tests = [criterion.name for criterion in load_criteria(CRITERIA).criteria]
    lines = [_line(answer, tests, path) for answer in read_answers(path)]
    if not lines:
        raise DataError("holds no answers", file=path)
    magazine = any(line["story"].endswith(f"_{MAGAZINE}") for line in lines)
    definition = {
        "dataset": "ttcw+newyorker" if magazine else "ttcw",
        "criteria": CRITERIA,
        "eval_prompts": [EVAL_PROMPT],
        "repeats": 1,
        "note": f"answers of {judge} to the tests of Art or Artifice, asked in the study's words ({path.name})",
    }
    return write_recorded_run(folder, judge, lines, definition), len(lines)


def _line(answer: TestAnswer, tests: list[str], path: Path) -> dict[str, Any]:
    if not 1 <= answer.test <= len(tests):
        raise DataError("no such test", file=path, column="id", found=answer.test, allowed=f"1 to {len(tests)}")
    line = {
        "story": answer.story,
        "criterion": tests[answer.test - 1],
        "eval_prompt": EVAL_PROMPT,
        "repeat": 0,
        "text": answer.text or "",
    }
    return line | ({"finish_reason": "content_filter"} if answer.blocked else {})
