"""A summary printed on one screen of 80 x 30 characters for each dataset, or as tables. On the screen, text that is too
long is cut and marked with an ellipsis.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from judge.printing.tables import Column, Table, printable
from judge.summary.result import OfDataset, Summary, in_a_row, rows

# The screen that every terminal has; six lines more than the classic 24, since windows are no shorter today.
WIDTH, HEIGHT = 80, 30
_LABEL = 10
_MOST_CAVEAT = 2
_CUT = " …"
_KEPT = {"replace": 3, "people": 3, "labels": 3, "prefers": 3, "better": 2, "systems": 1}
"""Lines of an answer that are cut after all others' are."""


@dataclass(slots=True)
class _Block:
    """Lines on the screen that belong together, such as one answer. If `cuttable`, lines may be removed from the end
    where the screen is too full. The block with the largest number of lines above `least` is cut first.
    """

    lines: list[str]
    cuttable: bool = True
    least: int = 0

    def cut(self) -> None:
        """Remove the last line of the block, and mark the line before it with an ellipsis."""
        self.lines.pop()
        last = self.lines[-1].removesuffix(_CUT)
        while len(last) + len(_CUT) > WIDTH:
            last = last.rpartition(" ")[0] or last[: WIDTH - len(_CUT)]
        self.lines[-1] = last + _CUT


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


def text(summary: Summary) -> str:
    """The summary as plain text: one screen for each dataset, with at most 30 (`HEIGHT`) lines of 80 (`WIDTH`)
    characters.
    """
    return "\n".join("\n".join(_screen(dataset, summary)) + "\n" for dataset in summary.datasets)


def _screen(dataset: OfDataset, summary: Summary) -> list[str]:
    blocks = [_plain(f"{dataset.dataset}: {dataset.about}"), _plain(f"About {dataset.row}.")]
    blocks += [_plain(f"! {caveat}", most=_MOST_CAVEAT) for caveat in summary.caveats]
    for answer in dataset.answers:
        verdict = answer.verdict.text if answer.verdict is not None else ""
        text_of = in_a_row(answer, brief=True)
        block = _labelled(answer.label, ". ".join(part for part in (verdict.upper(), text_of) if part))
        block.least = _KEPT.get(answer.label, 0)
        blocks.append(block)
    for i, command in enumerate(dataset.commands):
        blocks.append(_Block(_command("next" if not i else "", command), cuttable=False))
    room = HEIGHT - sum(len(block.lines) for block in blocks)
    if summary.signature and room > 0:  # other formats have it whole
        blocks.append(_plain(printable(summary.signature), most=1))
    while sum(len(block.lines) for block in blocks) > HEIGHT:
        longest = max((block for block in blocks if block.cuttable), key=lambda block: len(block.lines) - block.least)
        if len(longest.lines) == 1:
            break
        longest.cut()
    return [line for block in blocks for line in block.lines][:HEIGHT]


def _plain(words: str, most: int | None = None) -> _Block:
    block = _Block(textwrap.wrap(printable(words), WIDTH, break_on_hyphens=False) or [""])
    while most is not None and len(block.lines) > most:
        block.cut()
    return block


def _labelled(label: str, words: str) -> _Block:
    indent = " " * _LABEL
    first = label.ljust(_LABEL)
    wrapped = textwrap.wrap(
        printable(words), WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )
    return _Block(wrapped or [first.rstrip()])


def _command(label: str, command: str) -> list[str]:
    """Lines that show a suggested command after its label. A command that is too long for one line is broken so that it
    can still be copied into a shell.
    """
    indent = " " * _LABEL
    whole = printable(command)
    parts = [whole] if len(whole) <= WIDTH - _LABEL else _split(whole.split(" "), WIDTH - _LABEL - 2)
    lines = [f"{part} \\" for part in parts[:-1]] + parts[-1:]
    return [(label.ljust(_LABEL) if not i else indent) + line for i, line in enumerate(lines)]


def _split(words: Sequence[str], width: int) -> list[str]:
    """Words arranged in lines of at most `width` characters; a longer word has a line to itself."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
