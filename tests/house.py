"""How large the house is: `python -m tests.house` prints modules and lines of each room of `judge/`."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "judge"
KINDS = ("code", "imports", "docstrings", "comments", "blank")
ONE_STEP = 3


@dataclass
class Room:
    """Counts of one folder of `judge/`, or of its loose modules; `code` counts lines of imports too."""

    modules: int = 0
    lines: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    longest: int = 0
    called_once: int = 0

    def add(self, other: Room) -> None:
        """Count another one's modules as of this room."""
        self.modules += other.modules
        self.lines += other.lines
        self.kinds += other.kinds
        self.longest = max(self.longest, other.longest)
        self.called_once += other.called_once


def _docstring(node: ast.AST) -> ast.Expr | None:
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    told = isinstance(node, kinds) and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first if told and isinstance(first.value.value, str) else None


def _length(node: ast.AST) -> int:
    return (getattr(node, "end_lineno", 0) or 0) - getattr(node, "lineno", 0) + 1


def _called_once(nodes: list[ast.AST], functions: list[ast.FunctionDef | ast.AsyncFunctionDef]) -> int:
    """Private functions with a body of three lines at most whose name stands in one other place of their module."""
    names = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    names += Counter(node.attr for node in nodes if isinstance(node, ast.Attribute))
    private = (one for one in functions if one.name.startswith("_") and not one.name.startswith("__"))
    return sum(
        names[one.name] == 1 and (one.body[-1].end_lineno or 0) - one.body[0].lineno < ONE_STEP for one in private
    )


def measured(file: Path) -> Room:
    """Counts of one module."""
    text = file.read_text(encoding="utf-8")
    nodes, lines = list(ast.walk(ast.parse(text))), text.splitlines()
    docstrings = [one for node in nodes if (one := _docstring(node))]
    told = {n for one in docstrings for n in range(one.lineno, one.lineno + _length(one))}
    rest = [line.strip() for n, line in enumerate(lines, 1) if n not in told]
    imports = sum(_length(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    comments, blank = sum(line.startswith("#") for line in rest), rest.count("")
    counts = (len(rest) - comments - blank, imports, len(told), comments, blank)
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    longest, once = max(map(_length, functions), default=0), _called_once(nodes, functions)
    return Room(1, len(lines), Counter(dict(zip(KINDS, counts, strict=True))), longest, once)


def rooms() -> dict[str, Room]:
    """Counts by folder of `judge/`; those of its loose modules under ""."""
    found: dict[str, Room] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).parts
        found.setdefault(parts[0] if len(parts) > 1 else "", Room()).add(measured(file))
    return found


def main() -> None:
    """Print the counts."""
    head = ("modules", "lines", *KINDS, "longest function", "small private called once")
    print(f"{'room':16}" + "".join(f"{name:>{max(9, len(name) + 2)}}" for name in head))
    every = rooms()
    total = Room()
    for room in every.values():
        total.add(room)
    for name, room in [*sorted(every.items(), key=lambda pair: -pair[1].lines), ("all", total)]:
        row = (room.modules, room.lines, *(room.kinds[kind] for kind in KINDS), room.longest, room.called_once)
        cells = (f"{value:>{max(9, len(title) + 2)},}" for value, title in zip(row, head, strict=True))
        print(f"{name or '(loose)':16}" + "".join(cells))


if __name__ == "__main__":
    main()
