"""Matching of judges' criteria with human criteria. Each matched pair with different names gets a note."""

from __future__ import annotations

from dataclasses import dataclass

from judge.base.errors import unknown_value
from judge.base.wording import Advice, Note
from judge.inputs.criteria.set_against import other_names, set_against
from judge.ratings.rating_matrix import RatingMatrix


@dataclass(frozen=True, slots=True)
class Match:
    """The human criterion that each row of judges' ratings is compared with.

    `partner` holds its index for each row, or None, and `reason` says why there is none. `notes` are about unequal
    names. `other` holds the pairs with different names, (judge's criterion, human criterion), each once.
    """

    partner: tuple[int | None, ...]
    notes: tuple[str, ...] = ()
    reason: str | None = None
    other: tuple[tuple[str, str], ...] = ()

    @property
    def sentence(self) -> str:
        """Sentence on the pairs of criteria whose names differ, for captions and pages.

        Empty where all names are equal.
        """
        return other_names(self.other)


def match(matrix: RatingMatrix, against: str | None = None) -> Match:
    """The human criterion for each judge's criterion, by the rule that every table, figure and page uses.

    `against` pairs every judge criterion with this human criterion. Otherwise a criterion is paired with the human
    criterion that its run declares (`people` in run.yaml), or else with the criterion of the same name (ignoring letter
    case). Where no name matches, none is declared and people rated only one criterion, this criterion is used, with a
    note.

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
        return _match(matrix, (people[against.casefold()],) * len(matrix.cells))
    declared = [matrix.declared.get((cell.run, cell.criterion.casefold())) for cell in matrix.cells]
    named = [cell.criterion for cell in matrix.cells]
    partner, only_one = set_against(list(zip(named, declared, strict=True)), matrix.criteria)
    if only_one:
        only = matrix.criteria[0]
        note = f"{matrix.dataset}: people rated only {only}; every criterion of the judge is compared with it"
        return _match(matrix, partner, (note,))
    pairs = dict.fromkeys(
        (cell.criterion, wanted) for cell, wanted in zip(matrix.cells, declared, strict=True) if wanted
    )
    notes = [f"{matrix.dataset}: {mine} is set against people's {theirs}, as the run says" for mine, theirs in pairs]
    missing = [theirs for _, theirs in pairs if theirs.casefold() not in people]
    reason = f"people did not rate {missing[0] if missing else 'this criterion'}; they rated "
    advice = Advice("see {against}")
    return _match(matrix, partner, tuple(notes), Note(f"{reason}{', '.join(matrix.criteria)}", advice))


def _match(
    matrix: RatingMatrix, partner: tuple[int | None, ...], notes: tuple[str, ...] = (), reason: str | None = None
) -> Match:
    pairs = ((cell.criterion, j) for cell, j in zip(matrix.cells, partner, strict=True) if j is not None)
    other = ((mine, matrix.criteria[j]) for mine, j in pairs if mine.casefold() != matrix.criteria[j].casefold())
    return Match(partner, notes, reason, tuple(dict.fromkeys(other)))
