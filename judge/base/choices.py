"""Registries of choices: for each word that can be chosen, one frozen record of all that depends on the word. Also the
formats of tables, which every command offers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args

# Names of the formats in which tables are printed.

Format = Literal["table", "json", "csv", "md", "latex"]
FORMATS: tuple[str, ...] = get_args(Format)

# Of every interval that is drawn, unless an option says otherwise: equal numbers then have equal intervals everywhere.
RESAMPLES = 1000

# Dollars of one request. The dearest prices of 2026, for a context of a million tokens, come to a few hundred; what a
# server reports beyond this is no cost, and is counted but not summed.
MOST_PLAUSIBLE_COST = 1000.0

_SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "md", ".tex": "latex"}


def form_of(form: str, output: Path | None) -> str:
    """`form`, or the format of the suffix of `output` where `form` is only the usual one ("table")."""
    return _SUFFIXES.get(output.suffix.lower(), form) if form == "table" and output is not None else form


Word = TypeVar("Word", bound=str)
Record = TypeVar("Record")


def registry(words: Any, records: Mapping[Word, Record]) -> Mapping[Word, Record]:
    """Read-only mapping from each word of the Literal `words` to its record. Raises TypeError on import for a word
    without a record or the reverse: a choice half made would be computed as another one."""
    lacking, unknown = set(get_args(words)) - set(records), set(records) - set(get_args(words))
    if lacking or unknown:
        raise TypeError(f"words without a record: {sorted(lacking)}; records of no word: {sorted(unknown)}")
    return MappingProxyType(dict(records))
