"""Patterns that every Python from 3.11 on matches alike."""

from __future__ import annotations

import importlib
import pkgutil
import re
from re import _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import judge.parsing


def modules() -> list[ModuleType]:
    found = [
        importlib.import_module(f"judge.parsing.{one.name}") for one in pkgutil.iter_modules(judge.parsing.__path__)
    ]
    assert len(found) >= 20
    return found


def operations(parsed: Any) -> set[Any]:
    """Every operation in a parsed pattern, groups and branches included."""
    found: set[Any] = set()
    todo = [parsed]
    while todo:
        one = todo.pop()
        if isinstance(one, _parser.SubPattern):
            todo.extend(one.data)
        elif isinstance(one, list | tuple):
            todo.extend(one)
        elif isinstance(one, _constants._NamedIntConstant):
            found.add(one)
    return found


def test_no_pattern_is_possessive_or_atomic() -> None:
    # Python before 3.11.3 (Debian 12 has 3.11.2) matches these wrongly.
    patterns = [value for module in modules() for value in vars(module).values() if isinstance(value, re.Pattern)]
    assert len(patterns) >= 40
    bad = {_constants.POSSESSIVE_REPEAT, _constants.ATOMIC_GROUP}
    assert bad & operations(_parser.parse(r"\d++x(?>y)")) == bad
    for pattern in patterns:
        assert not bad & operations(_parser.parse(pattern.pattern, pattern.flags)), pattern.pattern


def test_a_number_is_matched_whole() -> None:
    from judge.parsing.mentions import mentions

    assert [m.value for m in mentions("1. two 3.5 1,000 7b 4.5x 1.2.3 6")] == [1, 2, 3.5, 1000, 6]
