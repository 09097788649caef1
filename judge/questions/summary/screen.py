"""A summary printed as text for each dataset, or as tables. Answers longer than a screen have their short forms."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from judge.base.printing import text_layout
from judge.base.printing.tables import Column, Table, printable
from judge.questions.summary.result import Answer, OfDataset, Summary, in_a_row, rows

# Columns and lines of the screen for which the text is laid out.
WIDTH, HEIGHT = 100, 40

_LABEL, _LEAST = 10, 40


def summary_tables(summary: Summary) -> list[Table]:
    """One table for each dataset, with answers, verdicts, rules and unabridged sentences."""
    columns = [
        Column("answer", "answer"),
        Column("verdict", "verdict"),
        Column("text", "in numbers", wrap=60),
        Column("rule", "by the rule", wrap=40),
    ]
    tables = []
    for dataset in summary.datasets:
        notes = (dataset.about, f"about {dataset.row}", *summary.caveats, *summary.notes)
        tables.append(Table(f"Summary of {dataset.dataset}", columns, rows(dataset), summary.signature, notes))
    return tables


def printed(summaries: Sequence[Summary]) -> str:
    """The summaries as plain text for the screen, or for a file or pipe."""
    width = min(WIDTH, max(_LEAST, text_layout.columns() or WIDTH))
    return "\n".join(text(summary, width) for summary in summaries)


def text(summary: Summary, width: int = WIDTH) -> str:
    """Plain text, with lines of at most `width` (40 or more) characters. Answers have their short forms if the whole
    ones take more than 40 (`HEIGHT`) lines. The signature is left out where it has no room; the tables have it.
    """
    return "\n".join("\n".join(_screen(dataset, summary, width)) + "\n" for dataset in summary.datasets)


def _screen(dataset: OfDataset, summary: Summary, width: int) -> list[str]:
    lines = _lines(dataset, summary, width, brief=False)
    if len(lines) > HEIGHT:
        lines = _lines(dataset, summary, width, brief=True)
    signature = text_layout.signature_lines(printable(summary.signature), width) if summary.signature else []
    return [*lines, *(signature if len(lines) + len(signature) <= HEIGHT else [])]


def _lines(dataset: OfDataset, summary: Summary, width: int, *, brief: bool) -> list[str]:
    lines = [*plain(f"{dataset.dataset}: {dataset.about}", width), *plain(f"About {dataset.row}.", width)]
    lines += [line for caveat in summary.caveats for line in plain(f"! {caveat}", width)]
    for answer in dataset.answers:
        lines += answered(answer, width, brief=brief)
    for i, command in enumerate(dataset.commands):
        lines += _command("next" if not i else "", command, width)
    return lines


def answered(answer: Answer, width: int, *, brief: bool) -> list[str]:
    """An answer beside its label: the verdict in capitals, and the sentences."""
    verdict = answer.verdict.text.upper() if answer.verdict is not None else ""
    words = ". ".join(part for part in (verdict, in_a_row(answer, brief=brief)) if part)
    return labelled(answer.label, words, width)


def plain(words: str, width: int) -> list[str]:
    return textwrap.wrap(printable(words), width, break_on_hyphens=False) or [""]


def labelled(label: str, words: str, width: int) -> list[str]:
    first, indent = label.ljust(_LABEL), " " * _LABEL
    wrapped = textwrap.wrap(
        printable(words), width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )
    return wrapped or [first.rstrip()]


def _command(label: str, command: str, width: int) -> list[str]:
    """Broken so that it can still be copied into a shell."""
    indent = " " * _LABEL
    whole = printable(command)
    parts = [whole] if len(whole) <= width - _LABEL else _split(whole.split(" "), width - _LABEL - 2)
    lines = [f"{part} \\" for part in parts[:-1]] + parts[-1:]
    return [(label.ljust(_LABEL) if not i else indent) + line for i, line in enumerate(lines)]


def _split(words: Sequence[str], width: int) -> list[str]:
    """Lines of at most `width` characters; a longer word has a line to itself."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
