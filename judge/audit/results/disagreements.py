"""Items on which annotators differ: what each said, why, and what was settled. Counts no rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.audit.file.categories import Category
from judge.audit.file.items import Item
from judge.audit.file.snapshot import AuditSnapshot
from judge.audit.results.answer_matrix import Answered


@dataclass(frozen=True, slots=True)
class Split:
    """A category on which the annotators of an item differ: how many said yes, and no."""

    category: Category
    yes: int
    no: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which annotators differ.

    `final`: category and settled answer, as far as anybody has settled it; `by`: who did, with the reason given;
    `notes`: annotators' own. `dissent` counts the answers against the majority.
    """

    item: Item
    differ: tuple[Split, ...]
    final: tuple[tuple[Category, int], ...]
    by: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...]
    dissent: int


def disagreements(audit: AuditSnapshot, found: Answered) -> tuple[Disagreement, ...]:
    """Items on which annotators differ, those with most dissent first."""
    settled = {(one.item, one.category): one for one in audit.adjudication.answers}
    made = []
    for i, item in enumerate(found.items):
        counts = [(c, found.given[c.key][i]) for c in found.categories]
        splits = [Split(c, int(np.sum(said == 1)), int(np.sum(said == 0))) for c, said in counts]
        differ = tuple(one for one in splits if one.yes and one.no)
        if not differ:
            continue
        last = [(one.category, settled[key]) for one in differ if (key := (item.id, one.category.key)) in settled]
        adjudicators = dict.fromkeys(one.annotator for _, one in last)
        notes = [(who, audit.annotation.note(who, item.id)) for who in found.annotators]
        made.append(
            Disagreement(
                item=item,
                differ=differ,
                final=tuple((category, one.value) for category, one in last),
                by=tuple((who, audit.adjudication.note(who, item.id)) for who in adjudicators),
                notes=tuple((who, note) for who, note in notes if note),
                dissent=sum(min(one.yes, one.no) for one in differ),
            )
        )
    return tuple(sorted(made, key=lambda one: (-one.dissent, one.item.id)))
