"""Messages joined into one prompt for the completions route, in the same way for every executor."""

from __future__ import annotations

from collections.abc import Sequence

from judge.records import Message


def joined(messages: Sequence[Message]) -> str:
    """Contents apart by a blank line, ending as the last one ends."""
    return "\n\n".join(message.content for message in messages)
