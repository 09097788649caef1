"""Pages of commands, one for each panel of `judge --help`, made from the program's own help."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

from judge.cli.commands import PANELS

FOLDER = "docs/reference/commands"

_SCRIPT = """
import json, typer
from judge.cli.commands import COMMANDS, app_of
pages = {}
for name in COMMANDS:
    command = typer.main.get_command(app_of(name))
    parts = getattr(command, "commands", None)
    for path, one in ([(f"{name} {k}", c) for k, c in parts.items()] if parts else [(name, command)]):
        pages.setdefault(name, {})[path] = one.get_help(typer.Context(one, info_name=f"judge {path}"))
print(json.dumps(pages))
"""


def _help_by_command() -> dict[str, dict[str, str]]:
    """Command -> its path, or those of its subcommands -> help, at a fixed width and without colour."""
    env = os.environ | {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run([sys.executable, "-c", _SCRIPT], env=env, capture_output=True, text=True, check=True)
    helps: dict[str, dict[str, str]] = json.loads(done.stdout)
    return helps


def page_name(panel: str) -> str:
    """File name of a panel's page: "How is a judge run?" gives how_is_a_judge_run.md."""
    return re.sub(r"\W+", "_", panel.lower()).strip("_") + ".md"


def pages() -> dict[str, str]:
    """Path of a page -> its text, with an index of all commands."""
    helps = _help_by_command()
    index = ["# Commands", "", "Each page holds the help of its commands as the program prints it.", ""]
    written = {}
    for panel, commands in PANELS.items():
        index += [f"## [{panel}]({page_name(panel)})", "", "| command | what it does |", "|---|---|"]
        text = [f"# {panel}", ""]
        for name, entry in commands.items():
            anchor = "judge-" + next(iter(helps[name])).replace(" ", "-")
            index.append(f"| [`judge {name}`]({page_name(panel)}#{anchor}) | {entry.text} |")
            for path, help_text in helps[name].items():
                plain = re.sub(r"[ \t]+\n", "\n", help_text.strip())
                text += [f"## judge {path}", "", "```text", re.sub(r"\n{3,}", "\n\n", plain), "```", ""]
        index.append("")
        written[f"{FOLDER}/{page_name(panel)}"] = "\n".join(text)
    return {f"{FOLDER}/index.md": "\n".join(index)} | written
