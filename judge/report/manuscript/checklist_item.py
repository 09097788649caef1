"""One item of the reviewer's checklist: question, state, and what closes the gap."""

from __future__ import annotations

from dataclasses import dataclass

FEW_SYSTEMS = 10
"""Systems below which a claim about systems proves little."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question of the checklist: its state, what was found, and how to close the gap: a command, or words where no
    command does.
    """

    question: str
    state: str
    finding: str
    closes: str = ""
    needs: str = ""
