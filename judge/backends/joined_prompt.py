"""Messages joined into one prompt for the completions route, in the same way for every back-end."""

from __future__ import annotations

from collections.abc import Sequence

from judge.base.records import Message


def joined(messages: Sequence[Message]) -> str:
    """Contents of the messages joined with blank lines. Nothing is added at the end."""
    return "\n\n".join(message.content for message in messages)
