"""The page of the Python interface, made from signatures and docstrings of what `judge` exports."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

import judge
from judge.api import Answer, LoadedDataset, OpenedRun
from judge.questions import registry
from judge.questions.question import signature

PATH = "docs/reference/python.md"

_TOP = """# Python

Made from the program. `import judge` loads nothing heavy. [The first tutorial](../tutorials/first_run.md) and
[which prompt](../tutorials/which_prompt.md) use most of what follows.

Arguments of a method are the options of the command of that name: `drop_systems="Human"` is `--drop-system Human`.
Each question is a method of `OpenedRun`.
"""


# Columns of a signature.
WIDE = 80


def _signature(name: str, function: Callable[..., Any]) -> str:
    """One argument a line where the whole is long; defaults as written, annotations as in the source."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    words, starred = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        # Python 3.13 names the module in which pathlib's classes lie.
        words.append(str(parameter).replace("pathlib._local.", "pathlib."))
    gives = inspect.signature(function).return_annotation
    tail = "" if gives is inspect.Signature.empty else f" -> {gives if isinstance(gives, str) else gives.__name__}"
    line = f"{name}({', '.join(words)}){tail}"
    if len(line) <= WIDE:
        return line
    inner = [part for word in words for part in _broken(f"{word},")]
    return "\n".join([f"{name}(", *inner, f"){tail}"])


def _broken(word: str) -> list[str]:
    """An argument's lines: choices that are too wide are broken between two of them."""
    return textwrap.wrap(word, WIDE, initial_indent="    ", subsequent_indent="        ", break_long_words=False)


def _text(documented: Any) -> str:
    return re.sub(r"(?m)^(Parameters|Returns|Raises|Notes)\n-+$", r"**\1**\n", inspect.getdoc(documented) or "")


def _function(level: str, name: str, function: Callable[..., Any]) -> list[str]:
    return [f"{level} {name}", "", "```text", _signature(name, function), "```", "", _text(function), ""]


def _members(kind: type) -> list[str]:
    lines = []
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property) or type(member).__name__ == "cached_property":
            lines += [f"### .{name}", "", _text(member), ""]
        elif inspect.isfunction(member):
            lines += _function("###", f".{name}", member)
    return lines


def _question(name: str) -> list[str]:
    """A question as a method of opened runs: its signature, and its help without the commands."""
    asked = registry.question(name)

    def method() -> None: ...

    method.__signature__ = signature(asked)  # type: ignore[attr-defined]
    method.__doc__ = re.sub(r"\n\s*Example: judge[^\n]*", "", asked.text)
    return _function("###", f".{name}", method)


def page() -> dict[str, str]:
    """Path of the page -> its text."""
    lines = [_TOP]
    for name in ("open_run", "run", "load_dataset", "open_audit", "register_plan"):
        lines += _function("##", f"judge.{name}", getattr(judge, name))
    for kind in (OpenedRun, Answer, LoadedDataset):
        lines += [f"## {kind.__name__}", "", _text(kind), "", *_members(kind)]
        if kind is OpenedRun:
            lines += [line for name in registry.names() for line in _question(name)]
    return {PATH: re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"}
