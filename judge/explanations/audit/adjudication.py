"""The second round of an audit, in which disagreements are settled: one final answer for each item and category. An
item must be settled if two annotators who finished it differ in a category. Only such categories are settled; for all
others the common answer is final. The answers of round 1 are not changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from judge.base.errors import DataError
from judge.explanations.audit.rows import ItemState
from judge.explanations.audit.store import ADJUDICATION, AuditSnapshot, AuditStore, snapshot


@dataclass(frozen=True, slots=True)
class Dispute:
    """An item on which annotators who finished it disagree: `given` maps each category to their answers. `disputed`
    lists the categories on which they differ, `settled` maps a category to its final answer, and `by` names who
    settled."""

    item: int
    given: dict[str, dict[str, int]]
    disputed: tuple[str, ...]
    settled: dict[str, int]
    by: tuple[str, ...]

    @property
    def open(self) -> tuple[str, ...]:
        """Categories on which annotators differ and that nobody has settled yet."""
        return tuple(key for key in self.disputed if key not in self.settled)


def disputes(audit: AuditSnapshot) -> list[Dispute]:
    """All items on which annotators disagree, settled or not, sorted by number."""
    given: dict[int, dict[str, dict[str, int]]] = defaultdict(lambda: {c.key: {} for c in audit.categories})
    for answer in audit.annotation.answers:
        if answer.done:
            given[answer.item][answer.category][answer.annotator] = answer.value
    settled: dict[int, dict[str, int]] = defaultdict(dict)
    by: dict[int, set[str]] = defaultdict(set)
    for answer in audit.adjudication.answers:
        settled[answer.item][answer.category] = answer.value
        by[answer.item].add(answer.annotator)
    result = []
    for item in sorted(given):
        disputed = tuple(key for key, values in given[item].items() if len(set(values.values())) > 1)
        if disputed:
            # What was settled of a category that is no longer disputed does not count.
            final = {key: value for key, value in settled[item].items() if key in disputed}
            result.append(Dispute(item, given[item], disputed, final, tuple(sorted(by[item])) if final else ()))
    return result


def adjudicate(
    store: AuditStore,
    adjudicator: str,
    item: int,
    values: Mapping[str, int | None],
    *,
    note: str | None = None,
    seconds: float | None = None,
    message: str | None = None,
    seen: Mapping[str, int | None] | None = None,
    seen_note: str | None = None,
) -> ItemState:
    """The adjudicator's answers on the item after storing `values`: 1, 0, or None, which deletes one. `message`, `seen`
    and `seen_note` are those of `AuditStore.answer`. Raises DataError for a category on which annotators do not differ,
    or that somebody else has settled."""
    dispute = next((candidate for candidate in disputes(snapshot(store)) if candidate.item == item), None)
    for key in values:
        if dispute is None or key not in dispute.disputed:
            raise DataError(f"annotators do not differ on {key!r} of item {item}", file=store.path)
    return store.answer(
        adjudicator,
        item,
        values,
        note=note,
        seconds=seconds,
        round_no=ADJUDICATION,
        message=message,
        seen=seen,
        seen_note=seen_note,
    )
