"""The yardstick: bare aiohttp with bounded workers, keep-alive and orjson, and nothing else. Stores no answer on disk.

    python -m tests.benchmarks.bare_client URL BODY.json N CONNECTIONS

BODY.json is one request body as the program sends it; `story-000000` in it becomes the number of each request.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import orjson


async def ask_all(url: str, body: bytes, count: int, connections: int) -> int:
    """Send `count` requests over `connections` workers; returns how many were answered."""
    template = orjson.loads(body)
    content: str = template["messages"][-1]["content"]
    numbers = iter(range(count))
    texts: list[str] = []

    async def worker(client: aiohttp.ClientSession, mine: Iterator[int]) -> None:
        for number in mine:
            message = {"role": "user", "content": content.replace("story-000000", f"story-{number:06d}")}
            messages = [*template["messages"][:-1], message]
            async with client.post(
                url + "/chat/completions", data=orjson.dumps({**template, "messages": messages})
            ) as reply:
                answer = orjson.loads(await reply.read())
            texts.append(answer["choices"][0]["message"]["content"])

    async with aiohttp.ClientSession(
        headers={"Content-Type": "application/json", "Authorization": "Bearer none"},
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as client:
        await asyncio.gather(*(worker(client, numbers) for _ in range(connections)))
    return len(texts)


if __name__ == "__main__":
    address, path, number, workers = sys.argv[1:]
    answered = asyncio.run(ask_all(address, Path(path).read_bytes(), int(number), int(workers)))
    raise SystemExit(0 if answered == int(number) else 1)
