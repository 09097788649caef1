"""Prefixes of the texts that a scorer reads: none, one for all, or one for each."""

from __future__ import annotations

from collections.abc import Sequence

from judge.base.errors import BackendError
from judge.base.wording import Advice


def one_each(prefix: str | Sequence[str] | None, texts: int) -> list[str | None]:
    """Each of `texts` texts' prefix. Raises ValueError for a list of another length."""
    if prefix is None or isinstance(prefix, str):
        return [prefix] * texts
    if len(prefix) != texts:
        raise ValueError(f"{len(prefix)} prefixes for {texts} texts: give one for all, or one for each")
    return list(prefix)


def no_room(scorer: str, tokens: int, context: int) -> BackendError:
    """Error for a prefix that fills the whole context."""
    return BackendError(
        f"{scorer}: the prefix of {tokens} tokens leaves no room in a context of {context}",
        kind="context",
        retryable=False,
        hint=Advice("give fewer or shorter texts with {nonmembers}, or lower {shots}"),
    )
