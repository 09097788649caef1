"""Regular expressions mean the same on every supported Python: none is possessive or atomic.

Python 3.11.2, Debian 12's own, matches possessive quantifiers wrongly: `\\d++(?:[.,]\\d++)*+` takes "1." from "1. Two".
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import judge
from judge.base.late_pattern import late

ROOT = Path(__file__).resolve().parents[1]
LOOKS_SO = re.compile(r"[+*?}]\+|\(\?>")
"""Text without these holds no such operator, and is not taken apart."""
LATE_PATTERN = type(late(""))
LATE = {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}


def operators(parsed: Any) -> Iterator[str]:
    """Names of all operators of a parsed expression, nested ones too."""
    if isinstance(parsed, list | tuple) or hasattr(parsed, "data"):
        for part in parsed:
            yield from operators(part)
    elif parsed.__class__.__name__ == "_NamedIntConstant":
        yield str(parsed)


def used(pattern: str, flags: int = 0) -> set[str]:
    return set(operators(re._parser.parse(pattern, flags)))  # type: ignore[attr-defined]


def compiled() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Patterns that modules of the package hold, in tables too."""
    for module in pkgutil.walk_packages(judge.__path__, "judge."):
        if module.name.endswith("__main__"):
            continue
        try:
            names = vars(importlib.import_module(module.name))
        except ModuleNotFoundError:  # an engine that is not installed
            continue
        for name, value in names.items():
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
            yield from (
                (f"{module.name}.{name}", part) for part in parts if isinstance(part, re.Pattern | LATE_PATTERN)
            )


def written() -> Iterator[tuple[str, str]]:
    """Patterns that are written out in calls of `re`."""
    for file in [*ROOT.glob("judge/**/*.py"), *ROOT.glob("tests/**/*.py")]:
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if LOOKS_SO.search(text) else ():
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
            if called and isinstance(node.func.value, ast.Name) and node.func.value.id == "re":
                pattern = node.args[0]
                if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
                    yield f"{file}:{node.lineno}", pattern.value


@pytest.mark.parametrize("pattern", [r"\d++", r"(?:a(?:b*+)?)", "(?>a)", "[ab]{2}+"])
def test_what_is_looked_for_is_found(pattern: str) -> None:
    assert used(pattern) & LATE


def test_no_expression_is_possessive_or_atomic() -> None:
    held, plain = list(compiled()), list(written())
    assert len(held) > 100
    assert any(where.startswith(__file__) for where, _ in plain)
    assert [where for where, one in held if isinstance(one.pattern, str) and used(one.pattern, one.flags) & LATE] == []
    assert [where for where, one in plain if used(one) & LATE and not where.startswith(__file__)] == []
