"""One question of a reviewer, with what was found. Never decides a state."""

from __future__ import annotations

from dataclasses import dataclass

FEW_SYSTEMS = 10
"""Systems below which a claim about systems proves little."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question: its state, what was found, and what closes the gap: a command, or words where none does."""

    question: str
    state: str
    found: str
    closes: str = ""
    needs: str = ""
