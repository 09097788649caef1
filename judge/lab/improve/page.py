"""The page of an improvement: answers, tables, and the texts of the candidates as differences from the original."""

from __future__ import annotations

import difflib
from pathlib import Path

from markupsafe import Markup

from judge.base.files import package_file, write_output
from judge.base.printing.output import html_table
from judge.lab.improve.printed import tables
from judge.lab.improve.result import Improvement
from judge.lab.improve.sentences import sentences

PAGE = "improve.html"
_STYLE = """
main { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
dt { font-weight: 600; margin-top: .6rem; } dd { margin: 0 0 0 1.5rem; }
pre { overflow-x: auto; white-space: pre-wrap; border: 1px solid var(--line); padding: .6rem; }
ins, del { text-decoration: none; display: block; } ins::before { content: "+ "; } del::before { content: "− "; }
ins { border-left: 3px solid var(--c3); padding-left: .4rem; }
del { border-left: 3px solid var(--c2); padding-left: .4rem; }
"""
_LAYOUT = Markup(
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>{title}</title><style>{style}</style></head><body><main><h1>{title}</h1>{body}</main></body></html>\n"
)


def write_page(found: Improvement, folder: Path) -> Path:
    """Write the page into the folder; its path. Strangers' texts are escaped."""
    file = folder / PAGE
    style = Markup(package_file("show", "pages", "style.css").read_text(encoding="utf-8") + _STYLE)  # noqa: S704  ours
    write_output(file, str(_LAYOUT.format(title=f"Better than {found.base}?", style=style, body=_body(found))))
    return file


def _body(found: Improvement) -> Markup:
    items = [Markup("<dt>{}</dt><dd>{}</dd>").format(label, said) for label, said in sentences(found)]
    notes = [Markup("<p>{}</p>").format(note) for note in found.notes]
    parts = [
        Markup("<p>{}, Eval-Prompt {}, {}.</p>").format(found.judge, found.base, ", ".join(found.criteria)),
        Markup("<dl>{}</dl>").format(Markup("").join(items)),
        *notes,
        *(html_table(table, copies=False) for table in tables(found)[1:]),
        Markup("<h2>The original</h2><pre>{}</pre>").format(found.base_source),
    ]
    if found.proposals:
        parts.append(Markup("<h2>Candidates, as differences from the original</h2>"))
    for each in found.proposals:
        mark = " (delivered)" if each.name == found.delivered else ""
        head = Markup("<details{}><summary>{}: {}{}</summary>").format(
            Markup(" open") if mark else "", each.name, each.origin, mark
        )
        parts.append(
            head
            + Markup("<pre>{}</pre></details>").format(
                _difference(found.base_source, "\n".join(each.parts.values()) or each.source)
            )
        )
    return Markup("\n").join(parts)


def _difference(old: str, new: str) -> Markup:
    lines = []
    for line in difflib.ndiff(old.splitlines(), new.splitlines()):
        if line.startswith("+ "):
            lines.append(Markup("<ins>{}</ins>").format(line[2:]))
        elif line.startswith("- "):
            lines.append(Markup("<del>{}</del>").format(line[2:]))
        elif line.startswith("  "):
            lines.append(Markup("{}\n").format(line[2:]))
    return Markup("").join(lines)
