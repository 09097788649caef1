"""Reads a study's published questions: the tests of Art or Artifice and the template with which they were sent,
unchanged.

The file is `ttcw_all_tests.json`, a list of objects with `category`, `question` and `full_prompt`. The template
`with_background.txt` is in the same folder and contains [STORY], [BACKGROUND] and [QUESTION]. The release contains no
complete request, so how these are filled is our interpretation. [STORY] is the story's text alone, without its plot.
[BACKGROUND] is `full_prompt` without its last two lines (the question and the instruction before it), which the study's
notebook removes too; the template has its own instruction. [QUESTION] is `question`.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from judge.base.errors import SpecError
from judge.base.foreign import json_of
from judge.inputs.criteria.prompt_file import read_text, sentence
from judge.inputs.criteria.wording import Published

TEMPLATE = "with_background.txt"
EVAL_PROMPT = "EP2"
"""The published Eval-Prompt that the template is: a label first, then reasons, without a reference story."""

_STORY, _BACKGROUND, _QUESTION = "[STORY]", "[BACKGROUND]", "[QUESTION]"


class _Question(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    category: str
    question: str
    full_prompt: str


class _Questions(RootModel[list[_Question]]):
    model_config = ConfigDict(strict=True)


def holds_questions(text: str) -> bool:
    """Whether a file of a study's published texts is a list of tests (a JSON list of objects), and not a JSON object
    with definitions and guidelines by criterion. `text` is the file's content.
    """
    return "".join(text[:100].split()).startswith("[{")


def read_questions(file: Path, text: str) -> Published:
    """The published tests of Art or Artifice in `text`, the content of `file`, with the template of the requests from
    the same folder. Raises SpecError, naming the file.
    """
    try:
        tests = _Questions.model_validate(json_of(text, file)).root
    except ValidationError as error:
        raise SpecError(sentence(error.errors(include_url=False)[0], {}, file)) from error
    beside = file.parent / TEMPLATE
    template = read_text(beside)
    outer, inner = _split(template, beside)
    tasks = {
        (test.category, EVAL_PROMPT): inner.replace(_BACKGROUND, _background(test, file)).replace(
            _QUESTION, test.question.strip()
        )
        for test in tests
    }
    definitions = {test.category: test.question.strip() for test in tests}
    return Published(file, definitions, {}, {EVAL_PROMPT: outer}, tasks, beside=template)


def _split(template: str, file: Path) -> tuple[str, str]:
    """The published template of a request in two parts: the text before the story, followed by `{story}{task}`, and the
    task (the template's text after the story). Raises SpecError if a field such as [STORY] is missing, occurs twice, or
    is in another order. `file` is named in messages.
    """
    for field in (_STORY, _BACKGROUND, _QUESTION):
        if template.count(field) != 1:
            raise SpecError(f"{file} must hold {field} once; found {template.count(field)} times")
    head, _, task = template.partition(_STORY)
    if _BACKGROUND not in task or _QUESTION not in task:
        raise SpecError(f"{file} must hold {_STORY} before {_BACKGROUND} and {_QUESTION}")
    return head.replace("{", "{{").replace("}", "}}") + "{story}{task}", task


def _background(test: _Question, file: Path) -> str:
    lines = test.full_prompt.strip().split("\n")
    above = "\n".join(lines[:-1]).strip().split("\n")
    if test.question.strip() not in lines[-1] or len(above) < 2:
        raise SpecError(f"{file}: full_prompt of {test.category!r} does not end with an instruction and its question")
    return "\n".join(above[:-1]).strip()
