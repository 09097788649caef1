"""Checks an Eval-Prompt's rating_pattern on its example answer, to detect a wrong pattern before the run."""

from __future__ import annotations

from pathlib import Path

from judge.answers.parsing import parser
from judge.answers.parsing.ours.from_story import captures, check_pattern
from judge.base.errors import JudgeError
from judge.base.records import Criterion, Response, Scale
from judge.inputs.eval_prompts import EvalPrompt, load_eval_prompt
from judge.inputs.eval_prompts.template import LABELS

# The example may be of any scale.
_ANY_SCALE = Scale(-1e9, 1e9)


def pattern_problems(file: Path) -> list[str]:
    """Problems with a file's `rating_pattern` and example answer, as sentences with its name. Empty where it has
    neither, or a rating is read from the example. A file that cannot be loaded is reported by
    `eval_prompts.check.problems`; examples with labels that depend on the criteria are not tried."""
    try:
        eval_prompt = load_eval_prompt(file)
    except JudgeError:
        return []
    pattern, example = eval_prompt.rating_pattern, eval_prompt.example_answer
    if pattern is not None:
        try:
            check_pattern(pattern, where=str(file))
        except JudgeError as error:
            return [str(error)]
        if example is None:
            return [f"{file}: has a rating_pattern, and no example_answer to try it on"]
    return [] if example is None else _trial(eval_prompt, example)


def _trial(eval_prompt: EvalPrompt, example: str) -> list[str]:
    pattern = eval_prompt.rating_pattern
    if LABELS in eval_prompt.body.uses and (pattern is None or captures(pattern, example)):
        # Which labels there are is known with the criteria alone.
        return []
    criterion = Criterion("Clarity", "CL", "", _ANY_SCALE)
    judgment = parser("ours").parse(Response(example), criterion, rating_pattern=eval_prompt.rating_pattern)
    if judgment.rating is not None:
        return []
    by = "by the rating_pattern " if eval_prompt.rating_pattern is not None else ""
    return [f"{eval_prompt.file}: no rating is read {by}from the example_answer {example!r} ({judgment.status})"]
