"""Builds the HTML markup of a section's parts: sentences, figures, tables, folded tables. All text is escaped."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from judge.base.errors import JudgeError
from judge.base.fingerprint import sha256_script
from judge.base.printing.output import html_table
from judge.base.printing.tables import Table, worded
from judge.base.redaction import redact
from judge.base.wording import PLAIN, written
from judge.show.pages import environment, stylesheet
from judge.show.report.inputs import ReportInputs
from judge.version import __version__

# Tables with more rows are folded, so that a section is read before it is searched.
FOLD = 6

# Width of a picture from which on its caption stands below it, not beside it.
_WIDE = 1000


class TableBlock(Markup):
    """Markup of tables without their signatures (dataset, judge and settings); `signed` has these with titles. The
    section prints each signature once for all tables that share it."""

    signed: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, markup: Markup, signed: Iterable[tuple[str, str]]) -> TableBlock:
        block = cls(markup)
        block.signed = tuple(signed)
        return block


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its link target, its heading, and its blocks in order."""

    identity: str
    title: str
    blocks: Sequence[Markup]
    folded: str = ""
    """What the folded section is said to hold; "" for a section that stands open."""
    appendix: bool = False
    """Whether it stands behind the answers, on paper on a page of its own."""

    @property
    def signatures(self) -> dict[str, tuple[str, ...]]:
        """Titles of the section's tables by signature."""
        captions: dict[str, dict[str, None]] = {}
        for block in self.blocks:
            for signature, title in _signed(block):
                captions.setdefault(signature, {})[title] = None
        return {signature: tuple(titles) for signature, titles in captions.items()}


def prose(sentence: str, *, kind: str = "") -> Markup:
    """Markup of a paragraph. `kind` is its CSS class."""
    return Markup("<p{}>{}</p>").format(Markup(' class="{}"').format(kind) if kind else "", sentence)


def heading(title: str) -> Markup:
    return Markup("<h3>{}</h3>").format(title)


def items(sentences: Sequence[str], *, kind: str = "sentences") -> Markup:
    """Markup of a list with one sentence per item. `kind` is its CSS class."""
    inner = Markup("").join(Markup("<li>{}</li>").format(sentence) for sentence in sentences)
    return Markup('<ul class="{}">{}</ul>').format(kind, inner)


def folded(title: str, *parts: Markup) -> Markup:
    """Parts folded under a title. A link to something within unfolds them; closed they are not printed."""
    markup = Markup("<details><summary>{}</summary>{}</details>").format(title, Markup("").join(parts))
    return TableBlock.of(markup, (signed for part in parts for signed in _signed(part)))


def _signed(block: Markup) -> tuple[tuple[str, str], ...]:
    return block.signed if isinstance(block, TableBlock) else ()


def figure(picture: Markup, caption: str) -> Markup:
    """A chart with its caption: beside it, or below a chart that needs the whole width."""
    width = re.search(r' width="([\d.]+)"', picture)
    kind = Markup(' class="whole"') if width is not None and float(width.group(1)) > _WIDE else ""
    return Markup('<figure{}><div class="scroll">{}</div><figcaption>{}</figcaption></figure>').format(
        kind, picture, caption
    )


def shown(table: Table, inputs: ReportInputs, *, folded: bool | None = None, title: str | None = None) -> Markup:
    """A table without its signature and the notes that apply to the whole page; without rows, a sentence. Tables with
    more than 6 rows are folded unless `folded` says otherwise."""
    general = set(inputs.general_notes)
    # A page has no options. Copies as LaTeX and CSV take the table's own notes: advice leaves those too.
    table = worded(table, None)
    notes = [inputs.raters.worded(note) for note in table.notes if note not in general]
    # Sections say in sentences of their own what the table's answer is.
    table = replace(table, title=table.title if title is None else title, above="")
    table = inputs.raters.table(table)
    if not table.rows:  # nothing to unfold: what the notes say of it is all there is
        sentence = "; ".join(notes) or "no rows"
        asks = table.title.endswith("?")
        return prose(f"{table.title} {sentence[:1].upper()}{sentence[1:]}." if asks else f"{table.title}: {sentence}.")
    markup = html_table(table, notes=notes, signed=False)
    if folded or (folded is None and len(table.rows) > FOLD):
        count = f"{len(table.rows)} rows" if len(table.rows) != 1 else "1 row"
        summary = Markup('<summary>{} <span class="faint">({})</span></summary>').format(table.title, count)
        markup = Markup("<details>{}{}</details>").format(summary, markup)
    return TableBlock.of(markup, [(table.signature, table.title)] if table.signature else ())


def failed(subject: str, error: JudgeError) -> Markup:
    """Paragraph on a missing part of the page and why, without advice that names only an option."""
    hint = written(error.hint or "", None)
    mends = Markup(" <code>{}</code>").format(hint) if hint else ""
    return Markup('<p class="absent">{}: {}.{}</p>').format(subject, written(error.sentence, PLAIN), mends)


# Renders the report as one self-contained HTML file, without links to other files and with one script of its own. The
# content security policy allows only this script, by its hash: one in a story would not run even if not escaped.

_FOLDER = Path(__file__).parent


def html(inputs: ReportInputs, sections: Sequence[Section]) -> str:
    script = (_FOLDER / "report.js").read_text(encoding="utf-8")
    style = stylesheet() + (_FOLDER / "report.css").read_text(encoding="utf-8")
    template = environment(_FOLDER / "templates").get_template("report.html")
    return template.render(
        title=title(inputs),
        sections=sections,
        # Our own files: the only parts of the page that are not escaped, beside what the charts build.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        hash=sha256_script(script),
        version=__version__,
        command=inputs.options.command,
        options=inputs.options,
        runs=[str(run) for run in inputs.runs],
    )


def title(inputs: ReportInputs) -> str:
    """The title in the options, or one made of judges and datasets."""
    if inputs.options.title:
        return inputs.options.title
    datasets = ", ".join(dict.fromkeys(fact.dataset for fact in inputs.facts))
    judges = tuple(dict.fromkeys((*inputs.judges, *(fact.judge for fact in inputs.compared_facts))))
    who = ", ".join(judges) if len(judges) <= 3 else f"{len(judges)} judges"
    return f"{who or 'No judge'} on {datasets}"


def quoted(arguments: Sequence[str]) -> str:
    """A `judge` command line with shell quoting, and with API keys masked."""
    return redact(" ".join(["judge", *map(shlex.quote, arguments)]))
