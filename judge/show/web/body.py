"""Reading of the body of a write request, within limits of size and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

# An item's answers with a note take a few kilobytes; a body without a limit would fill the server's memory.
_LARGEST = 1_000_000


async def read_body(request: Request) -> bytes:
    """The body of a request; HTTPException where it is over one megabyte or does not arrive in time."""
    from starlette.exceptions import HTTPException

    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size <= _LARGEST:
                parts.append(part)
            # A little more is read to its end, so that the sender is told why and does not find the line cut.
            elif size > 10 * _LARGEST:
                break
    except TimeoutError as error:
        raise HTTPException(408, "The answer did not come in time.") from error
    if size > _LARGEST:
        raise HTTPException(413, "That is more than an answer can be.")
    return b"".join(parts)
