"""Contradictions as people read them: what was flagged, and what a flag is worth. Never computes a flag."""

from __future__ import annotations

from collections.abc import Iterator

from judge.explanations.quality.contradictions import AUDITED, Contradictions
from judge.printing.tables import Column, Table
from judge.stats.estimate import Estimate
from judge.stats.shares.proportion import wilson

_WRAP = 70


def table(found: Contradictions) -> Table:
    """One row a flagged text, the plainest first; how many, and how many of such flags were right when read."""
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criterion", "criterion"),
        Column("story", "story"),
        Column("repeat", "repeat"),
        Column("rating", "rating", digits=1),
        Column("suggested", "text suggests", digits=1),
        Column("rule", "by"),
        Column("text", "text", text=True, wrap=_WRAP),
    ]
    rows = [{column.key: getattr(one, column.key) for column in columns} for one in found.flagged]
    kept = [column for column in columns if not rows or any(row[column.key] is not None for row in rows)]
    title = "Answers whose reason says otherwise than their rating"
    return Table(title, kept, rows, found.signature, tuple(_notes(found)))


def _notes(found: Contradictions) -> Iterator[str]:
    yield f"flagged: {len(found.flagged)} of {found.texts} rated texts ({_percent(found.share)} %)"
    for rule, right, read in AUDITED:
        share = _percent(wilson(right, read))
        of = (
            "of five judges' answers to TTCW on which the rule was set, which flatters it: read a flag before it counts"
        )
        contradicted = f"{right} of {read} flagged answers contradicted their rating when read ({share} %)"
        yield f"precision of the rule on {rule}: {contradicted}, {of}"
    if any(one.rule == "guideline" for one in found.flagged):
        yield "the rule on guidelines was not audited: no answer of the studies at hand was flagged by it"
    if found.told.value is not None:
        yield f"words put {_percent(found.told)} % of texts on the side of the scale on which their rating lies"
    yield "words: predicted from the words of texts about other story-prompts; guideline: quotes that of another point"
    yield from found.notes


def _percent(share: Estimate) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "undefined"
    return f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"
