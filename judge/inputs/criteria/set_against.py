"""Rule that matches a judge's criteria with those of human raters. Matches with a different name are noted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def set_against(asked: Sequence[tuple[str, str | None]], rated: Sequence[str]) -> tuple[tuple[int | None, ...], bool]:
    """For each criterion of a judge, the human raters' criterion with which it is compared, as an index in `rated`
    (None = no match). The second value says whether all criteria are compared with the raters' only criterion because
    none matches.

    `asked` pairs each judge's criterion with the raters' criterion that its run declares, or None. A declared criterion
    takes precedence over an equal name (letter case is ignored). If no criterion is declared or matches by name, and
    the raters rated only one criterion, all are compared with it.
    """
    index_by_name = {name.casefold(): index for index, name in enumerate(rated)}
    indices = tuple(index_by_name.get((declared or own).casefold()) for own, declared in asked)
    declares = any(declared for _, declared in asked)
    if asked and len(index_by_name) == 1 and not declares and all(index is None for index in indices):
        return (0,) * len(asked), True
    return indices, False


def other_names(pairs: Iterable[tuple[str, str]]) -> str:
    """Sentence for captions and pages about criteria that are compared under different names, from pairs (judge's
    criterion, raters' criterion). Empty if there are no pairs.
    """
    theirs: dict[str, list[str]] = {}
    for mine, name in pairs:
        theirs.setdefault(name, []).append(mine)
    parts = [f"{', '.join(mine)} against people's {name}" for name, mine in theirs.items()]
    return f"Other names are set side by side: {'; '.join(parts)}." if parts else ""
