"""Builds the HTML markup of a section's parts: sentences, figures, tables, folded tables. All text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from judge.errors import JudgeError
from judge.pages.html_table import html_table
from judge.printing.tables import Table, worded
from judge.report.inputs import ReportInputs
from judge.summary.answers import Answer
from judge.wording import PLAIN, written

FOLD = 40
"""Tables with more rows are folded, so that a section is read before it is searched."""


class TableBlock(Markup):
    """A table's markup without its signature (the line with dataset, judge and settings).

    The section prints each signature once for all tables that share it.
    """

    caption: str
    signature: str

    @classmethod
    def of(cls, markup: Markup, table: Table) -> TableBlock:
        """The block of a table, made from its markup and its data."""
        block = cls(markup)
        block.caption, block.signature = table.title, table.signature
        return block


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the report page: its link target, its heading, and its blocks of markup in order."""

    identity: str
    title: str
    blocks: Sequence[Markup]

    @property
    def signatures(self) -> dict[str, tuple[str, ...]]:
        """Titles of the section's tables by signature (the line with dataset, judge and settings)."""
        captions: dict[str, dict[str, None]] = {}
        for block in self.blocks:
            if isinstance(block, TableBlock) and block.signature:
                captions.setdefault(block.signature, {})[block.caption] = None
        return {signature: tuple(titles) for signature, titles in captions.items()}


def prose(sentence: str, *, kind: str = "") -> Markup:
    """Markup of a paragraph. `kind` is its CSS class."""
    return Markup("<p{}>{}</p>").format(Markup(' class="{}"').format(kind) if kind else "", sentence)


def heading(title: str) -> Markup:
    """Markup of a heading within a section."""
    return Markup("<h3>{}</h3>").format(title)


def items(sentences: Sequence[str], *, kind: str = "sentences") -> Markup:
    """Markup of a list with one sentence per item. `kind` is its CSS class."""
    inner = Markup("").join(Markup("<li>{}</li>").format(sentence) for sentence in sentences)
    return Markup('<ul class="{}">{}</ul>').format(kind, inner)


def answered(answers: Sequence[Answer]) -> Markup:
    """Markup of a report's questions with their answers: the verdict and the rule behind it where there are any, and
    the sentences with the numbers.
    """
    parts = [
        Markup("<dt>{}{}</dt><dd>{}</dd>").format(
            answer.question,
            Markup(' <strong class="verdict">{}</strong> <span class="rule">{}</span>').format(
                answer.verdict.text, answer.verdict.rule
            )
            if answer.verdict is not None
            else "",
            Markup("").join(Markup("<p>{}</p>").format(sentence) for sentence in answer.sentences),
        )
        for answer in answers
    ]
    return Markup('<dl class="headline">{}</dl>').format(Markup("").join(parts))


def figure(picture: Markup, caption: str) -> Markup:
    """Markup of a chart with its caption. A chart wider than the screen scrolls."""
    return Markup('<figure><div class="scroll">{}</div><figcaption>{}</figcaption></figure>').format(picture, caption)


def shown(table: Table, inputs: ReportInputs, *, folded: bool | None = None, title: str | None = None) -> Markup:
    """Markup of a table without its signature (the line with dataset, judge and settings), which the section prints.

    Notes that apply to the whole page are left out too.

    Tables with more than 40 rows are folded unless `folded` says otherwise. A table without rows becomes a sentence.
    """
    general = set(inputs.general_notes)
    # A page has no options. Copies as LaTeX and CSV take the table's own notes: advice leaves those too.
    table = worded(table, None)
    notes = [inputs.raters.worded(note) for note in table.notes if note not in general]
    table = replace(table, title=table.title if title is None else title)
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
    return TableBlock.of(markup, table)


def failed(subject: str, error: JudgeError) -> Markup:
    """Paragraph that says which part of the report page (`subject`) is missing and why, with the command that would
    help.

    If the error's advice names only an option, not a whole command, the advice is left out.
    """
    hint = written(error.hint or "", None)
    mends = Markup(" <code>{}</code>").format(hint) if hint else ""
    return Markup('<p class="absent">{}: {}.{}</p>').format(subject, written(error.sentence, PLAIN), mends)
