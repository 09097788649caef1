"""Registries of choices: for each word that can be chosen, one frozen record of all that depends on the word."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar, get_args

Word = TypeVar("Word", bound=str)
Record = TypeVar("Record")


def registry(words: Any, records: Mapping[Word, Record]) -> Mapping[Word, Record]:
    """Read-only mapping from each word of the Literal `words` to its record. Raises TypeError on import for a word
    without a record or the reverse: a choice half made would be computed as another one."""
    lacking, unknown = set(get_args(words)) - set(records), set(records) - set(get_args(words))
    if lacking or unknown:
        raise TypeError(f"words without a record: {sorted(lacking)}; records of no word: {sorted(unknown)}")
    return MappingProxyType(dict(records))
