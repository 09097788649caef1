"""Data type of one item of the reviewer's checklist."""

from __future__ import annotations

from dataclasses import dataclass

FEW_SYSTEMS = 10
"""Systems below which a claim about systems proves little."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the reviewer's checklist.

    `state` is met, gap or open, and `finding` what the run shows. `closes` is the command that closes the gap; `needs`
    says in words what would close it where no command does.
    """

    question: str
    state: str
    finding: str
    closes: str = ""
    needs: str = ""
