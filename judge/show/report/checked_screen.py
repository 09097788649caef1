"""The first screen of `judge check`: the summary's answers, what the columns were taken for, and as much evidence as 40
lines hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from judge.base.printing.tables import body_lines
from judge.base.wording import Advice, Wording, written
from judge.exchange.tables.checked_table import LOOK, Checked
from judge.questions.summary import screen
from judge.questions.summary.result import OfDataset
from judge.show.report.inputs import ReportInputs
from judge.show.report.sections.checked_table import agreement_table

# Columns of the screen, its lines without that on the page, rows of evidence, and notes.
WIDTH, HEIGHT, _ROWS, _NOTES = 80, 39, 6, 4
# Sentences on what columns were taken for that stay, and lines of one.
_READ, _LONG = 5, 3
# Answer of the summary -> how soon it gives way to others; those of 0 stay.
_RANKS = {"replace": 0, "people": 0, "lost": 1, "labels": 4, "wrong": 5, "systems": 6, "itself": 7}


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines that stand together, and how soon they give way to others."""

    rank: int
    lines: Sequence[str]


def first_screen(inputs: ReportInputs, checked: Checked, command: Sequence[str], wording: Wording) -> list[str]:
    """At most 39 lines: the answer, the columns' reading, evidence, and the command that repeats the reading last."""
    parts = [part for at, dataset in enumerate(inputs.summary.datasets) for part in _answers(dataset, first=not at)]
    parts += [*_reading(checked, wording), *_evidence(inputs), *_gaps(checked, wording)]
    more = written(Advice("{full} has every table and note; the page, figures too", full=True), wording)
    end = [*screen.labelled("more", more, WIDTH), *command]
    kept: list[_Part] = []
    for part in sorted(parts, key=lambda part: part.rank):
        if not part.rank or sum(len(each.lines) for each in (*kept, part)) <= HEIGHT - len(end):
            kept.append(part)
    return [*(line for part in parts if part in kept for line in part.lines), *end]


def _answers(dataset: OfDataset, *, first: bool) -> Iterator[_Part]:
    yield _Part(0, screen.plain(f"{dataset.dataset}: {dataset.about}. About {dataset.row}.", WIDTH))
    for answer in dataset.answers:
        if (rank := _RANKS.get(answer.label)) is not None:
            yield _Part(rank if first else rank + 1, screen.answered(answer, WIDTH, brief=True))


def _reading(checked: Checked, wording: Wording) -> Iterator[_Part]:
    for i, words in enumerate(written(line, wording) for line in checked.reading):
        lines = screen.labelled("" if i else "columns", words, WIDTH)
        yield _Part(0 if i < _READ else 2, lines if len(lines) <= _LONG else [*lines[:_LONG], f"{'':10}..."])


def _evidence(inputs: ReportInputs) -> Iterator[_Part]:
    if inputs.has_people:
        table = agreement_table(inputs.correlations)
        yield _Part(2, body_lines(replace(table, rows=table.rows[:_ROWS]), WIDTH))


def _gaps(checked: Checked, wording: Wording) -> Iterator[_Part]:
    lacking = "; ".join(untold.missing for untold in checked.untold)
    if lacking:
        yield _Part(3, screen.labelled("lacking", f"{lacking[:1].upper()}{lacking[1:]}.", WIDTH))
    for note in checked.notes[:_NOTES]:
        yield _Part(1 if note.startswith(LOOK) else 3, screen.labelled("note", f"{written(note, wording)}.", WIDTH))
