"""A connection to one server for requests outside the plan: probe, diagnosis, check of seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import aiohttp

from judge.backends.dialect import Dialect, Scrub
from judge.backends.openai.answers import CHAT


@dataclass(frozen=True, slots=True)
class Asker:
    """A connection to one server, with its dialect."""

    client: Callable[[], aiohttp.ClientSession]
    url: str
    model: str
    scrub: Scrub
    dialect: Dialect = CHAT
