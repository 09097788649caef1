"""The atlas: one page on the judges of every study, each in the same six answers, and a page of each study's cells.

A study's part is kept beside its page and is made again only where its files or the program have changed, so that work
that was broken off goes on where it stood."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judge.answers.parsing import parser as load_parser
from judge.answers.parsing.verdict.parser import VERSION as VERDICTS_VERSION
from judge.base.errors import DataError
from judge.base.files import write_whole
from judge.base.fingerprint import fingerprint, sha256_file
from judge.base.printing.tables import render
from judge.inputs.datasets.locate import find
from judge.inputs.datasets.sources import FILES, OTHER_FILES, UNPUBLISHED
from judge.reproduce.cell import STUDIES, Cell
from judge.reproduce.judged import QUESTIONS, Judged, changing
from judge.reproduce.printing import cell_table, sentence
from judge.reproduce.study import Options, Study
from judge.version import __version__

Say = Callable[[str], None]
NO_JUDGES = "The files hold no language model's answers or ratings; the study's measures are in its tables."

_TOP = """# An atlas of checked judges

Every study whose files this program reads, and every judge in it, in the same six answers. Printed cells *hold* where
the study's recipe gives the number and the corrected recipe the same, or an interval that holds it; they *move* where
the corrected interval leaves the number out, and *differ* where the released files give another one. *Above*, *below*,
*yes* and *better* hold at 5 % (over all that a line counts, by Holm's method); else: cannot tell.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One study on the page: how many cells match, which rows' cells move, what its numbers come to, and its judges."""

    name: str
    matches: str
    changing: str
    moved: str
    findings: tuple[str, ...]
    judges: tuple[Judged, ...]


def write_atlas(folder: Path, seed: int, say: Say) -> Path:
    """Write the page and each study's, and give the page's path. A study whose files are not at hand is named with the
    command that gets them."""
    folder.mkdir(parents=True, exist_ok=True)
    sections = []
    for number, name in enumerate(STUDIES, start=1):
        say(f"{name} ({number} of {len(STUDIES)})")
        try:
            sections.append(section(_kept(folder, name, seed, say), linked=True))
        except DataError as error:
            told = f"{error}; {error.hint}" if error.hint else str(error)
            sections.append(f"## {STUDIES[name].title}\n\nNot at hand: {told}\n")
    page = folder / "atlas.md"
    write_whole(page, whole(sections))
    return page


def _kept(folder: Path, name: str, seed: int, say: Say) -> Part:
    kept, key = folder / f"{name}.json", _key(name, seed)
    if kept.is_file() and (folder / f"{name}.md").is_file():
        stored = json.loads(kept.read_text(encoding="utf-8"))
        if stored.get("key") == key:
            say(f"{name}: as it stands in {folder}")
            return _restored(stored["part"])
    options = Options(seed=seed)
    study: Study = importlib.import_module(f"judge.reproduce.{name.replace('-', '_')}").study(options)
    cells = study.cells(options)
    part = part_of(study, cells)
    table = cell_table(study, cells, options, study.title, sentence(cells))
    write_whole(folder / f"{name}.md", render(table, "md") + "\n")
    write_whole(kept, json.dumps({"key": key, "part": asdict(part)}, ensure_ascii=False, indent=1) + "\n")
    return part


def _key(name: str, seed: int) -> str:
    files = {**FILES, **OTHER_FILES, **UNPUBLISHED}
    paths = [find(file) for known in STUDIES[name].sets for file in files[known]]
    held = [sha256_file(path) if path is not None else None for path in paths]
    return fingerprint([held, __version__, load_parser("ours").version, VERDICTS_VERSION, seed])


def _restored(part: dict[str, Any]) -> Part:
    judges = tuple(Judged(**judge) for judge in part["judges"])
    return Part(**{**part, "findings": tuple(part["findings"]), "judges": judges})


def part_of(study: Study, cells: Sequence[Cell]) -> Part:
    """A study's part of the page."""
    moved = Counter(cell.row for cell in cells if cell.verdict == "moves")
    rows = "; ".join(f"{row} ({count})" for row, count in moved.items())
    judges = tuple(study.judges(cells))
    return Part(study.name, sentence(cells), changing(cells), rows, tuple(study.findings()), judges)


def section(part: Part, *, linked: bool) -> str:
    """A study's section: with `linked`, its title leads to the page of its cells."""
    title = STUDIES[part.name].title
    lines = [
        f"## {title}",
        "",
        f"`judge reproduce {part.name}`" + (f" · [every cell]({part.name}.md)" if linked else ""),
        "",
        f"- Cells: {part.matches}. Corrected, {part.changing}.",
        *((f"- Cells that move, by row: {part.moved}.",) if part.moved else ()),
        *(f"- {finding[0].upper()}{finding[1:]}." for finding in part.findings),
        "",
    ]
    if not part.judges:
        return "\n".join([*lines, NO_JUDGES, ""])
    lines += ["| judge | " + " | ".join(QUESTIONS.values()) + " |", "|---" * (len(QUESTIONS) + 1) + "|"]
    for judge in part.judges:
        answers = asdict(judge)
        lines.append(f"| {judge.judge} | " + " | ".join(answers[name] for name in QUESTIONS) + " |")
    return "\n".join([*lines, ""])


def whole(sections: Sequence[str]) -> str:
    """The page."""
    return "\n".join([_TOP, *sections])
