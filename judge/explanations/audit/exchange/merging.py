"""Merges answers from files into an audit. A file is merged as a whole or not at all, and repeated imports change
nothing. If an answer in the file differs from the one in the audit, the caller decides whether it is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import DataError
from judge.base.wording import Advice
from judge.explanations.audit.file import rows
from judge.explanations.audit.file.answers import check_values
from judge.explanations.audit.file.store import ANNOTATION, AuditStore


@dataclass(frozen=True, slots=True)
class Given:
    """Answers of one annotator on one item, read from a file. Categories without an entry in `values` were not
    answered.
    """

    annotator: str
    item: int
    values: Mapping[str, int]
    note: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """Counts of imported answers (annotator x item x category): `new` ones, ones that the audit already had (`same`),
    and ones that `replaced` a different answer. `annotators` names the annotators of the file.
    """

    annotators: tuple[str, ...]
    new: int
    same: int
    replaced: int

    def sentence(self) -> str:
        """Sentence that says how many imported answers are new, replaced or already there."""
        if not self.new and not self.replaced:
            return f"all {self.same} answers of {len(self.annotators)} annotators were there already; nothing changed"
        parts = [f"{self.new} answers of {len(self.annotators)} annotators"]
        parts += [f"{self.replaced} replaced"] if self.replaced else []
        parts += [f"{self.same} were there already"] if self.same else []
        return ", ".join(parts)


def merge(
    store: AuditStore, given: Sequence[Given], origin: Path, *, replace: bool = False, round_no: int = ANNOTATION
) -> Merged:
    """Store the answers `given`, read from the file `origin`, in one transaction, and return their counts. `round_no`
    is 1 for the annotation and 2 for the settling of disagreements.

    An annotator's time on an item is stored only if the audit had no answers of the annotator on it, so that a second
    import does not add it again. If the audit holds a different answer or note and `replace` is False, DataError is
    raised and nothing is changed.
    """
    keys = [category.key for category in store.categories]
    names = {row.annotator: "" for row in given}
    for name in names:
        names[name] = store.register(name, origin=origin.name)
    new = same = replaced = 0
    differing: list[str] = []
    with store.transaction() as db:
        for row in given:
            values = check_values(row.values, keys, row.seconds)
            key = (round_no, names[row.annotator], row.item)
            before = rows.state(db, store.path, len(keys), key[1], row.item, round_no)
            other = [k for k, v in values.items() if before.values.get(k, v) != v]
            note_differs = bool(row.note and before.note and row.note != before.note)
            if (other or note_differs) and not replace:
                differences = ", ".join(other) or "the note"
                differing.append(f"{key[1]}, item {row.item}: {differences}")
                continue
            fresh = not before.values and not before.note
            note = row.note if (fresh or replace or not before.note) and row.note else None
            rows.change(db, store.path, key, before, values, note, row.seconds if fresh else None)
            replaced += len(other)
            new += sum(k not in before.values for k in values)
            same += sum(before.values.get(k) == v for k, v in values.items())
        if differing:
            shown = "; ".join(differing[:3]) + (f" and {len(differing) - 3} more" if len(differing) > 3 else "")
            raise DataError(
                f"says otherwise than the audit holds ({shown}); nothing was imported",
                file=origin,
                hint=Advice("{replace} takes the file's word", replace=True),
            )
    return Merged(tuple(dict.fromkeys(names.values())), new, same, replaced)
