"""llms.txt: what a language model is told of this documentation, made from the site's own list of pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

PATH = "docs/llms.txt"

_TOP = """# judge

> `judge` (distribution `storyjudge`) measures whether a language model can stand in for human readers of stories: it
> asks a judge, keeps every answer, reads ratings without inventing any, and compares them with people's, beside one
> more person and a control that reads only the surface of a text.

- `judge NAME --help` has an example for every command. In Python: `judge.open_run(PATH).correlate().frame`.
- A rating that is missing is a status with a reason, never a number. An undefined statistic names its reason.
- No network is used but for the provider that a run names and for `judge data fetch`.
"""


def nav(config: Path) -> list[Any]:
    """The site's list of pages, as mkdocs.yml has it."""
    found = re.search(r"(?ms)^nav:\n.*?(?=^\S|\Z)", config.read_text(encoding="utf-8"))
    assert found, f"{config} has no nav"
    return list(yaml.safe_load(found[0])["nav"])


def paths(entries: list[Any]) -> list[str]:
    """Paths of all pages of the list, in order."""
    found: list[str] = []
    for entry in entries:
        content = entry if isinstance(entry, str) else next(iter(entry.values()))
        found += [content] if isinstance(content, str) else paths(content)
    return found


def title(path: Path) -> str:
    """A page's first heading; for a page that only shows another file, that file's."""
    text = path.read_text(encoding="utf-8")
    shown = re.match(r'--8<-- "(.+)"', text)
    return title(path.parents[1] / shown[1]) if shown else text.splitlines()[0].lstrip("# ")


def page(config: Path) -> dict[str, str]:
    """Path -> text of llms.txt."""
    docs = config.parent / "docs"
    lines = [_TOP]
    for entry in nav(config):
        heading, content = next(iter(entry.items()))
        listed = [content] if isinstance(content, str) else paths(content)
        written = [one for one in listed if one.startswith("reference/commands/") and not one.endswith("index.md")]
        lines += [f"## {heading}", ""]
        lines += [f"- [{_title(docs, one)}]({one})" for one in listed if one not in written]
        lines.append("")
    return {PATH: "\n".join(lines)}


def _title(docs: Path, path: str) -> str:
    """A generated page that is not written yet goes by its file's name."""
    return title(docs / path) if (docs / path).is_file() else Path(path).stem.replace("_", " ")
