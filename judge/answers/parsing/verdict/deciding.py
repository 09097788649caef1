"""Chooses among the preferences that an answer states, or gives the status that says why none can be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judge.answers.parsing.verdict.statements import Statement


@dataclass(frozen=True, slots=True)
class Decision:
    """The chosen statement of a preference, or a status that says why none was chosen. `revised` = the statement
    revises an earlier statement or a first impression.
    """

    status: Literal["ok", "no_preference", "ambiguous"]
    statement: Statement | None = None
    revised: bool = False


def decide(stated: list[Statement]) -> Decision:
    """The preference chosen from all statements of a preference in an answer, or the status where none can be chosen.

    Preferences for single aspects are ignored. The last explicit revision replaces what it revises. Statements in the
    form of an answer ("Verdict: B") and explicitly overall statements ("on the whole, B is better") must agree, and
    have priority over plain sentences. A plain sentence that contradicts them makes the answer ambiguous if it comes
    after all of them or if none of them is explicitly overall. Praise of a story counts only if no statement prefers
    the other story or a tie.
    """
    whole = sorted(
        (statement for statement in stated if statement.kind not in ("part", "early")),
        key=lambda statement: statement.start,
    )
    early = [statement for statement in stated if statement.kind == "early"]
    if not whole:
        return Decision("no_preference")
    whole, revised = _from_last_revision(whole)
    plain = [statement for statement in whole if statement.kind in ("form", "overall")]
    others = [statement for statement in whole if statement.kind == "plain"]
    if plain:
        sides = {statement.side for statement in plain}
        # Sections on parts come before the verdict on the whole; what comes after it must bear it out.
        last = max(statement.start for statement in plain)
        sides |= {statement.side for statement in others if statement.start > last or _bare(plain)}
        chosen = plain
    elif others:
        sides, chosen = {statement.side for statement in others}, others
    else:
        sides, chosen = (
            {statement.side for statement in stated},
            [statement for statement in whole if statement.kind == "praise"],
        )
    if len(sides) > 1:
        return Decision("ambiguous")
    form = next((statement for statement in chosen if statement.kind == "form"), None)
    revised = revised or any(statement.side != chosen[0].side for statement in early)
    return Decision("ok", form or chosen[0], revised)


def _bare(plain: list[Statement]) -> bool:
    """Whether all these statements have the form of an answer ("Verdict: B"), and none is explicitly overall ("on the
    whole, B is better").
    """
    return all(statement.kind == "form" for statement in plain)


def _from_last_revision(whole: list[Statement]) -> tuple[list[Statement], bool]:
    """(Statements of a preference from the last explicit revision on, whether this revision changes the preference)."""
    places = [i for i, statement in enumerate(whole) if statement.revises]
    if not places:
        return whole, False
    last = whole[places[-1]]
    kept = [statement for statement in whole if statement.start >= last.start or statement.stop > last.start]
    dropped = [statement for statement in whole if statement not in kept]
    return kept, any(statement.side != last.side for statement in dropped)
