"""The glossary, of which a page shows the words that it uses: who gets a report has nothing else to look them up in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from markupsafe import Markup

from judge.show.report.blocks import Section

_LINK = re.compile(r" \(\[more\]\([^)]*\)\)|\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`([^`]*)`")


@cache
def glossary() -> Mapping[str, str]:
    """Term, or terms with commas -> its meaning in Markdown, in alphabetical order. docs/glossary.md is made of it."""
    rows = Path(__file__).with_name("glossary.md").read_text(encoding="utf-8").splitlines()
    return dict(row.strip("| ").split(" | ", 1) for row in rows)


def section(sections: Iterable[Section]) -> Section:
    """The terms that stand in these sections, folded."""
    text = Markup(" ").join(block for each in sections for block in (each.title, *each.blocks)).striptags()
    used = [
        Markup("<dt>{}</dt><dd>{}</dd>").format(term, _marked(meaning))
        for term, meaning in glossary().items()
        if any(re.search(rf"\b{re.escape(word)}s?\b", text) for word in term.split(", "))
    ]
    blocks = [Markup('<dl class="words">{}</dl>').format(Markup("").join(used))]
    return Section("words", "Words of this page", blocks, f"{len(used)} words and what they mean", appendix=True)


def _marked(meaning: str) -> Markup:
    plain = _LINK.sub(lambda link: link.group(1) or "", meaning)
    pieces = _CODE.split(plain)
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if number % 2 else piece for number, piece in enumerate(pieces)
    )
