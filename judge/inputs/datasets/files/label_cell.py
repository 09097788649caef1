"""Reads a cell that may hold a label: its word (letter case is ignored) or its code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.records import Scale
from judge.inputs.datasets.files.source_file import rating_value


def label_value(value: Any, scale: Scale, path: Path, row: int | str, column: str, *, only_codes: bool = True) -> float:
    """The code of the label in a cell, which holds the label's word or its code. Without `only_codes` any finite number
    is accepted (a mean of repeats).

    Raises DataError, naming the labels, for other values.
    """
    code = word_code(value, scale)
    if code is not None:
        return code
    try:
        return rating_value(value, scale if only_codes else None, path, row, column)
    except DataError as error:
        words = ", ".join(scale.labels)
        codes = f"0 to {scale.max:g}"
        message, allowed = "no label of this criterion", f"{words} (or their codes, {codes})"
        raise DataError(message, file=path, row=row, column=column, found=value, allowed=allowed) from error


def word_code(value: Any, scale: Scale) -> float | None:
    """The code of a cell whose whole text is a label; None for other cells. True and False in typed tables are read as
    words.
    """
    code = scale.code_of(str(value)) if isinstance(value, str | bool) else None
    return None if code is None else float(code)
