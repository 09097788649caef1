"""Tutorials as notebooks: commands are cells of %%bash, and what the page shows below a block is the cell's output."""

from __future__ import annotations

import re
from typing import Any

import nbformat

_HEADER = """---
jupyter:
  jupytext: {main_language: python}
  kernelspec: {name: python3, display_name: Python 3, language: python}
---

"""
_SHOWN = re.compile(r"(?s)\A```text\n(?P<printed>.*?)^```\n*", re.MULTILINE)
_NEEDS = re.compile(r"<!-- with: (?P<needs>\S+) -->\s*\Z")


def notebook(page: str) -> Any:
    """The notebook of a tutorial with the outputs of its page; metadata of a cell say what it needs, if anything."""
    import jupytext

    made = jupytext.reads(_HEADER + page, fmt="md")
    for number, (cell, after) in enumerate(zip(made.cells, [*made.cells[1:], None], strict=True)):
        cell["id"] = f"cell-{number}"  # a chance id would make another file of each build
        if cell.cell_type != "code":
            continue
        if number and (needs := _NEEDS.search(made.cells[number - 1].source)):
            cell.metadata["needs"] = needs["needs"]
        if after is not None and (shown := _SHOWN.match(after.source + "\n")):
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=shown["printed"])]
            after.source = (after.source + "\n")[shown.end() :].rstrip("\n")
    return made
