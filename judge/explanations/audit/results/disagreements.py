"""Lists the items on which annotators differ: each answer, the reasons given, and the settled answer. No rate is
computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.explanations.audit.file.categories import Category
from judge.explanations.audit.file.items import Item
from judge.explanations.audit.file.snapshot import AuditSnapshot
from judge.explanations.audit.results.answer_matrix import Answered


@dataclass(frozen=True, slots=True)
class Split:
    """A category on which the annotators of an item differ, with the number of yes and no answers."""

    category: Category
    yes: int
    no: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item of an audit on which annotators differ.

    `differ` lists the categories on which they differ. `final` holds (category, settled answer) for the settled ones,
    and `by` holds (adjudicator, reason). `notes` holds (annotator, note) from round 1. `dissent` is the number of
    answers against the majority, over all categories.
    """

    item: Item
    differ: tuple[Split, ...]
    final: tuple[tuple[Category, int], ...]
    by: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...]
    dissent: int


def disagreements(audit: AuditSnapshot, matrix: Answered) -> tuple[Disagreement, ...]:
    """Items on which annotators differ, sorted by the number of answers against the majority, largest first."""
    settled = {(answer.item, answer.category): answer for answer in audit.adjudication.answers}
    result = []
    for i, item in enumerate(matrix.items):
        counts = [(c, matrix.given[c.key][i]) for c in matrix.categories]
        splits = [Split(c, int(np.sum(values == 1)), int(np.sum(values == 0))) for c, values in counts]
        differ = tuple(split for split in splits if split.yes and split.no)
        if not differ:
            continue
        last = [(split.category, settled[key]) for split in differ if (key := (item.id, split.category.key)) in settled]
        adjudicators = dict.fromkeys(answer.annotator for _, answer in last)
        notes = [(who, audit.annotation.note(who, item.id)) for who in matrix.annotators]
        result.append(
            Disagreement(
                item=item,
                differ=differ,
                final=tuple((category, answer.value) for category, answer in last),
                by=tuple((who, audit.adjudication.note(who, item.id)) for who in adjudicators),
                notes=tuple((who, note) for who, note in notes if note),
                dissent=sum(min(split.yes, split.no) for split in differ),
            )
        )
    return tuple(sorted(result, key=lambda row: (-row.dissent, row.item.id)))
