"""What is printed is read by people alone: no module takes a title, a reason or a signature apart again.

What they say is at hand as values (`Correlations`, `Reason`, `signature_parts`): a word that is changed in a table must
not change a figure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("analysis", "contamination", "questions/figures", "show")
PRINTED = {"title", "reason", "signature", "label", "caption"}
CUTS = {
    *("partition", "rpartition", "split", "rsplit", "splitlines", "removeprefix", "removesuffix"),
    *("startswith", "endswith", "find", "rfind", "index", "rindex"),
}
EXPRESSIONS = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}

ALLOWED = {
    "judge/show/report/blocks.py: table.title.endswith('?')": "the dots between a title and what follows",
}


def printed(node: ast.AST) -> bool:
    """Whether what is printed is looked at: an attribute or an entry of that name."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in PRINTED:
            return True
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant) and part.slice.value in PRINTED:
            return True
    return False


def readings(tree: ast.AST) -> Iterator[ast.expr]:
    """Where what is printed is cut, matched or searched."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            cut = node.func.attr in CUTS and printed(node.func.value)
            matched = node.func.attr in EXPRESSIONS and any(printed(argument) for argument in node.args)
            if cut or matched:
                yield node
        if isinstance(node, ast.Compare):
            searches = any(isinstance(how, ast.In | ast.NotIn) for how in node.ops)
            if searches and any(isinstance(side, ast.Attribute) and side.attr in PRINTED for side in node.comparators):
                yield node


def found() -> set[str]:
    files = [file for package in PACKAGES for file in sorted((ROOT / "judge" / package).rglob("*.py"))]
    assert len(files) > 150
    return {
        f"{file.relative_to(ROOT).as_posix()}: {ast.unparse(node)}"
        for file in files
        for node in readings(ast.parse(file.read_text(encoding="utf-8")))
    }


@pytest.mark.parametrize(
    "written",
    [
        "table.title.partition(' with people, ')",
        "_AROUND.fullmatch(estimate.reason or 'undefined')",
        "(estimate.reason or '').removeprefix('no interval: ')",
        "'|pool:' in table.signature",
        "kept['signature'].split('|')",
        "re.sub('x', 'y', one.title)",
    ],
)
def test_what_is_looked_for_is_found(written: str) -> None:
    assert list(readings(ast.parse(written)))


def test_nothing_that_is_printed_is_read_back() -> None:
    assert found() == set(ALLOWED)
