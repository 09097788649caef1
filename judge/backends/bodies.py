"""Reader for response bodies with a limit on their length."""

from __future__ import annotations

import aiohttp

MOST = 32 << 20
"""Bytes, unpacked: the longest answers with twenty alternatives for each token take a few."""

_PIECE = 1 << 16
"""Bytes read at a time, so that an answer without an end is left soon after MOST."""


class TooLongError(aiohttp.ClientError):
    """A response body longer than `MOST`; the rest of it was not read."""


async def read_body(reply: aiohttp.ClientResponse) -> bytes:
    """The whole body. Raises TooLongError, with the connection closed, for one that is longer than `MOST`."""
    parts: list[bytes] = []
    length = 0
    async for piece in reply.content.iter_chunked(_PIECE):
        length += len(piece)
        if length > MOST:
            reply.close()
            raise TooLongError(f"the answer is longer than {MOST >> 20} MiB")
        parts.append(piece)
    return b"".join(parts)
