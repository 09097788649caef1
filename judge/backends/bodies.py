"""Reads the bodies of HTTP responses up to a maximum length."""

from __future__ import annotations

import aiohttp

# Bytes, unpacked: the longest answers with twenty alternatives for each token take a few.
MOST = 32 << 20

# Bytes read at a time, so that an answer without an end is left soon after MOST.
_PIECE = 1 << 16


class TooLongError(aiohttp.ClientError):
    """Raised when a body is longer than `MOST` bytes; the rest was not read."""


async def read_body(reply: aiohttp.ClientResponse) -> bytes:
    """The whole body. If it is longer than `MOST` bytes, closes the connection and raises TooLongError."""
    parts: list[bytes] = []
    length = 0
    async for piece in reply.content.iter_chunked(_PIECE):
        length += len(piece)
        if length > MOST:
            reply.close()
            raise TooLongError(f"the answer is longer than {MOST >> 20} MiB")
        parts.append(piece)
    return b"".join(parts)
