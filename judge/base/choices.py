"""Registries of choices: for each word that can be chosen, one frozen record of all that depends on the word."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar, get_args

Word = TypeVar("Word", bound=str)
Record = TypeVar("Record")


def registry(words: Any, records: Mapping[Word, Record]) -> Mapping[Word, Record]:
    """Read-only mapping from each word of a choice to its record.

    `words` is the Literal that lists the words. Raises TypeError, when the module is imported, if a word has no record
    or a record belongs to no word: a choice that is half made would otherwise be computed as another one.
    """
    lacking, unknown = set(get_args(words)) - set(records), set(records) - set(get_args(words))
    if lacking or unknown:
        raise TypeError(f"words without a record: {sorted(lacking)}; records of no word: {sorted(unknown)}")
    return MappingProxyType(dict(records))
