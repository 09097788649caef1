"""Choice among the preferences that an answer states, or the status that says why none can be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judge.parsing.verdict.statements import Statement


@dataclass(frozen=True, slots=True)
class Decision:
    """The statement that holds, or why none does."""

    status: Literal["ok", "no_preference", "ambiguous"]
    statement: Statement | None = None
    revised: bool = False


def decide(stated: list[Statement]) -> Decision:
    """One preference out of all statements.

    What is said of parts counts for nothing. The last explicit revision goes before what it revises. Statements in the
    form of an answer and those on the whole must agree; both go before what else sentences say, unless such a sentence
    comes after a bare form and contradicts it. Praise counts where nothing at all speaks for another side.
    """
    whole = sorted((one for one in stated if one.kind not in ("part", "early")), key=lambda one: one.start)
    early = [one for one in stated if one.kind == "early"]
    if not whole:
        return Decision("no_preference")
    whole, revised = _from_last_revision(whole)
    plain = [one for one in whole if one.kind in ("form", "overall")]
    others = [one for one in whole if one.kind == "plain"]
    if plain:
        sides = {one.side for one in plain}
        # Sections on parts come before the verdict on the whole; what comes after it must bear it out.
        last = max(one.start for one in plain)
        sides |= {one.side for one in others if one.start > last or _bare(plain)}
        chosen = plain
    elif others:
        sides, chosen = {one.side for one in others}, others
    else:
        sides, chosen = {one.side for one in stated}, [one for one in whole if one.kind == "praise"]
    if len(sides) > 1:
        return Decision("ambiguous")
    form = next((one for one in chosen if one.kind == "form"), None)
    revised = revised or any(one.side != chosen[0].side for one in early)
    return Decision("ok", form or chosen[0], revised)


def _bare(plain: list[Statement]) -> bool:
    """Whether all are in the form of an answer, with no word that they are on the whole."""
    return all(one.kind == "form" for one in plain)


def _from_last_revision(whole: list[Statement]) -> tuple[list[Statement], bool]:
    """The statements from the last revision on, and whether it revises another preference."""
    places = [i for i, one in enumerate(whole) if one.revises]
    if not places:
        return whole, False
    last = whole[places[-1]]
    kept = [one for one in whole if one.start >= last.start or one.stop > last.start]
    dropped = [one for one in whole if one not in kept]
    return kept, any(one.side != last.side for one in dropped)
