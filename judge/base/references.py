"""Publications cited in methods paragraphs, from `references.bib`, whose entries were checked against the publishers'
data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from judge.base.late_pattern import late

_FILE = Path(__file__).with_name("references.bib")
_FIELD = late(r"^  (\w+) = \{(.*)\},?$", re.MULTILINE)


# Keys of works by the beginning of a dataset's name.
DATASETS = {
    "hanna": ("chhun-etal-2022-human", "chhun-etal-2024-language"),
    "mans": ("guan-etal-2021-openmeva",),
    "storyer": ("chen-etal-2022-storyer",),
    "plotguided": ("ghazarian-etal-2021-plot",),
    "deltascore": ("xie-etal-2023-deltascore",),
}


@dataclass(frozen=True, slots=True)
class Work:
    """One publication: its citation key, its BibTeX fields without braces, and its whole BibTeX entry."""

    key: str
    fields: dict[str, str]
    bibtex: str

    @property
    def short(self) -> str:
        """Authors and year, such as `Shrout and Fleiss (1979)`."""
        names = [name.partition(",")[0] for name in self.fields["author"].split(" and ")]
        who = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
        return f"{who} ({self.fields['year']})"

    @property
    def line(self) -> str:
        names = [" ".join(reversed(name.split(", "))) for name in self.fields["author"].split(" and ")]
        who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        where = next(
            (self.fields[key] for key in ("journal", "booktitle", "publisher", "note") if key in self.fields), ""
        )
        if "volume" in self.fields:
            where += f" {self.fields['volume']}" + (f"({self.fields['number']})" if "number" in self.fields else "")
        pages = f", {self.fields['pages'].replace('--', '–')}" if "pages" in self.fields else ""
        doi = f" doi:{self.fields['doi']}" if "doi" in self.fields else ""
        return f"{who}. {self.fields['year']}. {self.fields['title']}. {where}{pages}.{doi}"


@cache
def works() -> dict[str, Work]:
    works_by_key = {}
    for entry in re.split(r"\n(?=@)", _FILE.read_text(encoding="utf-8")):
        key = entry.partition("{")[2].partition(",")[0]
        fields = {name: _plain(value) for name, value in _FIELD.findall(entry)}
        works_by_key[key] = Work(key, fields, entry.strip() + "\n")
    return works_by_key


def bibtex(keys: Sequence[str]) -> str:
    return "\n".join(works()[key].bibtex for key in keys)


def _plain(value: str) -> str:
    return value.replace(r"{\'e}", "é").replace("{", "").replace("}", "")
