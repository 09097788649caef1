"""Public functions of `judge.stats` name each of their parameters in backticks in their docstring."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATS = ROOT / "judge/stats"
FOLDERS = [".", *sorted(path.parent.name for path in STATS.glob("*/__init__.py"))]

_NAMED = re.compile(r"(?<!`)`([a-z_]\w*)`(?!`)", re.IGNORECASE)


def undocumented(function: ast.FunctionDef, of: ast.ClassDef | None = None) -> list[str]:
    """Parameters that neither a docstring nor that of the class `of` names in single backticks."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    names = [argument.arg for argument in every if argument is not None and argument.arg not in ("self", "cls")]
    text = "\n".join(ast.get_docstring(node) or "" for node in (function, of) if node is not None)
    return [name for name in names if name not in _NAMED.findall(text)]


def public(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, ast.ClassDef | None]]:
    """Public functions by name, and public methods of public classes as "class.method" with their class."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, node, None
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            yield from ((f"{node.name}.{part.name}", part, node) for part in methods if not part.name.startswith("_"))


@pytest.mark.parametrize(
    ("docstring", "of", "missing"),
    [
        ("Mean.", None, ["x", "y", "options"]),
        ("Mean of x, `y`.", None, ["x", "options"]),
        ("Mean of `x` and\n\n`y`, by `options`.", None, []),
        ("Mean of ``x``, ```y``` and `x y`, by `options`.", None, ["x", "y"]),
        ("Mean of `x_low` and `y`, by `options`.", None, ["x"]),
        ("Mean of `y`.", "Takes `x` and `options`.", []),
    ],
)
def test_what_is_looked_for_is_found(docstring: str, of: str | None, missing: list[str]) -> None:
    (function,) = ast.parse(f"def f(self, x, *options, y=1):\n    {docstring!r}").body
    assert isinstance(function, ast.FunctionDef)
    (owner,) = ast.parse(f"class A:\n    {of!r}").body
    assert isinstance(owner, ast.ClassDef)
    assert sorted(undocumented(function, owner if of else None)) == sorted(missing)


def test_methods_come_with_their_class() -> None:
    module = ast.parse("def f(): ...\ndef _g(): ...\nclass A:\n    def h(self): ...\n    def _i(self): ...")
    assert [(name, of and of.name) for name, _, of in public(module)] == [("f", None), ("A.h", "A")]


@pytest.mark.parametrize("folder", FOLDERS)
def test_functions_name_every_parameter(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{function.lineno} {name}: {', '.join(undocumented(function, of))}"
        for path in sorted((STATS / folder).glob("*.py"))
        for name, function, of in public(ast.parse(path.read_text(encoding="utf-8")))
        if undocumented(function, of)
    ]
    assert not found, "\n".join(found)
