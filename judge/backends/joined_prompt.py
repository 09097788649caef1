"""Messages joined into one prompt for the completions route, in the same way for every executor."""

from __future__ import annotations

from collections.abc import Sequence

from judge.records import Message


def joined(messages: Sequence[Message]) -> str:
    """Join the messages' contents with blank lines; the end is that of the last message."""
    return "\n\n".join(message.content for message in messages)
