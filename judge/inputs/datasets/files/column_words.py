"""Column maps as people type them: FIELD=COLUMN, and labels as [CRITERION=]LABEL,LABEL."""

from __future__ import annotations

from collections.abc import Sequence

from judge.base.errors import SpecError
from judge.base.wording import Advice


def column_options(options: Sequence[str] | None, labels: Sequence[str] | None = None) -> dict[str, str] | None:
    """Column map from words FIELD=COLUMN; FIELD==TEXT sets a constant. None if there are no words.

    `labels` are words for the key `labels`, or `labels.CRITERION` if they name a criterion. Raises SpecError for a word
    of another form, and for a field that is given twice.
    """
    columns: dict[str, str] = {}
    for option in options or ():
        column, _, value = option.partition("=")
        if not column or not value:
            example = Advice("e.g. {columns}", columns={"text": "Story"})
            raise SpecError(Advice("{columns} {!r} is not FIELD=COLUMN", option), hint=example)
        if column in columns:
            raise SpecError(Advice("{columns} gives {} twice", column))
        columns[column] = value
    for option in labels or ():
        criterion, stated, words = option.rpartition("=")
        key = f"labels.{criterion}" if stated else "labels"
        if key in columns:
            raise SpecError(Advice("{labels} says twice what the labels{} are", f" of {criterion}" if stated else ""))
        columns[key] = f"={words}"
    return columns or None
