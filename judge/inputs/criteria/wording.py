"""Reads a study's published strings, unchanged: definitions, guidelines and Eval-Prompts as they were sent.

The file is JSON. `definitions` and `guidelines` hold their texts by criterion. `tasks_EP1_to_EP4` holds for each
criterion the requests of EP1 to EP4. `template_EP1_EP2_EP3` and `template_EP4` are the texts around such a request.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from judge.base.errors import SpecError
from judge.base.foreign import json_of
from judge.inputs.criteria.prompt_file import sentence

_OUTER_FIELDS = frozenset({"prompt", "story", "task", "human"})


@dataclass(frozen=True, slots=True)
class Published:
    """A study's published strings.

    `definitions` and `guidelines` are by criterion. `outer` maps a published Eval-Prompt, such as "EP1", to the text
    around its requests. `tasks` maps pairs (criterion, published Eval-Prompt) to requests. `beside` is the text of a
    second file that was read, such as a template; it is hashed.
    """

    file: Path
    definitions: Mapping[str, str]
    guidelines: Mapping[str, tuple[str, ...]]
    outer: Mapping[str, str]
    tasks: Mapping[tuple[str, str], str]  # (criterion, Eval-Prompt) -> the request, as sent
    beside: str = ""


class _WordingFile(BaseModel):
    """Required keys of a file of published strings. Other keys, such as the file's origin, are not checked."""

    model_config = ConfigDict(strict=True, extra="ignore")
    definitions: dict[str, str]
    guidelines: dict[str, list[str]] = Field(default_factory=dict)


class _Tasks(RootModel[dict[str, list[str]]]):
    model_config = ConfigDict(strict=True)


def read_wording(file: Path, text: str) -> Published:
    """A study's published definitions, guidelines and requests, read from `text`, the content of the JSON file `file`.
    Raises SpecError, naming file and key.
    """
    raw = json_of(text, file)
    key = ""
    outer: dict[str, str] = {}
    tasks: dict[tuple[str, str], str] = {}
    try:
        model = _WordingFile.model_validate(raw)
        for key, value in raw.items():
            if key.startswith("template_"):
                names = key.removeprefix("template_").split("_")
                outer.update(dict.fromkeys(names, _outer(value, f"{file}: {key}")))
            elif key.startswith("tasks_"):
                for criterion, strings in _Tasks.model_validate(value).root.items():
                    tasks.update({(criterion, f"EP{i}"): task for i, task in enumerate(strings, start=1)})
    except ValidationError as error:
        raise SpecError(sentence(error.errors(include_url=False)[0], {}, file, (key,) if key else ())) from error
    if not outer or not tasks:
        raise SpecError(
            f"{file}: there are no published Eval-Prompts in it",
            hint="it needs keys like tasks_EP1_to_EP4 and template_EP1_EP2_EP3",
        )
    guidelines = {name: tuple(points) for name, points in model.guidelines.items()}
    return Published(file, model.definitions, guidelines, outer, tasks)


def _outer(template: object, where: str) -> str:
    """The published text around a request (`template`), checked to contain no other fields than plain {prompt},
    {story}, {human} and {task}; raises SpecError otherwise. The check is needed because str.format would evaluate other
    expressions in the file.
    """
    if not isinstance(template, str):
        raise SpecError(f"{where} must be a text")
    try:
        parts = [part[1:] for part in string.Formatter().parse(template) if part[1] is not None]
    except ValueError as error:
        raise SpecError(f"{where}: {error}") from error
    fields = {str(name) for name, _, _ in parts}
    plain = not any(form or conversion for _, form, conversion in parts)
    if not plain or not {"story", "task"} <= fields <= _OUTER_FIELDS:
        raise SpecError(f"{where} must hold {{story}} and {{task}}, and besides them only {{prompt}} and {{human}}")
    return template
