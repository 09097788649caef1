"""Which criterion of the people each judge criterion is compared with. Never pairs two names silently."""

from __future__ import annotations

from dataclasses import dataclass

from judge.errors import unknown_value
from judge.rating_matrix import RatingMatrix
from judge.wording import Advice, Note


@dataclass(frozen=True, slots=True)
class Match:
    """For each cell the index of the people's criterion, or None; sentences about pairs of unequal names."""

    partner: tuple[int | None, ...]
    notes: tuple[str, ...] = ()
    reason: str | None = None


def match(matrix: RatingMatrix, against: str | None = None) -> Match:
    """Pair judge criteria with people's.

    Equal names (letter case aside) are paired. `against` pairs every judge criterion with that criterion of the people.
    Without it, where no name matches and people rated one criterion only, that one is used, and a note says so.

    Raises
    ------
    SpecError
        `against` is not a criterion that people rated.
    """
    people = {name.casefold(): j for j, name in enumerate(matrix.criteria)}
    if not people:
        return Match((None,) * len(matrix.cells), reason=f"no person rated the stories of {matrix.dataset}")
    if against is not None:
        if against.casefold() not in people:
            raise unknown_value("against", against, matrix.criteria)
        return Match((people[against.casefold()],) * len(matrix.cells))
    partner = tuple(people.get(cell.criterion.casefold()) for cell in matrix.cells)
    if matrix.cells and len(people) == 1 and all(p is None for p in partner):
        only = matrix.criteria[0]
        note = f"{matrix.dataset}: people rated only {only}; every criterion of the judge is compared with it"
        return Match((0,) * len(matrix.cells), notes=(note,))
    reason = f"people did not rate this criterion; they rated {', '.join(matrix.criteria)}"
    return Match(partner, reason=Note(reason, Advice("see {against}")))
