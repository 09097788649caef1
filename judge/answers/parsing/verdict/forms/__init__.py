"""Verdicts in the form of an answer: in brackets, after a label, as a story's name alone, or as a ranking."""

from __future__ import annotations

from judge.answers.parsing.verdict.forms.alone import boxed, closing, leading
from judge.answers.parsing.verdict.forms.labels import labelled, rankings, rows, signs
from judge.answers.parsing.verdict.sheet import Sentence, Sheet
from judge.answers.parsing.verdict.statements import Statement

__all__ = ["form_statements"]


def form_statements(
    sheet: Sheet, sentences: list[Sentence], criterion_words: frozenset[str], *, cut: bool
) -> list[Statement]:
    """Every verdict in the form of an answer: a story's name alone, a labelled line, a table row, a ranking."""
    return [
        *boxed(sheet),
        *labelled(sheet, sentences, criterion_words, cut=cut),
        *rankings(sheet.line),
        *signs(sheet.line, sentences, criterion_words),
        *rows(sheet.line),
        *leading(sheet, cut=cut),
        *closing(sheet, sentences, criterion_words, cut=cut),
    ]
