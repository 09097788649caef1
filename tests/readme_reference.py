"""The command reference of README.md, made from the program's own help: `python -m tests.readme_reference --write`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- command reference: begin -->", "<!-- command reference: end -->"

_SCRIPT = """
import importlib, typer
from judge.cli.commands import COMMANDS
for name, (module, line) in COMMANDS.items():
    command = typer.main.get_command(importlib.import_module(f"judge.cli.{module}").app)
    parts = getattr(command, "commands", None)
    for path, one in ([(f"{name} {k}", c) for k, c in parts.items()] if parts else [(name, command)]):
        context = typer.Context(one, info_name=f"judge {path}")
        print(f"#### judge {path}")
        print("```text")
        print(one.get_help(context).strip())
        print("```")
        print()
"""


def reference() -> str:
    """Help of every command, at a fixed width and without colour."""
    env = os.environ | {"COLUMNS": "110", "TERMINAL_WIDTH": "110", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run([sys.executable, "-c", _SCRIPT], env=env, capture_output=True, text=True, check=True)
    text = re.sub(r"[ \t]+\n", "\n", done.stdout)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def with_reference(readme: str) -> str:
    """README's text with the reference put in anew."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{reference()}{END}{after}"


def main() -> int:
    """Print whether the reference is fresh, or write it."""
    readme = README.read_text(encoding="utf-8")
    fresh = with_reference(readme)
    if "--write" in sys.argv:
        README.write_text(fresh, encoding="utf-8")
        return 0
    print("fresh" if fresh == readme else "stale: make docs")
    return int(fresh != readme)


if __name__ == "__main__":
    sys.exit(main())
