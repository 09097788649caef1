"""The one rule that pairs a judge's criterion with people's. Criteria of different names are paired with a note."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def set_against(asked: Sequence[tuple[str, str | None]], rated: Sequence[str]) -> tuple[tuple[int | None, ...], bool]:
    """Match judges' criteria with people's. Returns for each judge's criterion the index in `rated` of people's, or
    None, and whether all were matched with people's only criterion.

    `asked` holds each judge's criterion with the people's that its run declares, if any. What is declared comes first,
    else the equal name (letter case aside). Where neither is there for any, and people rated one criterion only, all
    are set against that one.
    """
    index_by_name = {name.casefold(): index for index, name in enumerate(rated)}
    indices = tuple(index_by_name.get((declared or own).casefold()) for own, declared in asked)
    declares = any(declared for _, declared in asked)
    if asked and len(index_by_name) == 1 and not declares and all(index is None for index in indices):
        return (0,) * len(asked), True
    return indices, False


def other_names(pairs: Iterable[tuple[str, str]]) -> str:
    """(Judge's criterion, people's criterion) pairs with different names, in words for captions and pages; empty where
    there are none.
    """
    theirs: dict[str, list[str]] = {}
    for mine, name in pairs:
        theirs.setdefault(name, []).append(mine)
    parts = [f"{', '.join(mine)} against people's {name}" for name, mine in theirs.items()]
    return f"Other names are set side by side: {'; '.join(parts)}." if parts else ""
