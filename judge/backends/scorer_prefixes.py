"""Prefixes of the texts that a scorer reads: none, one for all texts, or one for each."""

from __future__ import annotations

from collections.abc import Sequence

from judge.errors import BackendError
from judge.wording import Advice


def one_each(prefix: str | Sequence[str] | None, texts: int) -> list[str | None]:
    """A prefix (or None) for each of so many texts; ValueError where another number of them is given."""
    if prefix is None or isinstance(prefix, str):
        return [prefix] * texts
    if len(prefix) != texts:
        raise ValueError(f"{len(prefix)} prefixes for {texts} texts: give one for all, or one for each")
    return list(prefix)


def no_room(scorer: str, tokens: int, context: int) -> BackendError:
    """The error for a prefix that leaves no token of the context for the text."""
    return BackendError(
        f"{scorer}: the prefix of {tokens} tokens leaves no room in a context of {context}",
        kind="context",
        retryable=False,
        hint=Advice("give fewer or shorter texts with {nonmembers}, or lower {shots}"),
    )
