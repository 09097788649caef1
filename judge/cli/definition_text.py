"""Text of a new run.yaml: every key of the schema, with a comment. Keys without a value are commented out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from pydantic.fields import FieldInfo

from judge.asking.run_definition.spec import CriteriaSpec, GenerationSpec, RunSpec

_NESTED: Mapping[str, Any] = {"generation": GenerationSpec, "criteria": CriteriaSpec}
# What a key without a default may hold.
_EXAMPLES: Mapping[str, Any] = {
    "columns": {"id": "Story ID", "text": "Story", "system": "Model", "ratings": {"Coherence": "coh"}},
    "criteria.only": ["Coherence"],
    "criteria.wording": "eval_prompts.json",
    "generation.temperature": 0.7,
    "generation.top_p": 0.95,
    "generation.max_tokens": 256,
    "generation.seed": 1,
    "generation.stop": ["###"],
    "pairs": "all",
    "system": "You are a careful reader.",
    "base_url": "http://127.0.0.1:8000/v1",
    "revision": "main",
    "identity": "llama-8b in bfloat16",
    "engine": {"dtype": "bfloat16"},
    "note": "a pilot: not for publication",
    "max_cost": 5.0,
}

_COMMENT_AT = 44
_KEY = re.compile(r"^( *)([a-z_]+):[^#]*#\s*(.*)$")


def definition_text(head: list[str], values: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """Text of a run.yaml after the lines of `head`; `comments` by dotted key replace the schema's descriptions."""
    lines = [*head]
    for key, field in RunSpec.model_fields.items():
        nested = _NESTED.get(key)
        if nested is None:
            lines += _key(key, key, field, values, comments, "")
            continue
        given = values.get(key) or {}
        given = {"set": given} if isinstance(given, str) else given
        lines.append(_line(f"{key}:", _comment(key, field, comments)))
        for inner, inner_field in nested.model_fields.items():
            lines += _key(f"{key}.{inner}", inner, inner_field, given, comments, "  ")
    return "\n".join(lines) + "\n"


def comments_of(text: str) -> dict[str, str]:
    """Comment behind each key of a run definition's text, by dotted key."""
    comments: dict[str, str] = {}
    parent = ""
    for line in text.splitlines():
        outer = re.match(r"^([a-z_]+):", line)
        parent = outer[1] if outer else parent
        commented = _KEY.match(line)
        if commented:
            comments[f"{parent}.{commented[2]}" if commented[1] else commented[2]] = commented[3]
    return comments


def _key(
    dotted: str, key: str, field: FieldInfo, values: Mapping[str, Any], comments: Mapping[str, str], indent: str
) -> Iterator[str]:
    comment = _comment(dotted, field, comments)
    if key in values and isinstance(values[key], Mapping):
        yield _line(f"{indent}{key}:", comment)
        for inner, value in values[key].items():
            if isinstance(value, Mapping):
                yield f"{indent}  {inner}:"
                yield from (f"{indent}    {_flow({name: item})[1:-1]}" for name, item in value.items())
            else:
                yield f"{indent}  {_flow({inner: value})[1:-1]}"
    elif key in values:
        yield _line(f"{indent}{key}: {_flow(values[key])}", comment)
    else:
        default = field.get_default(call_default_factory=True)
        shown = _EXAMPLES[dotted] if default in (None, [], {}) and dotted in _EXAMPLES else default
        yield _line(f"{indent}# {key}: {_flow(shown)}", comment)


def _comment(dotted: str, field: FieldInfo, comments: Mapping[str, str]) -> str:
    if dotted in comments:
        return comments[dotted]
    default = field.get_default(call_default_factory=True)
    text = str(field.description or "")
    if field.is_required() or not isinstance(default, str | int | float):
        return text
    return f"{text}; default {default}"


def _line(left: str, comment: str) -> str:
    return f"{left.ljust(_COMMENT_AT)}  # {comment}" if comment else left


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False).strip()
    return text.removesuffix("...").strip()
