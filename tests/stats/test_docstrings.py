"""Functions of `judge.stats` that other modules use say what each of their parameters is (numpydoc)."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATS = ROOT / "judge/stats"
FOLDERS = [".", *sorted(path.parent.name for path in STATS.glob("*/__init__.py"))]

_SECTION = re.compile(r"^Parameters\n-{3,}\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", re.DOTALL | re.MULTILINE)


def undocumented(function: ast.FunctionDef) -> list[str]:
    """Parameters that the section "Parameters" of a docstring does not name; all of them where there is none."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    names = [argument.arg for argument in every if argument is not None and argument.arg not in ("self", "cls")]
    section = _SECTION.search(ast.get_docstring(function) or "")
    heads = [line.split(" : ")[0] for line in section[1].splitlines() if re.match(r"\S", line)] if section else []
    documented = {name.strip(" *") for head in heads for name in head.split(",")}
    return [name for name in names if name not in documented]


def public(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Public functions by name, and public methods of public classes as "class.method"."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            yield from ((f"{node.name}.{part.name}", part) for part in methods if not part.name.startswith("_"))


def name_of(path: Path) -> str:
    """A module's dotted name."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@functools.cache
def users() -> dict[str, set[str]]:
    """Modules by what they use: "module.function" where they import it, and ".attribute" of whatever value."""
    by_use: dict[str, set[str]] = {}
    for path in ROOT.glob("judge/**/*.py"):
        module, meant = name_of(path), dict[str, str]()
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                meant |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        uses = set(meant.values())
        for node in nodes:
            if isinstance(node, ast.Attribute):
                uses.add(f".{node.attr}")
                if isinstance(node.value, ast.Name) and node.value.id in meant:
                    uses.add(f"{meant[node.value.id]}.{node.attr}")
        for use in uses:
            by_use.setdefault(use, set()).add(module)
    return by_use


def used_elsewhere(module: str, name: str) -> bool:
    """Whether another module imports a function, or takes an attribute with the name of a method."""
    use = f".{name.split('.')[1]}" if "." in name else f"{module}.{name}"
    return bool(users().get(use, set()) - {module})


@pytest.mark.parametrize(
    ("docstring", "missing"),
    [
        ("Mean.", ["x", "y", "options"]),
        ("Mean.\n\nParameters\n----------\nx : array\n    See `y`.\n", ["y", "options"]),
        ("Mean.\n\nParameters\n----------\nx, y : array\n*options\n    As in `f`.\n\nReturns\n-------\nfloat\n", []),
        ("Mean.\n\nParameters\n----------\nx, options\n    As in `f`.\n\nRaises\n------\ny : int\n", ["y"]),
    ],
)
def test_what_is_looked_for_is_found(docstring: str, missing: list[str]) -> None:
    (function,) = ast.parse(f"def f(self, x, *options, y=1):\n    {docstring!r}").body
    assert isinstance(function, ast.FunctionDef)
    assert sorted(undocumented(function)) == sorted(missing)


def test_uses_are_found() -> None:
    assert used_elsewhere("judge.stats.correlation.kendall", "codes")
    assert used_elsewhere("judge.stats.resampling.bootstrap", "Resamples.interval")
    assert not used_elsewhere("judge.stats.correlation.kendall", "nothing")


@pytest.mark.parametrize("folder", FOLDERS)
def test_functions_used_elsewhere_name_every_parameter(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{function.lineno} {name}: {', '.join(undocumented(function))}"
        for path in sorted((STATS / folder).glob("*.py"))
        for name, function in public(ast.parse(path.read_text(encoding="utf-8")))
        if undocumented(function) and used_elsewhere(name_of(path), name)
    ]
    assert not found, "\n".join(found)
