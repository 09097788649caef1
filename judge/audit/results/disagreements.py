"""The report's list of items on which annotators differ: what each said, why, and what was settled. Counts no rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from judge.audit.file.store import ADJUDICATION, AuditStore
from judge.audit.results.answer_matrix import Answered
from judge.printing.tables import Column, Table, printable
from judge.wording import Advice

_TEXT = 100
_ALIKE = 40
"""Letters after which a beginning that two explanations share is left out of the list."""


def disagreements(store: AuditStore, found: Answered, top: int, line: str) -> Table:
    """Items on which annotators differ, those with most dissent first, with their notes; `top` of them, 0 = all."""
    remarks = store.remarks()
    settled = {(a.item, a.category): a for a in store.answers(round_no=ADJUDICATION)}
    reasons = store.remarks(round_no=ADJUDICATION)
    rows: list[dict[str, Any]] = []
    for i, item in enumerate(found.items):
        split = {c: Counter(v for v in found.given[c.key][i] if not np.isnan(v)) for c in found.categories}
        dissent = sum(min(counts[0.0], counts[1.0]) for counts in split.values())
        if not dissent:
            continue
        differ = [c for c, counts in split.items() if len(counts) > 1]
        last = [(c, settled[item.id, c.key]) for c in differ if (item.id, c.key) in settled]
        final = [f"{c.label}: {('no', 'yes')[one.value]}" for c, one in last]
        by = list(dict.fromkeys(one.annotator for _, one in last))
        why = [f"{who}: {reasons[who, item.id][0]}" if _noted(reasons, who, item.id) else who for who in by]
        notes = [f"{who}: {remarks[who, item.id][0]}" for who in found.annotators if _noted(remarks, who, item.id)]
        rows.append(
            {
                "item": item.id,
                "story": item.subject.story,
                "criterion": item.subject.criterion.name if item.subject.criterion else None,
                "differ": "; ".join(f"{c.label} {split[c][1.0]} yes {split[c][0.0]} no" for c in differ),
                "final": "; ".join(final) or None,
                "by": " / ".join(why) or None,
                "notes": " / ".join(notes) or None,
                "explanation": item.subject.explanation,
                "dissent": dissent,
            }
        )
    rows.sort(key=lambda row: (-row["dissent"], row["item"]))
    shown = rows[:top] if top else rows
    for row, text in zip(shown, _told_apart([row["explanation"] for row in shown]), strict=True):
        row["explanation"] = text
    columns = [Column("item", "no."), Column("story", "story"), Column("criterion", "criterion")]
    columns += [Column("differ", "annotators differ on", wrap=50)]
    if settled:
        columns += [Column("final", "settled", wrap=40), Column("by", "by, reason", text=True, wrap=50)]
    columns += [Column("notes", "notes", text=True, wrap=50)] if any(row["notes"] for row in shown) else []
    columns += [Column("explanation", "explanation", text=True, wrap=50)]
    notes = [f"{len(rows)} items on which annotators differ, {len(shown)} shown, most dissent first"]
    notes += [Advice("{top} shows all", top=0)] if len(shown) < len(rows) else []
    notes.append("no.: the number of the item on its page, which is not its place in an annotator's order")
    return Table("Disagreements", columns, shown, line, notes)


def _noted(remarks: dict[tuple[str, int], tuple[str, float | None]], who: str, item: int) -> bool:
    return bool(remarks.get((who, item), ("", None))[0])


def _told_apart(texts: Sequence[str]) -> list[str]:
    """Each text in short: from where it differs from the others on, if it begins as another does at some length."""
    lines = [" ".join(printable(text).split()) for text in texts]
    ordered = sorted(set(lines))
    shared = dict.fromkeys(ordered, 0)
    for one, other in pairwise(ordered):  # whoever shares most with a text is beside it in this order
        length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
        shared[one], shared[other] = max(shared[one], length), max(shared[other], length)
    return [_short(line, shared[line]) for line in lines]


def _short(line: str, shared: int) -> str:
    if len(line) <= _TEXT:
        return line
    # From the word on in which they differ.
    start = line.rfind(" ", 0, shared) + 1 if shared >= _ALIKE else 0
    rest = line[start:]
    return ("…" if start else "") + (rest if len(rest) <= _TEXT else f"{rest[: _TEXT - 1].rstrip()}…")
