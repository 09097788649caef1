"""Pages of the keys of YAML files: type, default and meaning of each, made from the models that check these files."""

from __future__ import annotations

import re
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from judge.asking.run_definition.spec import CriteriaSpec, GenerationSpec, PairsSpec, RunSpec
from judge.inputs.criteria import CriterionFile, SetFile
from judge.inputs.prompt_file import FrontMatter, ScaleFile

Parts = dict[str, tuple[str, type[BaseModel]]]

_PAGES: dict[str, tuple[str, Parts]] = {
    "docs/reference/run_yaml_fields.md": (
        """# Keys of run.yaml, one by one

Made from the program. [run.yaml](run_yaml.md) says what the keys mean together; `judge run --print-schema` prints the
same as a JSON Schema, and `judge init` writes a file in which every key stands with a comment.
""",
        {
            "A run": ("", RunSpec),
            "criteria": ("Where `criteria` is more than a name or a file.", CriteriaSpec),
            "generation": ("Settings of sampling, sent as they stand.", GenerationSpec),
            "pairs": ("Where `pairs` is more than `all` or `given`.", PairsSpec),
        },
    ),
    "docs/reference/prompt_files.md": (
        """# Keys of criteria files and Eval-Prompts

Made from the program. [Criteria and Eval-Prompts](../guides/criteria_and_prompts.md) shows whole files.
`judge prompts check FILE` reads a file as a run would and prints what it asks.
""",
        {
            "Criteria file": ("A YAML file; `criteria: FILE` in run.yaml names it.", SetFile),
            "An entry of criteria": ("", CriterionFile),
            "scale": ("Numbers (`min`, `max`, `step`), or `labels`.", ScaleFile),
            "Eval-Prompt": ("The front matter of a Jinja template, between two lines of `---`.", FrontMatter),
        },
    ),
}


def _kind(annotation: Any) -> str:
    """A type in words of YAML."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kind(get_args(annotation)[0])
    if origin is Literal:
        return ", ".join(f"`{word}`" for word in get_args(annotation))
    if origin in (Union, types.UnionType):
        return " or ".join(_kind(part) for part in get_args(annotation) if part is not type(None))
    if origin is list:
        return f"list of {_kind(get_args(annotation)[0])}"
    if origin is dict:
        return "mapping"
    words = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "value"}
    return words.get(annotation, "mapping")


def _bounds(field: FieldInfo) -> str:
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    said = [
        f"{word} {getattr(rule, name):g}"
        for rule in field.metadata
        for name, word in words.items()
        if getattr(rule, name, None) is not None
    ]
    return f" ({', '.join(said)})" if said else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True)
    if value in (None, "", [], {}) or isinstance(value, BaseModel):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _cell(text: str) -> str:
    return re.sub(r"(\$\{\w+\}|\{[^}]*\})", r"`\1`", text).replace("|", "\\|")


def pages() -> dict[str, str]:
    """Path of each page -> its text."""
    return {path: _page(top, parts) for path, (top, parts) in _PAGES.items()}


def _page(top: str, parts: Parts) -> str:
    lines = [top]
    for heading, (sentence, model) in parts.items():
        lines += [f"## {heading}", ""]
        lines += [sentence, ""] if sentence else []
        lines += ["| key | value | default | meaning |", "|---|---|---|---|"]
        for key, field in model.model_fields.items():
            kind = _kind(field.annotation) + _bounds(field)
            lines.append(f"| `{key}` | {kind} | {_default(field)} | {_cell(field.description or '')} |")
        lines.append("")
    return "\n".join(lines)
