"""Names of the formats in which tables are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

Format = Literal["table", "json", "csv", "md", "latex"]
FORMATS: tuple[str, ...] = get_args(Format)

_SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "md", ".tex": "latex"}


def form_of(form: str, output: Path | None) -> str:
    """`form`, or the format of the suffix of `output` where `form` is only the usual one ("table")."""
    return _SUFFIXES.get(output.suffix.lower(), form) if form == "table" and output is not None else form
